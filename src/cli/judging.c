#include "cli/judging.h"

#include "base/escape.h"
#include "check/judge.h"
#include "cli/folding.h"
#include "cli/how_ended.h"
#include "cli/source.h"
#include "cli/source_lines.h"
#include "profile/reader.h"

#include <stdio.h>

struct judging {
    struct gp_judge *judge;
    struct gp_sources *sources;
    const char *path; /* of the profile at hand, until its run has begun */
    struct gp_profile_position position;
    struct cli_how_ended how_ended;
    bool by_process;  /* its name is that of its process */
    const char *read; /* the profile that is read */
    bool left_out;    /* it is noted that launches of it were */
    struct gp_text *notes;
};

/* A profile is a run, with those that belong to it. */
static void begin_run(struct judging *j, long pid)
{
    char name[64];
    if (!j->path)
        return;
    snprintf(name, sizeof(name), "process %ld", pid);
    gp_judge_run(j->judge, j->by_process ? name : j->path);
    j->path = NULL;
}

static bool take_header(void *user, const struct gp_profile_header *header)
{
    begin_run(user, header->pid);
    gp_judge_process(((struct judging *)user)->judge);
    if (header->settings.window)
        gp_judge_windowed(((struct judging *)user)->judge);
    return true;
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    struct gp_text why = {0};
    cli_add_unfinished(process, &why);
    gp_judge_unfinished(((struct judging *)user)->judge, gp_text_string(&why));
    gp_text_free(&why);
}

static void take_given_up(void *user, const char *why)
{
    gp_judge_gave_up(((struct judging *)user)->judge, why);
}

static bool take_device(void *user, const struct gp_device *device)
{
    gp_judge_device(((struct judging *)user)->judge, device);
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    gp_judge_launch(((struct judging *)user)->judge, launch);
    return true;
}

static bool take_count(void *user, const struct gp_count *count)
{
    struct judging *j = user;
    cli_note_added_limit(count, j->read, &j->left_out, j->notes);
    gp_judge_count(j->judge, count);
    return true;
}

static bool take_sum(void *user, const struct gp_sum *sum)
{
    ((struct judging *)user)->how_ended.left_out += sum->left_out;
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    struct judging *j = user;
    return cli_take_code(j->sources, &j->position, type, line);
}

static void take_line(void *judge, const char *kernel, const char *file, int line)
{
    gp_judge_source(judge, kernel, file, line);
}

/* `alone`: all of them are one run. */
static void judge(struct judging *judging, char *const *paths, size_t count, bool alone,
                  struct gp_verdict *verdict)
{
    const struct gp_profile_visitor visitor = {.user = judging,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .sum = take_sum,
                                               .unfinished = take_unfinished,
                                               .gave_up = take_given_up,
                                               .position = &judging->position,
                                               .other = take_other,
                                               .alone = alone};
    for (size_t i = 0; i < count; i++) {
        char why[512];
        judging->read = paths[i];
        judging->left_out = false;
        judging->notes = &verdict->notes;
        if (i == 0 || !alone)
            judging->path = paths[i];
        judging->how_ended = (struct cli_how_ended){.path = paths[i], .notes = &verdict->notes};
        if (!gp_profile_read(paths[i], &visitor, &verdict->notes, why, sizeof(why)))
            gp_text_add_linef(&verdict->unjudged, "%s", why);
        cli_note_left_out(&judging->how_ended);
    }
    cli_visit_source_lines(judging->sources, take_line, judging->judge);
    gp_judge_finish(judging->judge, verdict);
}

static void judge_paths(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, size_t count, bool alone, bool by_process,
                        struct gp_verdict *verdict)
{
    struct judging judging = {
        .judge = gp_judge_new(t, m), .sources = gp_sources_new(), .by_process = by_process};
    if (judging.judge && judging.sources)
        judge(&judging, paths, count, alone, verdict);
    else
        gp_text_add(&verdict->unjudged, "out of memory\n");
    gp_judge_free(judging.judge);
    gp_sources_free(judging.sources);
}

void cli_judge_profiles(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, int count, struct gp_verdict *verdict)
{
    judge_paths(t, m, paths, (size_t)count, false, false, verdict);
}

void cli_judge_run(const struct gp_thresholds *t, const struct gp_metrics *m,
                   const struct gp_run_files *profiles, bool named, struct gp_verdict *verdict)
{
    judge_paths(t, m, profiles->list, profiles->count, true, !named, verdict);
}
