/* Profiles: read, summed up, and the report made of them. */
#include "profile/reader.h"
#include "report/table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct gp_metrics *metrics;
static int file = -1;
static char path[64];

static void prepare(void)
{
    /* No files of the user. */
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GPUPROF_METRICS_PATH");
    struct gp_text problems = {0};
    metrics = gp_metrics_open(&problems);
    file = memfd_create("profile", MFD_CLOEXEC);
    if (!metrics || file < 0 || !gp_metrics_select(metrics, "all", &problems))
        abort();
    gp_text_free(&problems);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
}

static bool take_header(void *user, const struct gp_profile_header *header)
{
    static volatile size_t length; /* of all strings, so that all are read */
    length = strlen(header->host) + strlen(header->time) + strlen(header->version);
    for (size_t i = 0; i < header->argument_count; i++)
        length = length + strlen(header->command[i]);
    gp_summary_settings(user, &header->settings);
    return true;
}

static bool take_device(void *user, const struct gp_device *device)
{
    gp_summary_device(user, device);
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    gp_summary_launch(user, launch);
    return true;
}

/* Every second name is the definitions' own, every second the reader's. */
static const char *own_name(void *user, const char *name)
{
    (void)user;
    return name[0] % 2 ? gp_metrics_counter_name(metrics, name) : NULL;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    (void)user;
    return *type != '\0' || line;
}

static bool take_count(void *user, const struct gp_count *count)
{
    gp_summary_count(user, count);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!metrics)
        prepare();
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
        return 0;
    struct gp_summary *summary = gp_summary_new(metrics);
    if (!summary)
        return 0;
    struct gp_text notes = {0}, out = {0};
    char why[512] = "";
    const struct gp_profile_visitor visitor = {.user = summary,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .other = take_other,
                                               .counter_name = own_name};
    if (!gp_profile_read(path, &visitor, &notes, why, sizeof(why)) && !*why)
        abort();
    /* Also of the lines before one that makes no sense. */
    const struct gp_table_options options = {.top = size % 2 ? 2 : 0};
    gp_table_report(summary, &options, &out);
    gp_summary_free(summary);
    gp_text_free(&notes);
    gp_text_free(&out);
    return 0;
}
