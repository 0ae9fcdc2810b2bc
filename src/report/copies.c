#include "report/copies.h"

#include "profile/object.h"
#include "profile/writer.h"
#include "report/plain_numbers.h"
#include "report/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *title;
} kinds[GP_COPY_KINDS] = {
    [GP_HOST_TO_DEVICE] = {"memcpy HtoD", "host to device"},
    [GP_DEVICE_TO_HOST] = {"memcpy DtoH", "device to host"},
    [GP_DEVICE_TO_DEVICE] = {"memcpy DtoD", "device to device"},
    [GP_PEER_TO_PEER] = {"memcpy PtoP", "device to another"},
    [GP_HOST_TO_HOST] = {"memcpy HtoH", "host to host"},
    [GP_COPY_BY_ADDRESS] = {"memcpy", "by address"},
    [GP_FILL] = {"memset", "fill"},
};

const char *gp_copies_name(enum gp_copy_kind kind)
{
    return kinds[kind].name;
}

#define LINE "   %-17s %18s %11s %11s %13s\n"

/* "2 of 4" calls were timed: these stand for all. */
static void add_line(const char *title, const struct gp_copies *c, struct gp_text *out)
{
    char calls[48], bytes[32], time[33] = "-", rate[32] = "-";
    const bool estimated = c->timed < c->calls;
    snprintf(calls, sizeof(calls), "%" PRIu64, c->calls);
    if (estimated)
        snprintf(calls, sizeof(calls), "%" PRIu64 " of %" PRIu64, c->timed, c->calls);
    gp_unit_format((double)c->bytes, "bytes", bytes, sizeof(bytes));
    if (c->timed > 0) {
        double seconds = c->seconds / (double)c->timed * (double)c->calls;
        time[0] = '~';
        gp_unit_format(seconds, "s", time + estimated, sizeof(time) - 1);
        if (c->seconds > 0)
            gp_unit_format((double)c->timed_bytes / c->seconds, "bytes/s", rate, sizeof(rate));
    }
    gp_text_addf(out, LINE, title, calls, bytes, time, rate);
}

void gp_copies_table(const struct gp_copies *totals, struct gp_text *out)
{
    struct gp_plain_numbers plain;
    uint64_t calls = 0;
    for (int i = 0; i < GP_COPY_KINDS; i++)
        calls += totals[i].calls;
    if (calls == 0)
        return;
    gp_plain_numbers_begin(&plain);
    gp_text_addf(out, "\nMEMORY COPIES AND FILLS\n" LINE, "direction", "calls", "bytes", "time",
                 "throughput");
    for (int i = 0; i < GP_COPY_KINDS; i++)
        if (totals[i].calls > 0)
            add_line(kinds[i].title, &totals[i], out);
    gp_plain_numbers_end(&plain);
}

void gp_copies_write(const struct gp_copies *totals, struct gp_writer *writer)
{
    for (int i = 0; i < GP_COPY_KINDS; i++) {
        const struct gp_copies *c = &totals[i];
        if (c->calls == 0)
            continue;
        gp_writer_line(writer, "copies",
                       json_pack("{s:s,s:I,s:I,s:I,s:I,s:f,s:f,s:f}", "kind", kinds[i].name,
                                 "calls", (json_int_t)c->calls, "bytes", (json_int_t)c->bytes,
                                 "timed", (json_int_t)c->timed, "timed_bytes",
                                 (json_int_t)c->timed_bytes, "seconds", c->seconds, "shortest",
                                 c->shortest, "longest", c->longest));
    }
}

static double seconds_of(const json_t *line, const char *name)
{
    double value = json_number_value(json_object_get(line, name));
    return isfinite(value) && value > 0 ? value : 0;
}

static uint64_t count_of(const json_t *line, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(line, name));
    return n > 0 ? (uint64_t)n : 0;
}

bool gp_copies_add(struct gp_copies *totals, const char *type, const struct json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "kind"));
    int i = 0;
    if (strcmp(type, "copies") != 0 || !name)
        return false;
    while (i < GP_COPY_KINDS && strcmp(kinds[i].name, name) != 0)
        i++;
    if (i == GP_COPY_KINDS)
        return false;
    struct gp_copies *c = &totals[i];
    double shortest = seconds_of(line, "shortest"), longest = seconds_of(line, "longest");
    uint64_t timed = count_of(line, "timed");
    if (timed > 0 && (c->timed == 0 || shortest < c->shortest))
        c->shortest = shortest;
    if (longest > c->longest)
        c->longest = longest;
    c->calls += count_of(line, "calls");
    c->bytes += count_of(line, "bytes");
    c->timed += timed;
    c->timed_bytes += count_of(line, "timed_bytes");
    c->seconds += seconds_of(line, "seconds");
    return true;
}
