/* The fields of a device, a launch, a count and the end of a process by the names they have in a
 * profile: one list for the writer and the reader. Owns the list. */
#ifndef GPUPROF_PROFILE_FIELDS_H
#define GPUPROF_PROFILE_FIELDS_H

#include "profile/record.h"

#include <stdbool.h>

enum gp_field_kind {
    GP_FIELD_INT,
    GP_FIELD_UNSIGNED,
    GP_FIELD_U32,
    GP_FIELD_U64,
    GP_FIELD_SIZE,
    GP_FIELD_DOUBLE,
    GP_FIELD_TEXT,   /* char [size] */
    GP_FIELD_STRING, /* const char *, NULL: left out */
    GP_FIELD_EXTENT, /* unsigned [3] */
    GP_FIELD_REASON, /* struct gp_reason: its text, and GP_CAUSE_FIELD */
};

/* The word of a reason's cause; and of a launch's absent counters, by the text of the reason. */
#define GP_CAUSE_FIELD "cause"
#define GP_CAUSES_FIELD "causes"

struct gp_field {
    const char *name;
    enum gp_field_kind kind;
    size_t offset, size;
    bool needed; /* a line without it makes no sense */
    bool once;   /* of a launch: said once for each configuration, not for each launch */
};

/* Whether a launch's line has a number for it: it is of one launch, and no text. */
bool gp_is_column(const struct gp_field *f);

extern const struct gp_field gp_device_fields[];
extern const size_t gp_device_field_count;
extern const struct gp_field gp_launch_fields[];
extern const size_t gp_launch_field_count;
extern const struct gp_field gp_count_fields[];
extern const size_t gp_count_field_count;
/* The further fields of a count with launches behind a reading. */
extern const struct gp_field gp_reading_fields[];
extern const size_t gp_reading_field_count;
extern const struct gp_field gp_sum_fields[];
extern const size_t gp_sum_field_count;
extern const struct gp_field gp_whole_fields[];
extern const size_t gp_whole_field_count;
extern const struct gp_field gp_succession_fields[];
extern const size_t gp_succession_field_count;
extern const struct gp_field gp_end_fields[];
extern const size_t gp_end_field_count;
/* The further fields of an end that has a window. */
extern const struct gp_field gp_window_fields[];
extern const size_t gp_window_field_count;
/* The further fields of an end with a limit. */
extern const struct gp_field gp_limit_fields[];
extern const size_t gp_limit_field_count;
/* The further fields of an end with the calls of the host. */
extern const struct gp_field gp_host_fields[];
extern const size_t gp_host_field_count;

#endif
