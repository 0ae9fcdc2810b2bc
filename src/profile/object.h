/* A record as a JSON object, one line of a profile. Owns the object until it was added to a text.
 */
#ifndef GPUPROF_PROFILE_OBJECT_H
#define GPUPROF_PROFILE_OBJECT_H

#include "base/text.h"
#include "profile/fields.h"

#include <jansson.h>
#include <stdbool.h>

/* `failed`: out of memory, so a part of it is missing. */
struct gp_object {
    json_t *object;
    bool failed;
};

/* `type` may be NULL: the object has none. */
struct gp_object gp_object_new(const char *type);

/* Take the value over, also where it is NULL, which makes the object fail. */
void gp_object_put(struct gp_object *o, json_t *into, const char *key, json_t *value);
void gp_object_append(struct gp_object *o, json_t *array, json_t *value);

/* A string; a byte that is no UTF-8, which arguments and kernel names may hold, becomes '?'. */
json_t *gp_object_text(const char *s);
json_t *gp_object_whole(uint64_t n);
json_t *gp_object_extent(struct gp_object *o, const unsigned extent[3]);

/* A reason's text under `key`, and the word of its cause; nothing where there is none. */
void gp_object_put_reason(struct gp_object *o, json_t *into, const char *key,
                          struct gp_reason reason);
/* Counters without values: `absent` becomes name to text, `causes` text to the word of its cause.
 */
struct gp_absences {
    json_t *absent, *causes;
};
struct gp_absences gp_absences_new(void);
void gp_object_add_absent(struct gp_object *o, struct gp_absences *absences,
                          const struct gp_counter *counter, struct gp_reason reason);
void gp_object_put_absences(struct gp_object *o, struct gp_absences absences);

/* Which fields of a record: all, those said once for a configuration, those of each launch. */
enum gp_field_choice { GP_FIELDS_ALL, GP_FIELDS_ONCE };

void gp_object_put_fields(struct gp_object *o, const struct gp_field *fields, size_t count,
                          enum gp_field_choice choice, const void *record);

/* A launch with all that is known of it, as format 1 has it. */
struct gp_object gp_object_launch(const char *type, const struct gp_record *launch);

/* The line of a count: of all launches, or of those passed over for a reason. */
struct gp_object gp_object_count(const struct gp_count *count);

/* The line of a process's end. */
struct gp_object gp_object_end(const struct gp_end *end);

/* Appends the object in one line, without the newline, and frees it. Characters that a terminal
 * would act on, or that do not show, are escaped (\u202e). False when out of memory. */
bool gp_object_finish(struct gp_object *o, struct gp_text *out);

#endif
