/* Reads a profile line by line, of format 1 or 2, compressed or not, in memory that does not grow
 * with the number of launches. */
#ifndef GPUPROF_PROFILE_READER_H
#define GPUPROF_PROFILE_READER_H

#include "base/text.h"
#include "profile/record.h"

#include <stdbool.h>

struct json_t;

/* The content of the first line. */
struct gp_profile_header {
    const char *path;    /* of the file */
    const char *version; /* of the gpuprof that wrote it */
    const char *host;
    const char *time; /* ISO 8601 */
    long pid;
    size_t argument_count;
    const char *const *command;
    struct gp_settings settings;
};

/* Where a line stands. */
struct gp_profile_position {
    const char *path;
    size_t line; /* from 1 */
};

/* A process whose lines, and the launches in them, may not be all. Profiles of format 1 may lack
 * the line of its end for other reasons; of them only a torn one counts. */
struct gp_unfinished {
    const char *path; /* of the file */
    const char *why;  /* a literal */
    bool torn;        /* a part of a line is missing, of which the reader's notes say more */
    long pid;
    /* Its launches: all, as far as is known (0: the visitor takes no launches); of those, with a
     * line in full, with some counters, with their time alone, and with nothing but their
     * configuration. The rest has no line. */
    uint64_t launches, whole, partly, timed, begun;
    double seconds, added_seconds; /* as struct gp_end, when it was known last; 0: it is not */
};

/* Called in the file's order; any of them may be NULL. Their arguments live until they return,
 * but the strings of a launch (its kernel, names and reasons of its counters, why it was
 * skipped) live until the reading ends, and each text there is one pointer. False ends the
 * reading. */
struct gp_profile_visitor {
    void *user;
    /* Texts are as they are in the file, for a view in which nothing acts on them. Else they are
     * printable (base/escape.h). */
    bool exact;
    bool (*header)(void *user, const struct gp_profile_header *header);
    bool (*device)(void *user, const struct gp_device *device);
    bool (*launch)(void *user, const struct gp_record *launch);
    /* The launches of a process come in the order of their numbers, not in the file's; in front of
     * the first count. */
    bool in_order;
    bool (*count)(void *user, const struct gp_count *count);
    bool (*sum)(void *user, const struct gp_sum *sum);
    bool (*graph)(void *user, const struct gp_whole_times *times); /* NULL: goes to `other` */
    bool (*succession)(void *user, const struct gp_succession *s); /* NULL: goes to `other` */
    /* Where it is not NULL it gets the launches that were not written in full, instead of
     * `launch`. */
    bool (*early)(void *user, const struct gp_record *launch);
    /* The file has no more at the moment: whether there is more now. */
    bool (*more)(void *user);
    bool (*end)(void *user, const struct gp_end *end);
    void (*unfinished)(void *user, const struct gp_unfinished *process);
    /* gpuprof stopped measuring in the middle of the process, or before its first launch. */
    void (*gave_up)(void *user, const char *why);
    /* A line of a type that this room does not know, an object of jansson's. Before the call
     * *position, where it is not NULL, gets its position. */
    struct gp_profile_position *position;
    bool (*other)(void *user, const char *type, const struct json_t *line);
    /* The user's own copy of a counter's name, which launches then point at (NULL: none). It is
     * asked for each name at least once, also where `launch` is NULL: the quick way to see which
     * counters a profile has. */
    const char *(*counter_name)(void *user, const char *name);
    /* The one file is read, and no other of its run. */
    bool alone;
};

/* Reads `path` ("-": standard input), and where it is the first file of its run the others as well,
 * as if they stood behind it; to the end or until a visitor ends the reading. False with
 * one line "file:line: the mistake" in `why` where not all could be read. Lines that cannot be read
 * are left out and the reading goes on: the visitor has had all that can be, and `why` says how
 * much is left out. Where its header was not called nothing could be read. A last line that a crash
 * cut short is dropped, and `notes` (may be NULL) says so. */
bool gp_profile_read(const char *path, const struct gp_profile_visitor *visitor,
                     struct gp_text *notes, char *why, size_t why_size);

/* Reads the file behind a descriptor from its begin, and no other of its run; the descriptor and
 * its position stay as they are. As gp_profile_read. */
bool gp_profile_read_open(int fd, const char *path, const struct gp_profile_visitor *visitor,
                          char *why, size_t why_size);

#endif
