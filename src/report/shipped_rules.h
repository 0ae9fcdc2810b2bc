/* The files of metrics/rules, as the build puts them into the program: one text, each file under a
 * line "; file metrics/rules/NAME.ini". Owned by the build. */
#ifndef GPUPROF_REPORT_SHIPPED_RULES_H
#define GPUPROF_REPORT_SHIPPED_RULES_H

extern const char gp_shipped_rules[];
extern const char gp_shipped_rules_end[];

#endif
