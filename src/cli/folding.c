#include "cli/folding.h"

#include "base/escape.h"
#include "base/log.h"
#include "check/fold.h"
#include "cli/code_marks.h"
#include "cli/how_ended.h"
#include "cli/source.h"
#include "cli/source_lines.h"
#include "profile/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folding {
    struct gp_fold *fold;
    struct gp_sources *sources;
    const char *path; /* of the profile at hand */
    struct gp_profile_position position;
    struct cli_how_ended how_ended;
    struct gp_text *unfinished, *notes; /* notes: NULL, nobody reads them */
    bool left_out;                      /* it is noted that launches of the profile were */
};

void cli_note_added_limit(const struct gp_count *count, const char *path, bool *noted,
                          struct gp_text *notes)
{
    if (*noted || count->reason.cause != GP_CAUSE_ADDED_LIMIT || !notes)
        return;
    *noted = true;
    gp_text_add_linef(notes,
                      "%s: the limit to the added time left launches out, in another run perhaps "
                      "others; --overhead none measures all",
                      path);
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    struct folding *f = user;
    struct gp_text why = {0};
    cli_add_unfinished(process, &why);
    gp_text_add_linef(f->unfinished, "%s: %s", process->path, gp_text_string(&why));
    f->unfinished->failed |= why.failed;
    gp_text_free(&why);
}

static void take_given_up(void *user, const char *why)
{
    struct folding *f = user;
    gp_text_add_linef(f->unfinished, "%s: gpuprof stopped measuring: %s", f->path, why);
}

static bool take_header(void *user, const struct gp_profile_header *header)
{
    gp_fold_process(((struct folding *)user)->fold, header->version);
    gp_fold_window(((struct folding *)user)->fold, header->settings.window);
    return true;
}

static bool take_device(void *user, const struct gp_device *device)
{
    gp_fold_device(((struct folding *)user)->fold, device);
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    gp_fold_launch(((struct folding *)user)->fold, launch);
    return true;
}

static bool take_count(void *user, const struct gp_count *count)
{
    struct folding *f = user;
    cli_note_added_limit(count, f->path, &f->left_out, f->notes);
    gp_fold_count(f->fold, count);
    return true;
}

static bool take_sum(void *user, const struct gp_sum *sum)
{
    ((struct folding *)user)->how_ended.left_out += sum->left_out;
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    struct folding *f = user;
    return cli_take_code(f->sources, &f->position, type, line);
}

static void take_line(void *fold, const char *kernel, const char *file, int line)
{
    gp_fold_source(fold, kernel, file, line);
}

static void take_mark(void *fold, const char *kernel, const struct gp_code_mark *mark)
{
    gp_fold_code(fold, kernel, mark);
}

static bool fold_files(struct folding *f, char *const *paths, int count, struct gp_text *notes,
                       char *why, size_t why_size)
{
    const struct gp_profile_visitor visitor = {.user = f,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .sum = take_sum,
                                               .unfinished = take_unfinished,
                                               .gave_up = take_given_up,
                                               .position = &f->position,
                                               .other = take_other};
    for (int i = 0; i < count; i++) {
        gp_fold_run(f->fold);
        f->path = paths[i];
        f->how_ended = (struct cli_how_ended){.path = paths[i], .notes = notes};
        f->left_out = false;
        if (!gp_profile_read(paths[i], &visitor, notes, why, why_size))
            return false;
        cli_note_left_out(&f->how_ended);
    }
    cli_visit_source_lines(f->sources, take_line, f->fold);
    cli_visit_code_marks(f->sources, take_mark, f->fold);
    return true;
}

bool cli_fold_profiles(const struct gp_metrics *m, char *const *paths, int count,
                       struct gp_side *side, struct gp_text *notes, struct gp_text *unfinished,
                       char *why, size_t why_size)
{
    struct folding f = {.sources = gp_sources_new(), .unfinished = unfinished, .notes = notes};
    f.fold = f.sources ? gp_fold_new(m, side) : NULL;
    if (!f.fold) {
        gp_sources_free(f.sources);
        snprintf(why, why_size, "out of memory");
        return false;
    }
    bool read = fold_files(&f, paths, count, notes, why, why_size);
    char reason[128];
    bool finished = gp_fold_finish(f.fold, reason, sizeof(reason));
    gp_sources_free(f.sources);
    if (read && !finished)
        snprintf(why, why_size, "%s", reason);
    return read && finished;
}

bool cli_is_baseline(const char *path)
{
    /* A pipe is no baseline, and bytes that are read of it are gone. */
    struct stat about;
    char begin[512] = "";
    int fd =
        stat(path, &about) == 0 && S_ISREG(about.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t length = read(fd, begin, sizeof(begin) - 1);
    close(fd);
    return length > 0 && strstr(begin, "\"gpuprof baseline\"") != NULL;
}

bool cli_select(struct gp_metrics *m, const char *list)
{
    struct gp_text problems = {0};
    bool selected = gp_metrics_select(m, list ? list : "paper", &problems);
    if (!selected)
        gp_say_lines("--metrics: ", gp_text_string(&problems));
    gp_text_free(&problems);
    return selected;
}

bool cli_select_side(struct gp_metrics *m, const struct gp_side *side)
{
    struct gp_text list = {0}, unknown = {0};
    for (size_t i = 0; i < side->metric_count; i++) {
        bool known = gp_metrics_find(m, side->metrics[i]) != NULL;
        gp_text_addf(known ? &list : &unknown, "%s%s",
                     (known ? &list : &unknown)->length ? "," : "", side->metrics[i]);
    }
    if (unknown.length > 0)
        gp_say("no definition is here of these metrics, they are not compared: %s", unknown.data);
    bool selected = list.length > 0 && cli_select(m, list.data);
    if (list.length == 0)
        gp_say("no metric is left to compare");
    gp_text_free(&list);
    gp_text_free(&unknown);
    return selected;
}
