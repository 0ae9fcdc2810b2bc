/* Times and values as nvprof prints them, and the titles it gives metrics. */
#ifndef GPUPROF_REPORT_NVPROF_VALUES_H
#define GPUPROF_REPORT_NVPROF_VALUES_H

#include "metrics/metrics.h"

#include <stdbool.h>

/* "2.7301ms", with five digits; `unit` NULL: the one that fits. */
void gp_nvprof_time(double seconds, const char *unit, char *out, size_t size);

/* A time as a number in that unit, for a column that names it. */
double gp_nvprof_time_in(double seconds, const char *unit);

/* "49.81%", "12.345GB/s", "0.936612", "Low (2)"; `exact`: with six decimals or in quotes, as in
 * CSV. Times are in `time_unit`; NULL: the one that fits, seconds in CSV. */
void gp_nvprof_value(double value, const char *unit, bool exact, const char *time_unit, char *out,
                     size_t size);

/* "Global Memory Load Efficiency"; the description of metrics that nvprof did not have. */
const char *gp_nvprof_title(const struct gp_metric *metric);

/* Whether nvprof called it an event. */
bool gp_nvprof_is_event(const struct gp_metric *metric);

/* Whether nvprof had an event of that name: inst_executed is both a metric and an event. */
bool gp_nvprof_has_event(const struct gp_metric *metric);

/* Appends a cell of CSV in quotes. One that a spreadsheet would take for a formula gets a ' in
 * front, with which it is text. */
void gp_csv_text(const char *text, struct gp_text *out);

/* Appends a line of words that is no row. A cell may begin in its middle: one that a spreadsheet
 * would take for a formula gets a ' in front. */
void gp_csv_line(const char *text, struct gp_text *out);

#endif
