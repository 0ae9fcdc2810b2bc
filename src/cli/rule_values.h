/* The list that `gpuprof metrics --rules` prints: rules of advice, and values that they may name.
 */
#ifndef GPUPROF_CLI_RULE_VALUES_H
#define GPUPROF_CLI_RULE_VALUES_H

#include "base/text.h"
#include "metrics/metrics.h"

#include <stdbool.h>

/* False after a message, when out of memory. */
bool cli_add_rules(const struct gp_metrics *m, struct gp_text *out);

/* Explains one value, "headroom"; false where rules have none of that name. */
bool cli_explain_rule_value(const char *name, struct gp_text *out);

#endif
