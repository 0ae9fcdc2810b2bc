#include "cli/report_html.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/summing.h"
#include "report/html.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct collecting {
    struct cli_summing summing;
    struct gp_launch_columns *columns;
    struct gp_text processes;
};

static void add_process(void *user, const struct gp_profile_header *header)
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
    gp_launch_columns_begin(c->columns);
}

static bool add_launch(void *user, const struct gp_device *device, const struct gp_record *launch)
{
    return gp_launch_columns_add(((struct collecting *)user)->columns, device, launch);
}

static void add_to_page(const struct collecting *c, const char *path, int count,
                        const struct gp_text *notes, struct gp_text *page)
{
    struct gp_text name = {0};
    gp_text_add(&name, path);
    if (count > 1)
        gp_text_addf(&name, " and %d more", count - 1);
    const struct gp_html_profile profile = {.path = gp_text_string(&name),
                                            .processes = &c->processes,
                                            .summary = c->summing.summary,
                                            .copies = c->summing.copies,
                                            .columns = c->columns,
                                            .sources = c->summing.sources,
                                            .notes = gp_text_string(notes)};
    gp_html_add_profile(page, &profile);
    gp_text_free(&name);
}

/* Adds profiles to the page, as one. *seen: there was something to add. */
static int add_profiles(const struct cli_views *views, struct gp_metrics *m, char **paths,
                        int count, struct gp_text *page, bool *seen)
{
    struct gp_text notes = {0};
    struct collecting c = {.columns = gp_launch_columns_new(m)};
    c.summing.user = &c;
    c.summing.process = add_process;
    c.summing.launch = add_launch;
    c.summing.failures = &notes;
    int answer = CLI_FAILED;
    if (c.columns)
        answer = cli_sum_profiles(&c.summing, views, m, paths, count, &notes);
    else
        gp_say("out of memory");
    *seen = c.summing.seen;
    if (*seen)
        add_to_page(&c, cli_view_path(views, paths[0]), count, &notes, page);
    cli_summing_free(&c.summing);
    gp_launch_columns_free(c.columns);
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
        bool seen = false;
        int answer = views->select(m, paths[i], views->metrics);
        if (answer == CLI_OK)
            answer = add_profiles(views, m, paths + i, step, &page, &seen);
        if (!seen) {
            gp_text_free(&page);
            return answer;
        }
        worst = answer > worst ? answer : worst;
    }
    gp_html_end(&page);
    int written = write_page(file, &page);
    gp_text_free(&page);
    return written > worst ? written : worst;
}
