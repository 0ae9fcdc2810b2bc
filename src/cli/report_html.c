#include "cli/report_html.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/source.h"
#include "profile/reader.h"
#include "report/html.h"
#include "report/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The answer of add_profiles where there is nothing to show, beside the answers of a command. */
enum { UNREADABLE = 100 };

struct collecting {
    const struct gp_metrics *metrics;
    struct gp_filter *filter;
    struct gp_merge merge;
    struct gp_summary *summary;
    struct gp_launch_columns *columns;
    struct gp_sources *sources; /* NULL: out of memory, so no line of the source is named */
    struct gp_text processes;
    bool seen; /* something of the profile could be read */
};

static int take_header(void *user, const struct gp_profile_header *header)
{
    struct collecting *c = user;
    const struct gp_html_process process = {
        .version = header->version,
        .host = header->host,
        .time = header->time,
        .pid = header->pid,
        .argument_count = header->argument_count,
        .command = header->command,
    };
    gp_html_add_process(&c->processes, &process);
    gp_summary_settings(c->summary, &header->settings);
    c->seen = true;
    gp_merge_begin(&c->merge);
    gp_launch_columns_begin(c->columns);
    return 0;
}

static int take_device(void *user, const struct gp_device *device)
{
    struct collecting *c = user;
    gp_summary_device(c->summary, gp_merge_device(&c->merge, device));
    return 0;
}

static int take_launch(void *user, const struct gp_record *launch)
{
    struct collecting *c = user;
    struct gp_record own = *launch;
    own.device = gp_merge_number(&c->merge, launch->device);
    if (!gp_filter_takes(c->filter, launch))
        return 0;
    gp_summary_launch(c->summary, &own);
    const struct gp_device *device = gp_summary_get_device(c->summary, own.device);
    return gp_launch_columns_add(c->columns, device, &own) ? 0 : -1;
}

static int take_count(void *user, const struct gp_count *count)
{
    struct collecting *c = user;
    struct gp_count own = *count;
    own.device = gp_merge_number(&c->merge, count->device);
    if (gp_filter_counts(c->filter, count))
        gp_summary_count(c->summary, &own);
    return 0;
}

/* The time is the whole process's, not that of some launches. */
static int take_end(void *user, const struct gp_end *end)
{
    struct collecting *c = user;
    if (gp_filter_takes_all(c->filter))
        gp_summary_end(c->summary, end);
    return 0;
}

static int take_other(void *user, const char *type, const struct json_t *line)
{
    struct collecting *c = user;
    return c->sources ? cli_take_code(c->sources, type, line) : 0;
}

/* Names that are the definitions' own make metrics quick to compute. */
static const char *own_name(void *user, const char *name)
{
    return gp_metrics_counter_name(((struct collecting *)user)->metrics, name);
}

static int read_profiles(struct collecting *c, char **paths, int count, struct gp_text *notes)
{
    const struct gp_profile_visitor visitor = {.user = c,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .end = take_end,
                                               .other = take_other,
                                               .counter_name = own_name};
    int worst = CLI_OK;
    for (int i = 0; i < count; i++) {
        char why[512] = "out of memory";
        if (gp_profile_read(paths[i], &visitor, notes, why, sizeof(why)) == 0)
            continue;
        gp_say("%s", why);
        gp_text_addf(notes, "%s\n", why);
        worst = CLI_FAILED;
    }
    return worst;
}

static void add_to_page(const struct collecting *c, char **paths, int count,
                        const struct gp_text *notes, struct gp_text *page)
{
    struct gp_text name = {0};
    gp_text_add(&name, paths[0]);
    if (count > 1)
        gp_text_addf(&name, " and %d more", count - 1);
    gp_html_profile(page, gp_text_string(&name), &c->processes, c->summary, c->columns, c->sources,
                    gp_text_string(notes));
    gp_text_free(&name);
}

/* Adds profiles to the page, as one. */
static int add_profiles(const struct cli_views *views, struct gp_metrics *m, char **paths,
                        int count, struct gp_text *page)
{
    struct collecting c = {.metrics = m,
                           .filter = cli_views_filter(views),
                           .summary = gp_summary_new(m),
                           .columns = gp_launch_columns_new(m),
                           .sources = gp_sources_new()};
    struct gp_text notes = {0};
    int answer = UNREADABLE;
    if (c.summary && c.columns && c.filter) {
        answer = read_profiles(&c, paths, count, &notes);
        if (c.seen)
            add_to_page(&c, paths, count, &notes, page);
        else
            answer = UNREADABLE;
    } else {
        gp_say("out of memory");
    }
    gp_filter_free(c.filter);
    gp_summary_free(c.summary);
    gp_launch_columns_free(c.columns);
    gp_sources_free(c.sources);
    gp_text_free(&c.processes);
    gp_text_free(&notes);
    return answer;
}

static int write_page(const char *file, const struct gp_text *page)
{
    int error = 0;
    if (page->failed) {
        gp_say("--html: out of memory");
        return CLI_FAILED;
    }
    int fd = strcmp(file, "-") == 0 ? STDOUT_FILENO
                                    : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        error = errno;
    else
        error = gp_write_all(fd, gp_text_string(page), page->length);
    if (fd >= 0 && fd != STDOUT_FILENO && close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 || (error == EPIPE && fd == STDOUT_FILENO))
        return CLI_OK;
    gp_say("--html: %s: %s", file, strerror(error));
    return CLI_FAILED;
}

int cli_report_html(const char *file, const struct cli_views *views, struct gp_metrics *m,
                    char **paths, int count)
{
    struct gp_text page = {0};
    int worst = CLI_OK, step = views->merge ? count : 1;
    if (!gp_html_available()) {
        gp_say("--html: this gpuprof was built without Chart.js (make CHART_JS=FILE)");
        return CLI_FAILED;
    }
    gp_html_begin(&page);
    for (int i = 0; i < count; i += step) {
        int answer = views->select(m, paths[i], views->metrics);
        if (answer == CLI_OK)
            answer = add_profiles(views, m, paths + i, step, &page);
        if (answer == CLI_USAGE || answer == UNREADABLE) {
            gp_text_free(&page);
            return answer == CLI_USAGE ? CLI_USAGE : CLI_FAILED;
        }
        worst = answer > worst ? answer : worst;
    }
    gp_html_end(&page);
    int written = write_page(file, &page);
    gp_text_free(&page);
    return written > worst ? written : worst;
}
