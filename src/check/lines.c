#include "check/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_WAIT_MS 5000

char *gp_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* A comment behind a rule begins with a blank and ';' or '#'. Names of kernels may have such a '#'
 * in them ("{lambda()#1}"), but no blank before it. */
static void cut_comment(char *text)
{
    for (char *p = text; *p; p++) {
        if ((*p == ';' || *p == '#') && (p == text || isspace((unsigned char)p[-1]))) {
            *p = '\0';
            return;
        }
    }
}

struct reading {
    const char *file;
    const struct gp_lines_visitor *visitor;
    struct gp_text *problems;
    size_t sections;
    bool refused;    /* the last section */
    bool complained; /* of a rule before all sections */
};

static void begin_section(struct reading *r, const char *pattern, int number)
{
    struct gp_selector selector = {0};
    char why[256];
    r->refused = true;
    if (r->sections++ >= GP_MOST_SECTIONS) {
        gp_text_addf(r->problems, "%s:%d:1: more than %d sections\n", r->file, number,
                     GP_MOST_SECTIONS);
    } else if (!gp_selector_parse(pattern, &selector, why, sizeof(why))) {
        gp_text_addf(r->problems, "%s:%d:2: %s\n", r->file, number, why);
    } else if (!r->visitor->section(r->visitor->user, &selector, number)) {
        gp_selector_free(&selector);
        gp_text_addf(r->problems, "%s:%d:1: out of memory\n", r->file, number);
    } else {
        r->refused = false;
    }
}

static void take_rule(struct reading *r, char *text, int number, int column)
{
    if (r->sections > 0) {
        if (!r->refused)
            r->visitor->rule(r->visitor->user, text, number, column);
        return;
    }
    if (!r->complained)
        gp_text_addf(r->problems,
                     "%s:%d:%d: expected a kernel pattern in brackets first: [*] for all\n",
                     r->file, number, column);
    r->complained = true;
}

static void take_line(struct reading *r, char *line, int number)
{
    cut_comment(line);
    char *text = gp_trim(line);
    if (!*text)
        return;
    int column = (int)(text - line) + 1;
    if (*text != '[') {
        take_rule(r, text, number, column);
        return;
    }
    size_t length = strlen(text);
    if (text[length - 1] != ']') {
        gp_text_addf(r->problems, "%s:%d:%d: expected ']' behind the kernel pattern\n", r->file,
                     number, column + (int)length);
        return;
    }
    text[length - 1] = '\0';
    begin_section(r, gp_trim(text + 1), number);
}

#define MOST_PROBLEMS 20 /* of a file */

/* A file of another kind is one mistake, not one in each line. */
static bool is_text(const char *file, const char *text, size_t length, struct gp_text *problems)
{
    const char *nul = memchr(text, '\0', length);
    int number = 1;
    for (const char *p = text; nul && p < nul; p++)
        number += *p == '\n';
    if (nul)
        gp_text_addf(problems, "%s:%d:1: no text: there is a NUL in this line\n", file, number);
    return !nul;
}

static bool has_too_many(const struct gp_text *problems, size_t before)
{
    size_t count = 0;
    for (size_t i = before; i < problems->length; i++)
        count += problems->data[i] == '\n';
    return count >= MOST_PROBLEMS;
}

void gp_lines_read(const char *file, const char *text, size_t length,
                   const struct gp_lines_visitor *visitor, struct gp_text *problems)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    struct reading reading = {.file = file, .visitor = visitor, .problems = problems};
    const char *at = text, *end = text + length;
    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        at += 3;
    if (!is_text(file, text, length, problems))
        return;
    const size_t before = problems->length;
    char *line = malloc(GP_LONGEST_LINE + 1);
    if (!line) {
        gp_text_addf(problems, "%s: out of memory\n", file);
        return;
    }
    for (int number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        if (size > GP_LONGEST_LINE) {
            gp_text_addf(problems, "%s:%d:%d: a line has at most %d letters\n", file, number,
                         GP_LONGEST_LINE + 1, GP_LONGEST_LINE);
        } else {
            memcpy(line, at, size);
            line[size] = '\0';
            take_line(&reading, line, number);
        }
        at = newline ? newline + 1 : end;
        if (at < end && has_too_many(problems, before)) {
            gp_text_addf(problems, "%s: so many mistakes that the rest is not read\n", file);
            break;
        }
    }
    free(line);
}

/* A pipe is read as well; one that nobody writes to is not waited for for ever. */
static bool wait_for_bytes(int fd, char *why, size_t why_size)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, PIPE_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        snprintf(why, why_size, "nothing was written to this pipe for %d s; a file is expected",
                 PIPE_WAIT_MS / 1000);
    else if (ready < 0)
        snprintf(why, why_size, "%s", strerror(errno));
    return ready > 0;
}

static bool read_all(int fd, size_t most, struct gp_text *text, char *why, size_t why_size)
{
    char part[1024];
    struct stat about;
    if (fstat(fd, &about) != 0) {
        snprintf(why, why_size, "%s", strerror(errno));
        return false;
    }
    for (;;) {
        if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode) &&
            !wait_for_bytes(fd, why, why_size))
            return false;
        ssize_t n = read(fd, part, sizeof(part));
        /* A file of /proc has nothing now, and cannot be waited for. */
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && !S_ISREG(about.st_mode))))
            continue;
        if (n < 0) {
            snprintf(why, why_size, "%s", strerror(errno));
            return false;
        }
        if (n == 0)
            return true;
        gp_text_add_bytes(text, part, (size_t)n);
        if (text->failed || text->length > most) {
            snprintf(why, why_size, text->failed ? "out of memory" : "larger than %zu bytes", most);
            return false;
        }
    }
}

char *gp_file_read(const char *path, size_t most, size_t *length, char *why, size_t why_size)
{
    struct gp_text text = {0};
    char reason[128];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        return NULL;
    }
    bool read = read_all(fd, most, &text, reason, sizeof(reason));
    close(fd);
    if (read && !text.data) {
        gp_text_add(&text, " "); /* an empty file */
        text.length = 0;
        snprintf(reason, sizeof(reason), "out of memory");
    }
    if (read && text.data) {
        *length = text.length;
        return text.data;
    }
    snprintf(why, why_size, "%s: %s", path, reason);
    gp_text_free(&text);
    return NULL;
}
