#include "report/trace.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "profile/devices.h"
#include "report/layout.h"
#include "report/nvprof_values.h"
#include "report/plain_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NUMBERED 1024
#define MOST_NAMES 4096
#define NAME_COLUMNS 40 /* with the number of the launch */

/* Handles in the order of their first launch. */
struct order {
    uint64_t handles[MOST_NUMBERED];
    size_t count;
};

/* A name as it is shown; most launches are of few kernels. */
struct shown_name {
    UT_hash_handle hh;
    char *shown;
    char mangled[];
};

struct gp_trace {
    const struct gp_metrics *metrics;
    const struct gp_metric *duration;
    const struct gp_view *view;
    struct gp_name_slots *later; /* NULL: names are cut as they come */
    struct gp_devices devices;
    struct order contexts, streams;
    struct shown_name *names;
    bool begun;
    double first_ms;
};

struct gp_trace *gp_trace_new(const struct gp_metrics *m, const struct gp_view *view)
{
    struct gp_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return NULL;
    trace->metrics = m;
    trace->duration = gp_metrics_find(m, "duration");
    trace->view = view;
    return trace;
}

static void forget_names(struct gp_trace *trace)
{
    struct shown_name *n, *next;
    HASH_ITER(hh, trace->names, n, next)
    {
        HASH_DEL(trace->names, n);
        free(n->shown);
        free(n);
    }
}

void gp_trace_free(struct gp_trace *trace)
{
    if (trace)
        forget_names(trace);
    free(trace);
}

void gp_trace_defer_names(struct gp_trace *trace, struct gp_name_slots *names)
{
    trace->later = names;
}

void gp_trace_device(struct gp_trace *trace, const struct gp_device *device)
{
    gp_devices_add(&trace->devices, device);
}

static size_t number_of(struct order *order, uint64_t handle)
{
    size_t i = 0;
    while (i < order->count && order->handles[i] != handle)
        i++;
    if (i == order->count && order->count < MOST_NUMBERED)
        order->handles[order->count++] = handle;
    return i + 1;
}

/* 0, 1 and 2 are the driver's handles of default streams. */
static size_t stream_of(struct gp_trace *trace, uint64_t handle)
{
    return handle <= 2 ? 0 : number_of(&trace->streams, handle);
}

/* The kernel's name as it is to be shown; NULL when out of memory. */
static const char *name_of(struct gp_trace *trace, const char *mangled)
{
    if (trace->view->mangled)
        return mangled;
    size_t length = strlen(mangled);
    struct shown_name *n = NULL;
    HASH_FIND(hh, trace->names, mangled, length, n);
    if (n)
        return n->shown;
    if (HASH_COUNT(trace->names) >= MOST_NAMES)
        forget_names(trace);
    n = calloc(1, sizeof(*n) + length + 1);
    if (!n)
        return NULL;
    memcpy(n->mangled, mangled, length);
    n->shown = gp_demangle(mangled, GP_NAME_FULL);
    if (n->shown)
        HASH_ADD_KEYPTR(hh, trace->names, n->mangled, length, n);
    if (n->shown && n->hh.tbl)
        return n->shown;
    free(n->shown);
    free(n);
    return NULL;
}

static void add_device(const struct gp_trace *trace, int ordinal, char *name, size_t size)
{
    const struct gp_device *device = gp_devices_get(&trace->devices, ordinal);
    snprintf(name, size, "%s (%d)", device && device->name[0] ? device->name : "GPU", ordinal);
}

/* ---- headings -------------------------------------------------------------------------------- */

static size_t width_of(const struct gp_metric *metric)
{
    size_t length = strlen(metric->name);
    return length < 12 ? 12 : length;
}

