#include "report/host.h"

#include "report/left_out.h"
#include "report/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A GPU that rests for a smaller share of the run is busy. */
#define MOSTLY_IDLE 0.5
/* Fewer calls of a process are no loop. */
#define FEW_CALLS 100
/* A smaller share of the run is no word worth; where the time is not known, fewer calls for each
 * launch. */
#define LEAST_SHARE 0.01
#define LEAST_PER_LAUNCH 0.1
/* So many calls of a process stand for more, or all of fewer: the first ones of a kind take long.
 */
#define STAND_FOR_MORE 20
/* Calls stand for those that gpuprof answered itself from this share of all on. */
#define LEAST_MADE 0.5
/* The share of launches without a time up to which the share of all kernels is known: of those that
 * the limit left out, which others stand for, and of the rest. */
#define MOST_LEFT_OUT 0.5
#define MOST_UNTIMED 0.1
/* So many launches of a process, one in less than that time, keep its host busy. */
#define MANY_LAUNCHES 10000
#define LONGEST_INTERVAL 200e-6

/* Launches of kernels of which none was timed. */
struct without_time {
    double all, left_out, others;
};

static struct without_time find_untimed(const struct gp_rows *rows)
{
    struct without_time w = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct gp_row *row = &rows->rows[i];
        const struct gp_stat *duration = gp_rows_stat(rows, row, "duration");
        w.all += (double)row->launches;
        for (size_t g = 0; g < row->grids && !(row->seconds > 0); g++) {
            const struct gp_group *group = rows->groups[row->first_group + g];
            const bool left_out =
                duration && gp_left_out_is(group, (size_t)(duration - row->stats));
            *(left_out ? &w.left_out : &w.others) += (double)group->launches;
        }
    }
    return w;
}

double gp_host_idle_share(const struct gp_rows *rows)
{
    const struct gp_whole_times graphs = gp_summary_graphs(rows->summary);
    const struct without_time w = find_untimed(rows);
    const double timed = w.all - w.left_out - w.others;
    struct gp_running running;
    double busy = rows->apart.seconds;
    if (graphs.timed > 0)
        busy += graphs.seconds / (double)graphs.timed * (double)graphs.launches;
    if (!gp_summary_running(rows->summary, &running) || !rows->timed || !(rows->seconds > 0))
        return (double)NAN;
    if (w.others > MOST_UNTIMED * w.all || w.left_out > MOST_LEFT_OUT * w.all)
        return (double)NAN;
    busy += rows->seconds * (timed + w.left_out) / timed;
    return fmax(0, 1 - busy / running.gpu_seconds);
}

/* The mean time from a launch to the next, where the host is at them all the time and the GPU
 * rests; else 0. */
static double interval_of(const struct gp_host *host, double run_seconds, double idle_share)
{
    const double launches = (double)host->launches;
    const bool busy = host->known && idle_share > MOSTLY_IDLE &&
                      launches >= MANY_LAUNCHES * (double)host->processes &&
                      run_seconds < LONGEST_INTERVAL * launches;
    return busy ? run_seconds / launches : 0;
}

double gp_host_launch_interval(const struct gp_rows *rows)
{
    const struct gp_host host = gp_summary_host(rows->summary);
    struct gp_running running;
    if (!gp_summary_running(rows->summary, &running))
        return 0;
    return interval_of(&host, running.seconds, gp_host_idle_share(rows));
}

double gp_host_seconds(const struct gp_host *host, enum gp_host_kind kind)
{
    const struct gp_host_calls *calls = &host->calls[kind];
    if (calls->calls == 0)
        return 0;
    if (calls->timed < STAND_FOR_MORE * host->processes && calls->timed < calls->calls)
        return (double)NAN;
    return calls->seconds / (double)calls->timed * (double)calls->calls;
}

double gp_host_most_seconds(const struct gp_host_calls *calls, double gpu_seconds)
{
    const double made = (double)(calls->timed + calls->disturbed);
    if (calls->calls == 0)
        return 0;
    if (made < LEAST_MADE * (double)calls->calls)
        return (double)NAN;
    return gpu_seconds + (calls->seconds + calls->disturbed_seconds) / made * (double)calls->calls;
}

