#include "check/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void take_line(const char *file, char *line, int number,
                      const struct gp_lines_visitor *visitor, struct gp_text *problems)
{
    cut_comment(line);
    char *text = gp_trim(line);
    if (!*text)
        return;
    int column = (int)(text - line) + 1;
    if (*text != '[') {
        visitor->rule(visitor->user, text, number, column);
        return;
    }
    size_t length = strlen(text);
    if (text[length - 1] != ']') {
        gp_text_addf(problems, "%s:%d:%d: expected ']' behind the kernel pattern\n", file, number,
                     column + (int)length);
        return;
    }
    text[length - 1] = '\0';
    visitor->section(visitor->user, gp_trim(text + 1), number);
}

void gp_lines_read(const char *file, const char *text, size_t length,
                   const struct gp_lines_visitor *visitor, struct gp_text *problems)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const char *at = text, *end = text + length;
    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        at += 3;
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
        } else if (memchr(at, '\0', size)) {
            gp_text_addf(problems, "%s:%d:1: no text: there is a NUL in this line\n", file, number);
        } else {
            memcpy(line, at, size);
            line[size] = '\0';
            take_line(file, line, number, visitor, problems);
        }
        at = newline ? newline + 1 : end;
    }
    free(line);
}

static bool read_all(int fd, size_t most, struct gp_text *text, char *why, size_t why_size)
{
    char part[1024];
    for (;;) {
        ssize_t n = read(fd, part, sizeof(part));
        if (n < 0 && errno == EINTR)
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
    int fd = open(path, O_RDONLY | O_CLOEXEC);
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
