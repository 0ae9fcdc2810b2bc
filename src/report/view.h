/* The parts of a run to print, in words: GPUPROF_PRINT and the options of `gpuprof run` and
 * `report` are made of them. */
#ifndef GPUPROF_REPORT_VIEW_H
#define GPUPROF_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct gp_view {
    bool report;      /* overview, details and advice */
    bool times;       /* nvprof's summary: time by kernel */
    bool metrics;     /* nvprof's metric result, with that of events where there are some */
    bool events;      /* the same, where all that was asked for are events */
    bool trace;       /* a line for each launch */
    bool csv;         /* of the last three */
    bool mangled;     /* names of kernels as they are in the module */
    const char *unit; /* of times: "s", "ms", "us" or "ns"; NULL: the one that fits */
};

/* The meaning of the words, for messages. */
#define GP_VIEW_SYNTAX "report, times, metrics, events, trace, csv, mangled, unit=s, ms, us or ns"

/* Reads words with commas between them. Without one that names a view, and where text is NULL or
 * empty, it is the report. False with the word that is wrong in `why`. */
bool gp_view_parse(const char *text, struct gp_view *view, char *why, size_t why_size);

/* The unit of that name, one of those above; NULL where there is none. */
const char *gp_view_unit(const char *name, size_t length);

#endif
