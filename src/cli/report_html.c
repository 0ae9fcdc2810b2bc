#include "cli/report_html.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "profile/reader.h"
#include "report/html.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct collecting {
    struct gp_summary *summary;
    struct gp_launch_columns *columns;
    struct gp_text processes;
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
    return 0;
}

static int take_device(void *user, const struct gp_device *device)
{
    gp_summary_device(((struct collecting *)user)->summary, device);
    return 0;
}

static int take_launch(void *user, const struct gp_launch *launch)
{
    struct collecting *c = user;
    gp_summary_launch(c->summary, launch);
    const struct gp_device *device = gp_summary_get_device(c->summary, launch->device);
    return gp_launch_columns_add(c->columns, device, launch) ? 0 : -1;
}

static int take_count(void *user, const struct gp_count *count)
{
    gp_summary_count(((struct collecting *)user)->summary, count);
    return 0;
}

static bool add_profile(struct gp_metrics *m, const char *path, struct gp_text *page)
{
    struct collecting c = {.summary = gp_summary_new(m), .columns = gp_launch_columns_new(m)};
    struct gp_text notes = {0};
    char why[512] = "out of memory";
    const struct gp_profile_visitor visitor = {.user = &c,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count};
    bool read =
        c.summary && c.columns && gp_profile_read(path, &visitor, &notes, why, sizeof(why)) == 0;
    if (read)
        gp_html_profile(page, path, &c.processes, c.summary, c.columns, gp_text_string(&notes));
    else
        gp_say("%s", why);
    gp_summary_free(c.summary);
    gp_launch_columns_free(c.columns);
    gp_text_free(&c.processes);
    gp_text_free(&notes);
    return read;
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

int cli_report_html(const char *file, struct gp_metrics *m,
                    int (*select)(struct gp_metrics *m, const char *path, const void *user),
                    const void *user, char **paths, int count)
{
    struct gp_text page = {0};
    int answer = CLI_OK;
    gp_html_begin(&page);
    for (int i = 0; i < count && answer == CLI_OK; i++) {
        answer = select(m, paths[i], user);
        if (answer == CLI_OK && !add_profile(m, paths[i], &page))
            answer = CLI_FAILED;
    }
    gp_html_end(&page);
    if (answer == CLI_OK)
        answer = write_page(file, &page);
    gp_text_free(&page);
    return answer;
}
