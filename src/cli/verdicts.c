#include "cli/verdicts.h"

#include "cli/cli.h"
#include "cli/paths.h"

#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *format_name(const void *user, size_t i)
{
    (void)user;
    return gp_formats[i].name;
}

static void say_unknown(const char *name)
{
    struct gp_text names = {0};
    size_t count = 0;
    for (; gp_formats[count].name; count++)
        gp_text_addf(&names, "%s%s", count ? ", " : "", gp_formats[count].name);
    const char *nearest = gp_nearest(name, count, format_name, NULL);
    gp_say("--format: there is no format '%s'%s%s%s (formats: %s)", name,
           nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "",
           gp_text_string(&names));
    gp_text_free(&names);
}

bool cli_add_output(struct cli_outputs *outputs, const char *text)
{
    char name[32];
    size_t length = strcspn(text, "=");
    snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), text);
    struct cli_output output = {.format = gp_format_find(name),
                                .file = text[length] ? text + length + 1 : NULL};
    if (!output.format) {
        say_unknown(name);
        return false;
    }
    if (outputs->count == CLI_MOST_OUTPUTS) {
        gp_say("--format: at most %d are taken", CLI_MOST_OUTPUTS);
        return false;
    }
    if (output.file && cli_check_file("--format", output.file) != 0)
        return false;
    outputs->list[outputs->count++] = output;
    return true;
}

static int write_file(const char *path, const struct gp_text *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int error = gp_write_all(fd, gp_text_string(text), text->length);
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error;
}

static bool write_output(const struct cli_output *output, const struct gp_verdict *v,
                         const struct gp_occasion *occasion)
{
    struct gp_text text = {0};
    output->format->write(v, occasion, &text);
    if (!output->file)
        return cli_print(&text) == CLI_OK;
    int error = text.failed ? ENOMEM : write_file(output->file, &text);
    gp_text_free(&text);
    if (error)
        gp_say("--format %s=%s: %s", output->format->name, output->file, strerror(error));
    return error == 0;
}

bool cli_write_verdict(const struct cli_outputs *outputs, struct gp_verdict *v, const char *title,
                       const char *held)
{
    static const struct cli_output usual = {.format = &gp_formats[0]};
    char host[256] = "", when[32] = "";
    struct tm utc;
    time_t now = time(NULL);
    gethostname(host, sizeof(host) - 1);
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
    const struct gp_occasion occasion = {.title = title, .held = held, .host = host, .time = when};
    gp_verdict_sort(v);
    bool written = outputs->count > 0 || write_output(&usual, v, &occasion);
    for (size_t i = 0; i < outputs->count; i++)
        written &= write_output(&outputs->list[i], v, &occasion);
    return written;
}
