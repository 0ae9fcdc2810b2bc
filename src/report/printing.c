#include "report/printing.h"

#include "base/escape.h"
#include "base/log.h"
#include "base/text.h"
#include "report/nvprof.h"
#include "report/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Lines that wait for the end of the process; when there are more they are printed at once. */
#define MOST_BYTES (8u << 20)

static struct {
    struct gp_view view;
    struct gp_trace *trace; /* NULL: none is asked for, or out of memory */
    struct gp_text lines;
} printing = {.view = {.report = true}};

void gp_printing_start(const struct gp_metrics *metrics)
{
    const char *words = secure_getenv("GPUPROF_PRINT");
    char why[256];
    if (!gp_view_parse(words, &printing.view, why, sizeof(why))) {
        gp_say("GPUPROF_PRINT=%s: %s; the report is printed", words, why);
        printing.view = (struct gp_view){.report = true};
    }
    if (!printing.view.trace)
        return;
    printing.trace = gp_trace_new(metrics, &printing.view);
    if (printing.trace)
        gp_trace_heading(printing.trace, (long)getpid(), &printing.lines);
    else
        gp_say("GPUPROF_PRINT=%s: out of memory", words);
}

static void print(struct gp_text *text)
{
    if (text->failed)
        gp_say("out of memory: the output is not complete");
    if (text->length > 0)
        gp_log_report(text->data, text->length, "GPUPROF_LOG=FILE writes all of it there");
    gp_text_clear(text);
}

void gp_printing_device(const struct gp_device *device)
{
    if (printing.trace)
        gp_trace_device(printing.trace, device);
}

void gp_printing_note(const struct gp_record *launch)
{
    if (printing.trace)
        gp_trace_begins(printing.trace, launch->start_ms);
}

void gp_printing_launch(const struct gp_record *launch)
{
    if (!printing.trace)
        return;
    gp_trace_launch(printing.trace, launch, &printing.lines);
    if (printing.lines.length > MOST_BYTES || printing.lines.failed)
        print(&printing.lines);
}

/* The arguments with blanks between them. */
static void add_command(struct gp_text *out)
{
    char part[1024];
    ssize_t n;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && out->length < sizeof(part) && (n = read(fd, part, sizeof(part))) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if (part[i] == '\0')
                part[i] = ' ';
        gp_text_add_escaped(out, part, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

bool gp_printing_end(const struct gp_summary *summary, const struct gp_copies *copies)
{
    struct gp_view tables = printing.view;
    if (printing.view.trace) /* the metrics are columns of the trace */
        tables.metrics = tables.events = false;
    if (printing.trace) {
        gp_trace_footing(printing.trace, &printing.lines);
        print(&printing.lines);
    }
    if (tables.times || tables.metrics) {
        struct gp_text command = {0}, out = {0};
        add_command(&command);
        const struct gp_nvprof_run run = {.pid = (long)getpid(),
                                          .command = command.length > 0 ? command.data : NULL,
                                          .copies = copies};
        gp_nvprof_tables(summary, &tables, &run, &out);
        print(&out);
        gp_text_free(&out);
        gp_text_free(&command);
    }
    return printing.view.report;
}
