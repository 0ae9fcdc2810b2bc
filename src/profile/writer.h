/* Writes a profile: JSON Lines, one object per line, one write(2) per line, so that nothing is lost
 * when the program crashes. Owns the profile's file. docs/profile-format.md describes the format.
 *
 * Not locked: the caller lets one thread in at a time. */
#ifndef GPUPROF_PROFILE_WRITER_H
#define GPUPROF_PROFILE_WRITER_H

#include "profile/record.h"

#include <stdbool.h>

#define GP_PROFILE_FORMAT 2

struct gp_writer;
struct json_t;

/* Opens (and empties) `path`, already expanded, or a file beside it where that one must stay
 * (profile/claim.h), and writes the header line. A file with a name that ends in ".zst" is
 * compressed, each line so that it can be read at once. `command` ends in NULL; NULL stands for
 * this process's own command line. The settings are NULL where they are the usual ones. Returns
 * NULL with the reason in `why`. */
struct gp_writer *gp_writer_open(const char *path, const char *const *command,
                                 const struct gp_settings *settings, char *why, size_t why_size);

/* The profile's name; NULL when writing has stopped. */
const char *gp_writer_path(const struct gp_writer *w);
/* Why that is not the name that was asked for; NULL: it is, or other processes have said so. */
const char *gp_writer_beside(const struct gp_writer *w);

/* The file never has more than so many bytes (0: there is no limit). Near them launches keep a line
 * by a choice (profile/thinning.h), and sums stand for the others; gp_writer_thin makes room. Other
 * lines that find no room are left out, but for the last. `unasked`: the user did not ask for the
 * profile, and no message says that it cannot be written. Called before the first launch. */
void gp_writer_limit(struct gp_writer *w, uint64_t bytes, bool unasked);

/* Whether it is time for gp_writer_thin. */
bool gp_writer_is_long(const struct gp_writer *w);
/* Writes the file anew, with half as many launches, and gives it the name. It reads for seconds,
 * so it runs beside the callers of all other functions here: they lock one out for the time between
 * `lock` and `unlock`, which it calls, and it begins and ends unlocked. It ends early where
 * `goes_on` says false. */
void gp_writer_thin(struct gp_writer *w, void (*lock)(void), void (*unlock)(void),
                    bool (*goes_on)(void));

/* Launches that have no line of their own; lines of other kinds that found no room. */
uint64_t gp_writer_left_out(const struct gp_writer *w);
size_t gp_writer_cut(const struct gp_writer *w);

/* Counts further launches of a configuration, with a line or not, as long as the process runs. */
void gp_writer_count_so_far(struct gp_writer *w, const struct gp_count *more);
/* Writes the sums so far of launches without a line. False when writing has stopped. */
bool gp_writer_sums(struct gp_writer *w, bool at_end);

/* Writes a device's facts; a device already written is skipped. False when writing has stopped.
 */
bool gp_writer_device(struct gp_writer *w, const struct gp_device *device);

/* Writes one launch. A value that is no finite number is written as absent. When the file can take
 * no more (disk full, limit on file size, a reader that does not read for a second) or is ours no
 * more (the program closed it) one message says so and nothing is written from then on. False as
 * above. */
bool gp_writer_launch(struct gp_writer *w, const struct gp_record *launch);

/* Writes the known part of a launch whose counters are not all read yet, in case the process ends
 * before it is written in full: gp_writer_launch of the same index, once, not much later. At most
 * GP_MAX_EARLY may be waiting for that. Of several for one launch the last counts. False where it
 * gets no line. */
#define GP_MAX_EARLY 16384
bool gp_writer_early(struct gp_writer *w, const struct gp_record *launch);

/* Writes the time of a launch that was written early without it. False as above. */
bool gp_writer_ended(struct gp_writer *w, uint64_t index, double duration_ns);

/* Writes how many launches the process has made so far, those without a line of their own too, and
 * its times so far. False as above. */
bool gp_writer_so_far(struct gp_writer *w, uint64_t launches, const struct gp_end *times);

/* Writes how often a kernel was launched. False when writing has stopped. */
bool gp_writer_count(struct gp_writer *w, const struct gp_count *count);

/* Writes why no launch is measured from here on. False when writing has stopped. */
bool gp_writer_given_up(struct gp_writer *w, const char *reason);

/* Writes the values that are known at the end of the process. False when writing has stopped. */
bool gp_writer_end(struct gp_writer *w, const struct gp_end *end);

/* Writes a line of another type, for rooms that record something of their own; readers that do not
 * know the type pass over it. Takes the object over; NULL is one that could not be made, out of
 * memory. False as above.
 */
bool gp_writer_line(struct gp_writer *w, const char *type, struct json_t *fields);

/* Completes a compressed file, at the end of the process; later lines may follow. */
void gp_writer_finish(struct gp_writer *w);

void gp_writer_close(struct gp_writer *w);

#endif
