#include "cli/report_launches.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/anonymous.h"
#include "cli/cli.h"
#include "cli/how_ended.h"
#include "profile/object.h"
#include "profile/reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE (1u << 16)

struct printing {
    struct gp_text out;
    struct gp_filter *filter;
    struct cli_how_ended how_ended;
    int error;
    bool anonymous;
    bool began; /* the file has a header, so it is a profile */
};

static bool flush(struct printing *p)
{
    p->error = p->out.failed ? ENOMEM : gp_write_all(STDOUT_FILENO, p->out.data, p->out.length);
    gp_text_clear(&p->out);
    return p->error == 0;
}

static bool print_object(struct printing *p, struct gp_object object)
{
    if (!gp_object_finish(&object, &p->out)) {
        p->error = ENOMEM;
        return false;
    }
    gp_text_add(&p->out, "\n");
    return p->out.length < AT_ONCE || flush(p);
}

static bool print_header(void *user, const struct gp_profile_header *original)
{
    struct printing *p = user;
    const struct gp_profile_header own = cli_anonymous_header(original);
    const struct gp_profile_header *header = p->anonymous ? &own : original;
    p->began = true;
    struct gp_object o = gp_object_new("header");
    json_t *command = json_array();
    for (size_t i = 0; i < header->argument_count; i++)
        gp_object_append(&o, command, gp_object_text(header->command[i]));
    gp_object_put(&o, o.object, "format", json_integer(1));
    gp_object_put(&o, o.object, "gpuprof", gp_object_text(header->version));
    gp_object_put(&o, o.object, "pid", json_integer(header->pid));
    gp_object_put(&o, o.object, "host", gp_object_text(header->host));
    gp_object_put(&o, o.object, "command", command);
    gp_object_put(&o, o.object, "time", gp_object_text(header->time));
    if (header->settings.sample)
        gp_object_put(&o, o.object, "sample", gp_object_text(header->settings.sample));
    if (header->settings.overhead)
        gp_object_put(&o, o.object, "overhead", gp_object_text(header->settings.overhead));
    if (header->settings.window)
        gp_object_put(&o, o.object, "window", gp_object_text(header->settings.window));
    if (header->settings.replay_off)
        gp_object_put(&o, o.object, "replay", json_string("off"));
    return print_object(user, o);
}

static bool print_device(void *user, const struct gp_device *device)
{
    struct gp_object o = gp_object_new("device");
    gp_object_put_fields(&o, gp_device_fields, gp_device_field_count, GP_FIELDS_ALL, device);
    return print_object(user, o);
}

static bool print_launch(void *user, const struct gp_record *launch)
{
    struct printing *p = user;
    return !gp_filter_takes(p->filter, launch) ||
           print_object(p, gp_object_launch("launch", launch));
}

static bool print_count(void *user, const struct gp_count *count)
{
    struct printing *p = user;
    return !gp_filter_counts(p->filter, count) || print_object(p, gp_object_count(count));
}

static bool print_end(void *user, const struct gp_end *end)
{
    return print_object(user, gp_object_end(end));
}

static bool print_other(void *user, const char *type, const struct json_t *line)
{
    struct printing *p = user;
    if (p->anonymous && strcmp(type, "cubin") == 0)
        return true;
    struct gp_object o = {.object = json_deep_copy(line)};
    o.failed = !o.object || (p->anonymous && !cli_leave_out_folders_of(o.object));
    return print_object(user, o);
}

static void note_unfinished(void *user, const struct gp_unfinished *process)
{
    cli_note_unfinished(&((struct printing *)user)->how_ended, process);
}

static void note_given_up(void *user, const char *why)
{
    cli_note_given_up(&((struct printing *)user)->how_ended, why);
}

int cli_print_launches(const char *path, struct gp_filter *filter, const struct cli_views *views)
{
    struct gp_text notes = {0};
    struct printing p = {.filter = filter,
                         .anonymous = views->anonymous,
                         .how_ended = {.path = path, .notes = &notes}};
    char why[512] = "";
    const struct gp_profile_visitor visitor = {.user = &p,
                                               .exact = true,
                                               .header = print_header,
                                               .device = print_device,
                                               .launch = print_launch,
                                               .in_order = true,
                                               .count = print_count,
                                               .end = print_end,
                                               .unfinished = note_unfinished,
                                               .gave_up = note_given_up,
                                               .other = print_other,
                                               .alone = views->alone};
    bool read = gp_profile_read(path, &visitor, &notes, why, sizeof(why));
    if (p.error == 0 && p.out.length > 0)
        flush(&p);
    if (!read)
        gp_say("%s", why);
    gp_say_lines("", gp_text_string(&notes));
    if (p.error != 0 && p.error != EPIPE)
        gp_say("standard output: %s", strerror(p.error));
    gp_text_free(&notes);
    gp_text_free(&p.out);
    if (!read && !p.began)
        return CLI_USAGE;
    return !read || p.how_ended.torn || (p.error != 0 && p.error != EPIPE) ? CLI_FAILED : CLI_OK;
}
