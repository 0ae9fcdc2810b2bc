#include "report/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_AFTER 5.0 /* seconds */
#define BETWEEN 1.0
#define COLUMNS 79 /* of the narrowest terminal */
#define CLEAR "\033[K"

static struct {
    bool on_terminal, written;
    double next;
} line;

void gp_progress_start(void)
{
    const char *word = secure_getenv("GPUPROF_PROGRESS"), *terminal = secure_getenv("TERM");
    const bool on = word && strcmp(word, "on") == 0, off = word && strcmp(word, "off") == 0;
    if (word && *word && !on && !off)
        gp_say("GPUPROF_PROGRESS=%s: unknown; say on (from the start) or off", word);
    line.on_terminal =
        !off && gp_log_is_terminal() && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    line.next = gp_clock_seconds() + (on ? 0 : FIRST_AFTER);
}

bool gp_progress_is_wanted(void)
{
    return line.on_terminal;
}

bool gp_progress_is_due(void)
{
    return line.on_terminal && gp_clock_seconds() >= line.next;
}

/* The text is cut where a line of the terminal ends. */
static void make(const struct gp_progress *p, char *text, size_t size)
{
    char measured[48] = "", limit[48] = "";
    if (!isnan(p->measured))
        snprintf(measured, sizeof(measured), "%.0f %% of GPU time measured, ",
                 floor(100 * p->measured));
    if (p->limit)
        snprintf(limit, sizeof(limit), " (limit %s)", p->limit);
    snprintf(text, size, "gpuprof: %" PRIu64 " launches, %" PRIu64 " kernels, %s%.1f s added%s",
             p->launches, p->kernels, measured, p->added, limit);
}

/* The cursor goes back to the line's begin, so that the next text of the program replaces it. */
void gp_progress_write(const struct gp_progress *progress)
{
    char text[COLUMNS + 1], passing[COLUMNS + 16];
    make(progress, text, sizeof(text));
    const int length = snprintf(passing, sizeof(passing), "%s" CLEAR "\r", text);
    gp_log_passing(passing, (size_t)length);
    line.written = true;
    line.next = gp_clock_seconds() + BETWEEN;
}

void gp_progress_end(void)
{
    if (line.written)
        gp_log_passing(CLEAR, sizeof(CLEAR) - 1);
    line.written = line.on_terminal = false;
}
