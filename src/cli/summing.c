#include "cli/summing.h"

#include "base/log.h"
#include "cli/anonymous.h"
#include "cli/cli.h"
#include "cli/recorded.h"
#include "cli/source.h"

static bool take_header(void *user, const struct gp_profile_header *original)
{
    struct cli_summing *s = user;
    const struct gp_profile_header own = cli_anonymous_header(original);
    const struct gp_profile_header *header = s->anonymous ? &own : original;
    if (s->process)
        s->process(s->user, header);
    gp_summary_settings(s->summary, &header->settings);
    s->seen = s->began = true;
    gp_merge_begin(&s->merge);
    return true;
}

/* Names that are the definitions' own make metrics quick to compute. */
static const char *own_name(void *user, const char *name)
{
    struct cli_summing *s = user;
    s->has_others |= s->begin && !cli_began_with_counter(s->begin, name);
    return gp_metrics_counter_name(s->metrics, name);
}

static bool take_device(void *user, const struct gp_device *device)
{
    struct cli_summing *s = user;
    s->has_others |= s->begin && !cli_began_with_device(s->begin, device);
    gp_summary_device(s->summary, gp_merge_device(&s->merge, device));
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    struct cli_summing *s = user;
    struct gp_record own = *launch;
    if (s->has_others)
        return false;
    own.device = gp_merge_number(&s->merge, launch->device);
    if (!gp_filter_takes(s->filter, launch))
        return true;
    gp_summary_launch(s->summary, &own);
    if (!s->launch)
        return true;
    s->stopped = !s->launch(s->user, gp_summary_get_device(s->summary, own.device), &own);
    return !s->stopped;
}

static bool take_count(void *user, const struct gp_count *count)
{
    struct cli_summing *s = user;
    struct gp_count own = *count;
    own.device = gp_merge_number(&s->merge, count->device);
    if (gp_filter_counts(s->filter, count))
        gp_summary_count(s->summary, &own);
    return true;
}

static bool take_sum(void *user, const struct gp_sum *sum)
{
    struct cli_summing *s = user;
    const struct gp_count of = {.kernel = sum->kernel, .device = sum->device};
    struct gp_sum own = *sum;
    own.device = gp_merge_number(&s->merge, sum->device);
    s->how_ended.left_out += sum->left_out;
    if (gp_filter_counts(s->filter, &of))
        gp_summary_sum(s->summary, &own);
    return true;
}

/* The time is that of all its kernels: none can be selected. */
static bool take_graph(void *user, const struct gp_whole_times *times)
{
    struct cli_summing *s = user;
    if (gp_filter_takes_all(s->filter))
        gp_summary_graph(s->summary, times);
    return true;
}

static bool take_succession(void *user, const struct gp_succession *original)
{
    struct cli_summing *s = user;
    struct gp_succession own = *original;
    own.device = gp_merge_number(&s->merge, own.device);
    gp_summary_succession(s->summary, &own);
    return true;
}

/* The time is the whole process's, not that of some launches. */
static bool take_end(void *user, const struct gp_end *end)
{
    struct cli_summing *s = user;
    if (gp_filter_takes_all(s->filter))
        gp_summary_end(s->summary, end);
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    struct cli_summing *s = user;
    gp_copies_add(s->copies, type, line);
    return !s->sources || cli_take_code(s->sources, &s->position, type, line);
}

/* Its reason is another one than that of a process that was killed. */
static bool take_early(void *user, const struct gp_record *launch)
{
    const struct cli_summing *s = user;
    struct gp_record own = *launch;
    if (s->runs && own.skipped.cause == GP_CAUSE_NOT_READ)
        own.skipped = GP_REASON_TEXT(NOT_READ, "it is not read yet");
    return take_launch(user, &own);
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    struct cli_summing *s = user;
    cli_note_unfinished(&s->how_ended, process);
    if (s->unfinished)
        s->unfinished(s->user, process);
}

static void take_given_up(void *user, const char *why)
{
    cli_note_given_up(&((struct cli_summing *)user)->how_ended, why);
}

int cli_sum_profiles(struct cli_summing *s, const struct cli_views *views,
                     const struct gp_metrics *m, char **paths, int count, struct gp_text *notes)
{
    struct gp_profile_visitor visitor = {.user = s,
                                         .header = take_header,
                                         .device = take_device,
                                         .launch = take_launch,
                                         .count = take_count,
                                         .sum = take_sum,
                                         .graph = take_graph,
                                         .succession = take_succession,
                                         .end = take_end,
                                         .unfinished = take_unfinished,
                                         .gave_up = take_given_up,
                                         .position = &s->position,
                                         .other = take_other,
                                         .counter_name = own_name,
                                         .alone = views->alone};
    int worst = CLI_OK;
    s->metrics = m;
    s->anonymous = views->anonymous;
    s->filter = cli_views_filter(views);
    s->summary = gp_summary_new(m);
    s->sources = gp_sources_new();
    if (!s->filter || !s->summary) {
        gp_say("out of memory");
        return CLI_FAILED;
    }
    if (s->runs)
        visitor.early = take_early;
    visitor.in_order = gp_filter_is_by_number(s->filter);
    for (int i = 0; i < count; i++) {
        char why[512];
        s->path = cli_view_path(views, paths[i]);
        s->began = s->stopped = false;
        s->how_ended = (struct cli_how_ended){.path = paths[i], .notes = notes};
        bool read = gp_profile_read(paths[i], &visitor, notes, why, sizeof(why));
        cli_note_left_out(&s->how_ended);
        if (s->anonymous)
            cli_leave_out_folders(notes, paths[i]);
        if (s->has_others)
            return worst;
        if (s->how_ended.torn && worst == CLI_OK)
            worst = CLI_FAILED;
        if (read && !s->stopped)
            continue;
        const char *mistake = s->stopped ? "out of memory" : why;
        gp_say("%s", mistake);
        if (s->failures) {
            gp_text_addf(s->failures, "%s\n", mistake);
            if (s->anonymous)
                cli_leave_out_folders(s->failures, paths[i]);
        }
        if (worst != CLI_USAGE)
            worst = s->began ? CLI_FAILED : CLI_USAGE;
    }
    cli_say_filtered(s->filter);
    if (s->anonymous && s->sources)
        gp_sources_hide(s->sources);
    return worst;
}

void cli_summing_free(struct cli_summing *s)
{
    gp_filter_free(s->filter);
    gp_summary_free(s->summary);
    gp_sources_free(s->sources);
}