/* The time of several kinds; the most that they took where that of one is not known. */
static double seconds_of(const struct gp_host *host, enum gp_host_kind first,
                         enum gp_host_kind last, double gpu_seconds, bool *at_most)
{
    double seconds = 0, most = 0;
    for (enum gp_host_kind kind = first; kind <= last; kind++) {
        seconds += gp_host_seconds(host, kind);
        most += gp_host_most_seconds(&host->calls[kind], gpu_seconds);
    }
    *at_most = isnan(seconds);
    return *at_most ? most : seconds;
}

double gp_host_share(const struct gp_rows *rows, enum gp_host_kind first, enum gp_host_kind last)
{
    const struct gp_host host = gp_summary_host(rows->summary);
    const double idle = gp_host_idle_share(rows);
    struct gp_running running;
    bool at_most;
    if (isnan(idle) || !gp_summary_running(rows->summary, &running))
        return (double)NAN;
    const double seconds =
        seconds_of(&host, first, last, rows->seconds + rows->apart.seconds, &at_most);
    return isnan(seconds) ? seconds : fmin(idle, seconds / running.seconds);
}

/* ---- text ------------------------------------------------------------------------------------ */

struct part {
    const char *title;
    enum gp_host_kind first, last;
    uint64_t calls;
    double seconds; /* NAN: not known */
    bool at_most;
};

/* Calls of unknown time are taken for short ones. */
static double weight(const struct part *part)
{
    return isnan(part->seconds) ? 1e-6 * (double)part->calls : part->seconds;
}

static int by_weight(const void *x, const void *y)
{
    const double a = weight(x), b = weight(y);
    return (a < b) - (a > b);
}

static bool matters(const struct part *part, const struct gp_host *host, double run_seconds)
{
    if (part->calls < FEW_CALLS * host->processes)
        return false;
    return isnan(part->seconds) ? (double)part->calls > LEAST_PER_LAUNCH * (double)host->launches
                                : part->seconds >= LEAST_SHARE * run_seconds;
}

static void add_part(const struct part *part, struct gp_text *out)
{
    char seconds[32];
    gp_text_addf(out, "%s%" PRIu64 " %s", out->length > 0 ? ", " : "", part->calls, part->title);
    if (isnan(part->seconds))
        return;
    gp_unit_format(part->seconds, "s", seconds, sizeof(seconds));
    gp_text_addf(out, " (%s%s)", part->at_most ? "at most " : "~", seconds);
}

void gp_host_text(const struct gp_host *host, double run_seconds, double gpu_seconds,
                  double idle_share, struct gp_text *out)
{
    struct part parts[] = {
        {.title = "copies that the host waited for", .first = GP_HOST_COPY, .last = GP_HOST_COPY},
        {.title = "waits for the GPU", .first = GP_HOST_WAIT, .last = GP_HOST_WAIT},
        {.title = "allocations and frees", .first = GP_HOST_ALLOCATION, .last = GP_HOST_FREE}};
    const size_t count = sizeof(parts) / sizeof(parts[0]);
    if (!host->known || !(idle_share > MOSTLY_IDLE))
        return;
    for (size_t i = 0; i < count; i++) {
        struct part *p = &parts[i];
        for (enum gp_host_kind kind = p->first; kind <= p->last; kind++)
            p->calls += host->calls[kind].calls;
        p->seconds = seconds_of(host, p->first, p->last, gpu_seconds, &p->at_most);
    }
    qsort(parts, count, sizeof(parts[0]), by_weight);
    const double interval = interval_of(host, run_seconds, idle_share);
    if (interval > 0) {
        char each[32];
        gp_unit_format(interval, "s", each, sizeof(each));
        gp_text_addf(out,
                     "the GPU rests most of the time, so the bound is the host, or copies, and not "
                     "the kernels: %" PRIu64 " launches one by one, one every %s in the mean",
                     host->launches, each);
    }
    for (size_t i = 0; i < count; i++)
        if (matters(&parts[i], host, run_seconds))
            add_part(&parts[i], out);
    if (out->length > 0 && !(interval > 0) && host->launches >= FEW_CALLS * host->processes)
        gp_text_addf(out, "; %" PRIu64 " launches one by one", host->launches);
}
