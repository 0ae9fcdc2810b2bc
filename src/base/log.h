/* Messages to the user. Owns the log's file descriptor.
 *
 * Everything here runs inside a program that is not ours: one write(2) per message, no stdio
 * streams, no allocation, errno left as it was. Nothing is written where the descriptor is not the
 * file any more that it was: neither to standard error, as it was when the process began, nor to
 * the log. Where the log takes no more one line says so, and all goes to standard error. A slow
 * reader is waited for: one second for all messages together, one for the report, and not again
 * where it has taken nothing. On standard error at most 60 KiB are written, messages and report
 * together: that much a pipe holds. */
#ifndef GPUPROF_BASE_LOG_H
#define GPUPROF_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "gpuprof: " and the message and a newline. Longer than 4096 bytes is cut; a character that
 * would not show on a terminal, or would end the line, is escaped. */
void gp_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A message that may come up at every launch: said `most` times, then never again; the last time
 * says so. Zero-initialised by the caller; any thread may use it. */
struct gp_say_limit {
    unsigned said;
};
void gp_say_limited(struct gp_say_limit *once, unsigned most, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One message for each line of `text`, with `before` in front of it. */
void gp_say_lines(const char *before, const char *text);

/* From now on messages and reports go to this file instead of to standard error, behind those of
 * other processes of the run (base/run_id.h); the text of an earlier run is emptied first.
 * Returns 0 or an errno value; then messages go where they went before. */
int gp_log_open(const char *path);

/* Whether messages go to a terminal. */
bool gp_log_is_terminal(void);
/* The columns of its lines, 0 where it is none. */
size_t gp_log_columns(void);

/* Writes text that will soon be replaced, on a terminal only. Where the terminal takes no more it
 * is lost. */
void gp_log_passing(const char *text, size_t length);

/* Writes a report as it is, within a second. Where it is too long for standard error it ends with a
 * whole line, and one more line, `rest`: where the rest is. */
void gp_log_report(const char *text, size_t length, const char *rest);

#endif
