#include "profile/head.h"

#include "base/text.h"
#include "profile/blanks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A command line has 2 MB at most, and some more in JSON. */
#define LONGEST_LINE (8u << 20)

/* The text up to the first newline; false where there is none. */
static bool read_line(struct gp_source *source, struct gp_text *line)
{
    char part[4096], why[256];
    ssize_t n = 0;
    const char *end = NULL;
    while (!end && line->length < LONGEST_LINE && !line->failed &&
           (n = gp_source_read(source, part, sizeof(part), why, sizeof(why))) > 0) {
        end = memchr(part, '\n', (size_t)n);
        gp_text_add_bytes(line, part, end ? (size_t)(end - part) : (size_t)n);
    }
    return end && !line->failed;
}

/* ---- one object, without a general reader, which the library has not ------------------------- */

/* Behind the string that begins there; `end` where it has no end. */
static const char *behind_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Behind the value: where a comma, or the end of the object, follows. */
static const char *behind_value(const char *at, const char *end)
{
    int depth = 0;
    while (at < end && (depth > 0 || (*at != ',' && *at != '}'))) {
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at = *at == '"' ? behind_string(at, end) : at + 1;
    }
    return at;
}

/* The value of a key of the object; NULL where it has no such key. */
static const char *value_of(const char *key, const char *at, const char *end)
{
    const size_t length = strlen(key);
    at = gp_skip_blanks(at, end);
    if (at == end || *at != '{')
        return NULL;
    do {
        const char *name = gp_skip_blanks(at + 1, end);
        if (name == end || *name != '"')
            return NULL;
        const char *behind = behind_string(name, end);
        const char *colon = gp_skip_blanks(behind, end);
        if (colon == end || *colon != ':')
            return NULL;
        at = gp_skip_blanks(colon + 1, end);
        if ((size_t)(behind - name) == length + 2 && memcmp(name + 1, key, length) == 0)
            return at < end ? at : NULL;
        at = behind_value(at, end);
    } while (at < end && *at == ',');
    return NULL;
}

static bool copy_string(const char *at, const char *end, char *copy, size_t size)
{
    if (!at || *at != '"')
        return false;
    const char *behind = behind_string(at, end);
    snprintf(copy, size, "%.*s", (int)(behind - at) - 2, at + 1);
    return true;
}

/* 0 where it is none. */
static long copy_number(const char *at)
{
    return at ? strtol(at, NULL, 10) : 0; /* a NUL follows the line */
}

bool gp_head_read(struct gp_source *source, struct gp_head *head)
{
    struct gp_text line = {0};
    char type[16] = "";
    bool taken = read_line(source, &line);
    const char *end = taken ? line.data + line.length : NULL;
    taken = taken && copy_string(value_of("type", line.data, end), end, type, sizeof(type)) &&
            strcmp(type, "header") == 0;
    if (taken) {
        const long number = copy_number(value_of("number", line.data, end));
        *head = (struct gp_head){.number = number > 1 && number <= INT_MAX ? (unsigned)number : 1,
                                 .pid = copy_number(value_of("pid", line.data, end))};
        copy_string(value_of("run", line.data, end), end, head->run, sizeof(head->run));
    }
    gp_text_free(&line);
    return taken;
}

bool gp_head_of_file(const char *path, struct gp_head *head)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool regular = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    struct gp_source *source = regular ? gp_source_use(fd) : NULL;
    bool taken = source && gp_head_read(source, head);
    gp_source_close(source);
    if (fd >= 0)
        close(fd);
    return taken;
}