static void add_metrics_heading(const struct gp_trace *trace, struct gp_text *out)
{
    bool csv = trace->view->csv;
    if (csv)
        gp_text_add(out, "\"Device\",\"Context\",\"Stream\",\"Kernel\"");
    else
        gp_text_addf(out, "%24s %8s %7s %40s", "Device", "Context", "Stream", "Kernel");
    for (size_t i = 0; i < gp_metrics_selected_count(trace->metrics); i++) {
        const struct gp_metric *metric = gp_metrics_selected(trace->metrics, i);
        if (csv)
            gp_text_addf(out, ",\"%s\"", metric->name);
        else
            gp_text_addf(out, "  %*s", (int)width_of(metric), metric->name);
    }
    gp_text_add(out, "\n");
}

static const char *unit_of(const struct gp_trace *trace, const char *usual)
{
    return trace->view->unit ? trace->view->unit : usual;
}

static void add_times_heading(const struct gp_trace *trace, struct gp_text *out)
{
    if (trace->view->csv)
        gp_text_addf(out,
                     "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block "
                     "Y\",\"Block Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic "
                     "SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\","
                     "\"Context\",\"Stream\",\"Name\"\n"
                     "%s,%s,,,,,,,,B,B,MB,GB/s,,,,,,\n",
                     unit_of(trace, "ms"), unit_of(trace, "us"));
    else
        gp_text_addf(out, "%9s %9s %18s %15s %6s %9s %9s %24s %8s %7s  %s\n", "Start", "Duration",
                     "Grid Size", "Block Size", "Regs*", "SSMem*", "DSMem*", "Device", "Context",
                     "Stream", "Name");
}

void gp_trace_heading(const struct gp_trace *trace, long pid, struct gp_text *out)
{
    gp_text_addf(out, "==%ld== Profiling result:\n", pid);
    if (trace->view->metrics)
        add_metrics_heading(trace, out);
    else
        add_times_heading(trace, out);
}

