#include "cli/verdicts.h"

#include "cli/cli.h"
#include "cli/paths.h"

#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool is_one_file(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || gp_is_same_file(a, b);
}

static bool is_taken(const struct cli_outputs *outputs, const char *file)
{
    for (size_t i = 0; i < outputs->count; i++) {
        if (outputs->list[i].file && is_one_file(outputs->list[i].file, file)) {
            gp_say("--format: two formats cannot be written to one file, %s", file);
            return true;
        }
    }
    return false;
}

static bool is_standard_output(const char *file)
{
    return strcmp(file, "-") == 0;
}

/* One of a list: "NAME" or "NAME=FILE". */
static bool add_one(struct cli_outputs *outputs, const char *text, size_t length)
{
    char name[32], *file = NULL;
    size_t to_sign = strcspn(text, "=");
    size_t of_name = to_sign < length ? to_sign : length;
    snprintf(name, sizeof(name), "%.*s", (int)(of_name < 31 ? of_name : 31), text);
    const struct gp_format *format = gp_format_find(name);
    if (!format) {
        say_unknown(name);
        return false;
    }
    if (outputs->count == CLI_MOST_OUTPUTS) {
        gp_say("--format: at most %d are taken", CLI_MOST_OUTPUTS);
        return false;
    }
    if (of_name < length) {
        file = strndup(text + of_name + 1, length - of_name - 1);
        const bool usable = file && (is_standard_output(file) || cli_check_file("--format", file));
        if (!usable || is_taken(outputs, file)) {
            free(file);
            return false;
        }
    }
    outputs->list[outputs->count++] = (struct cli_output){.format = format, .file = file};
    return true;
}

bool cli_add_output(struct cli_outputs *outputs, const char *text)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!add_one(outputs, text, length))
            return false;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

bool cli_check_outputs(const struct cli_outputs *outputs, const char *const *inputs, int count)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!cli_check_spared("--format", outputs->list[i].file, inputs, count))
            return false;
    return true;
}

void cli_free_outputs(struct cli_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        free(outputs->list[i].file);
    outputs->count = 0;
}

static int write_file(const char *path, const struct gp_text *text)
{
    /* A FIFO without a reader is not waited for. */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    int error = gp_write_bounded(fd, gp_text_string(text), text->length);
    if (close(fd) != 0 && error == 0)
        error = errno;
    return error;
}

static bool write_output(const struct cli_output *output, bool to_standard_error,
                         const struct gp_verdict *v, const struct gp_occasion *occasion)
{
    struct gp_text text = {0};
    output->format->write(v, occasion, &text);
    if (output->file ? is_standard_output(output->file) : !to_standard_error)
        return cli_print(&text) == CLI_OK;
    int error = text.failed ? ENOMEM
                : output->file
                    ? write_file(output->file, &text)
                    : gp_write_bounded(STDERR_FILENO, gp_text_string(&text), text.length);
    gp_text_free(&text);
    if (error == EAGAIN)
        gp_say("--format %s: nobody reads %s: the verdict is cut", output->format->name,
               output->file ? output->file : "standard error");
    else if (error && output->file)
        gp_say("--format %s=%s: %s", output->format->name, output->file, gp_open_error(error));
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
    bool written =
        outputs->count > 0 || write_output(&usual, outputs->to_standard_error, v, &occasion);
    for (size_t i = 0; i < outputs->count; i++)
        written &= write_output(&outputs->list[i], outputs->to_standard_error, v, &occasion);
    return written;
}
