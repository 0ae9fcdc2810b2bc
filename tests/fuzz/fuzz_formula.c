/* One line that a user writes: a formula, a condition, a compute capability, a list of metrics. */
#include "metrics/definitions.h"
#include "metrics/formula.h"
#include "metrics/metrics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool some_value(void *user, const struct gp_node *operand, double *value, char *why,
                       size_t why_size)
{
    (void)user, (void)why, (void)why_size;
    *value = operand->name ? (double)strlen(operand->name) - 8 : 0.5;
    return true;
}

/* The printed formula must read back as the same formula. */
static void try_formula(const char *text)
{
    char why[GP_WHY_SIZE] = "";
    struct gp_node *node = gp_formula_parse(text, why, sizeof(why));
    if (!node) {
        if (!*why)
            abort();
        return;
    }
    struct gp_text once = {0}, twice = {0};
    gp_formula_print(node, &once);
    struct gp_node *again = gp_formula_parse(gp_text_string(&once), why, sizeof(why));
    if (!again)
        abort();
    gp_formula_print(again, &twice);
    if (strcmp(gp_text_string(&once), gp_text_string(&twice)) != 0)
        abort();
    const struct gp_operands operands = {.value_of = some_value};
    double value, same;
    bool answer = gp_formula_evaluate(node, &operands, &value, why, sizeof(why));
    if (answer != gp_formula_evaluate(again, &operands, &same, why, sizeof(why)) ||
        (answer && value != same))
        abort();
    gp_formula_free(node);
    gp_formula_free(again);
    gp_text_free(&once);
    gp_text_free(&twice);
}

static void try_condition(const char *text)
{
    const struct gp_device device = {.cc_major = 9};
    char why[GP_WHY_SIZE] = "";
    struct gp_condition condition;
    if (gp_condition_parse(text, &condition, why, sizeof(why)))
        gp_condition_holds(&condition, &device);
    else if (!*why)
        abort();
    int cc_major, cc_minor;
    gp_cc_parse(text, &cc_major, &cc_minor);
}

static void try_selection(const char *text)
{
    static struct gp_metrics *metrics;
    struct gp_text problems = {0};
    if (!metrics) {
        /* No files of the user. */
        setenv("HOME", "/nowhere", 1);
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("GPUPROF_METRICS_PATH");
        metrics = gp_metrics_open(&problems);
    }
    if (metrics && !gp_metrics_select(metrics, text, &problems) && problems.length == 0)
        abort();
    gp_text_free(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    try_formula(text);
    try_condition(text);
    if (size <= 128)
        try_selection(text); /* compares each unknown name with all known ones */
    free(text);
    return 0;
}