void gp_trace_footing(const struct gp_trace *trace, struct gp_text *out)
{
    if (!trace->view->csv && !trace->view->metrics)
        gp_text_add(out, "\nRegs: Number of registers used per CUDA thread.\n"
                         "SSMem: Static shared memory allocated per CUDA block.\n"
                         "DSMem: Dynamic shared memory allocated per CUDA block.\n"
                         "Start: as the program launched it; measuring takes time as well.\n"
                         "-: not measured\n");
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* False where the metric has no value. */
static bool value_of(const struct gp_trace *trace, const struct gp_metric *metric,
                     const struct gp_record *launch, double *value)
{
    const struct gp_device *device = gp_devices_get(&trace->devices, launch->device);
    return metric && device && gp_metric_evaluate(metric, device, launch, value, NULL);
}

static void add_metric_values(const struct gp_trace *trace, const struct gp_record *launch,
                              struct gp_text *out)
{
    for (size_t i = 0; i < gp_metrics_selected_count(trace->metrics); i++) {
        const struct gp_metric *metric = gp_metrics_selected(trace->metrics, i);
        char text[64] = "";
        double value;
        if (value_of(trace, metric, launch, &value))
            gp_nvprof_value(value, metric->unit, trace->view->csv, trace->view->unit, text,
                            sizeof(text));
        if (trace->view->csv)
            gp_text_addf(out, ",%s", text);
        else
            gp_text_addf(out, "  %*s", (int)width_of(metric), *text ? text : "-");
    }
}

static void add_cut_name(const char *name, size_t width, struct gp_text *out)
{
    char brief[NAME_COLUMNS + 1];
    gp_shorten(name, brief, width);
    gp_text_addf(out, "%*s", (int)width, brief);
}

static void add_metrics_line(struct gp_trace *trace, const struct gp_record *launch,
                             const char *device, const char *name, struct gp_text *out)
{
    size_t context = number_of(&trace->contexts, launch->context);
    size_t stream = stream_of(trace, launch->stream);
    char text[32];
    if (trace->view->csv) {
        gp_csv_text(device, out);
        gp_text_addf(out, ",%zu,%zu,", context, stream);
        gp_csv_text(name, out);
    } else {
        snprintf(text, sizeof(text), " [%" PRIu64 "]", launch->index);
        gp_text_addf(out, "%24.24s %8zu %7zu ", device, context, stream);
        if (trace->later)
            gp_name_slots_add(trace->later, launch->kernel, NAME_COLUMNS - strlen(text), out);
        else
            add_cut_name(name, NAME_COLUMNS - strlen(text), out);
        gp_text_add(out, text);
    }
    add_metric_values(trace, launch, out);
    gp_text_add(out, "\n");
}

static void add_extent(const unsigned extent[3], char *text, size_t size)
{
    snprintf(text, size, "(%u %u %u)", extent[0], extent[1], extent[2]);
}

static void add_times_line(struct gp_trace *trace, const struct gp_record *launch,
                           const char *device, const char *name, struct gp_text *out)
{
    size_t context = number_of(&trace->contexts, launch->context);
    size_t stream = stream_of(trace, launch->stream);
    char start[32] = "-", time[32] = "-", grid[48], block[48];
    double seconds;
    if (launch->start_ms > 0)
        gp_nvprof_time((launch->start_ms - trace->first_ms) / 1e3, trace->view->unit, start,
                       sizeof(start));
    if (value_of(trace, trace->duration, launch, &seconds))
        gp_nvprof_time(seconds, trace->view->unit, time, sizeof(time));
    add_extent(launch->grid, grid, sizeof(grid));
    add_extent(launch->block, block, sizeof(block));
    gp_text_addf(out, "%9s %9s %18s %15s %6u %8uB %8uB %24.24s %8zu %7zu  %s [%" PRIu64 "]\n",
                 start, time, grid, block, launch->registers, launch->shared_static,
                 launch->shared_dynamic, device, context, stream, name, launch->index);
}

static void add_times_csv(struct gp_trace *trace, const struct gp_record *launch,
                          const char *device, const char *name, struct gp_text *out)
{
    const unsigned *grid = launch->grid, *block = launch->block;
    double seconds;
    if (launch->start_ms > 0)
        gp_text_addf(
            out, "%.6f",
            gp_nvprof_time_in((launch->start_ms - trace->first_ms) / 1e3, unit_of(trace, "ms")));
    gp_text_add(out, ",");
    if (value_of(trace, trace->duration, launch, &seconds))
        gp_text_addf(out, "%.6f", gp_nvprof_time_in(seconds, unit_of(trace, "us")));
    gp_text_addf(out, ",%u,%u,%u,%u,%u,%u,%u,%u,%u,,,,,", grid[0], grid[1], grid[2], block[0],
                 block[1], block[2], launch->registers, launch->shared_static,
                 launch->shared_dynamic);
    gp_csv_text(device, out);
    gp_text_addf(out, ",%zu,%zu,", number_of(&trace->contexts, launch->context),
                 stream_of(trace, launch->stream));
    gp_csv_text(name, out);
    gp_text_add(out, "\n");
}

void gp_trace_begins(struct gp_trace *trace, double start_ms)
{
    if (start_ms > 0 && (!trace->begun || start_ms < trace->first_ms))
        trace->first_ms = start_ms;
    trace->begun |= start_ms > 0;
}

void gp_trace_launch(struct gp_trace *trace, const struct gp_record *launch, struct gp_text *out)
{
    const char *name = name_of(trace, launch->kernel);
    char device[160];
    struct gp_plain_numbers plain;
    if (!name) {
        out->failed = true;
        return;
    }
    if (!trace->begun)
        gp_trace_begins(trace, launch->start_ms);
    add_device(trace, launch->device, device, sizeof(device));
    gp_plain_numbers_begin(&plain);
    if (trace->view->metrics)
        add_metrics_line(trace, launch, device, name, out);
    else if (trace->view->csv)
        add_times_csv(trace, launch, device, name, out);
    else
        add_times_line(trace, launch, device, name, out);
    gp_plain_numbers_end(&plain);
}
