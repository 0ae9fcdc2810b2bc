#include "report/progress.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/demangle.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_AFTER 2.0 /* seconds */
#define BETWEEN 0.5
#define COLUMNS 79 /* of the narrowest terminal */
#define CLEAR "\033[K"

static struct {
    bool on_terminal, written;
    double next;
    uint64_t launches, measured;
} progress;

void gp_progress_start(void)
{
    const char *terminal = secure_getenv("TERM");
    progress.on_terminal =
        gp_log_is_terminal() && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    progress.next = gp_clock_seconds() + FIRST_AFTER;
}

/* The cursor goes back to the line's begin, so that the next text of the program replaces it. */
static void write_line(const char *kernel)
{
    char text[COLUMNS + 1], line[COLUMNS + 16];
    char *name = gp_demangle(kernel, GP_NAME_BRIEF);
    snprintf(text, sizeof(text),
             "gpuprof: %" PRIu64 " launches, %" PRIu64 " measured, %.1f s added; %s",
             progress.launches, progress.measured, gp_added_seconds(), name ? name : kernel);
    free(name);
    int length = snprintf(line, sizeof(line), "%s" CLEAR "\r", text);
    gp_log_passing(line, (size_t)length);
    progress.written = true;
}

void gp_progress_launch(const struct gp_record *launch, int is_read)
{
    if (!progress.on_terminal)
        return;
    if (launch->index >= progress.launches)
        progress.launches = launch->index + 1;
    if (is_read)
        progress.measured += launch->counter_count > 0;
    double time = gp_clock_seconds();
    if (time < progress.next)
        return;
    progress.next = time + BETWEEN;
    write_line(launch->kernel);
}

void gp_progress_end(void)
{
    if (progress.written)
        gp_log_passing(CLEAR, sizeof(CLEAR) - 1);
    progress.written = progress.on_terminal = false;
}
