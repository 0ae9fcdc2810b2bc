#include "base/markdown.h"

#include "base/escape.h"

#include <string.h>
#include <strings.h>

/* The mark at `at` as it is to be written; NULL where the letter stands for itself. The line begins
 * at `text`. */
static const char *mark_of(const char *text, const char *at)
{
    switch (*at) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '\\':
        return "\\\\";
    case '`':
        return "\\`";
    case '*':
        return "\\*";
    case '_':
        return "\\_";
    case '[':
        return "\\[";
    case ']':
        return "\\]";
    case '|':
        return "\\|";
    case '~':
        return "\\~";
    /* No escape keeps a person's or a mailbox' name from becoming a link, nor a pair of these
     * signs from becoming a formula; code does. */
    case '@':
        return "`@`";
    case '$':
        return "`$`";
    case ':': /* http://x */
        return strncmp(at, "://", 3) == 0 ? "\\:" : NULL;
    case '.': /* www.x */
        return at - text >= 3 && strncasecmp(at - 3, "www", 3) == 0 ? "\\." : NULL;
    /* At the beginning of a line: a heading, a list, a line below a heading. */
    case '#':
        return at == text ? "\\#" : NULL;
    case '+':
        return at == text ? "\\+" : NULL;
    case '-':
        return at == text ? "\\-" : NULL;
    case '=':
        return at == text ? "\\=" : NULL;
    default:
        return NULL;
    }
}

/* "1." or "1)" at the beginning of a line begins a list: the digits in front of that. */
static size_t number_of_list(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && (text[digits] == '.' || text[digits] == ')') ? digits : 0;
}

static void add_marked(struct gp_text *to, const char *text)
{
    text += strspn(text, " ");
    const size_t list = number_of_list(text);
    for (const char *at = text; *at; at++) {
        const char *mark = mark_of(text, at);
        if (mark) {
            gp_text_add(to, mark);
        } else {
            if (list > 0 && at == text + list)
                gp_text_add(to, "\\");
            gp_text_add_bytes(to, at, 1);
        }
    }
}

void gp_text_add_markdown(struct gp_text *to, const char *text)
{
    struct gp_text line = {0};
    gp_text_add_escaped(&line, text, strlen(text));
    add_marked(to, gp_text_string(&line));
    to->failed |= line.failed;
    gp_text_free(&line);
}

static size_t longest_run(const char *text, char of)
{
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == of ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void add_fence(struct gp_text *to, size_t length)
{
    for (size_t i = 0; i < length; i++)
        gp_text_add(to, "`");
}

/* One blank on both sides is not part of the code. */
static bool needs_blanks(const char *text, size_t length)
{
    return text[0] == '`' || text[length - 1] == '`' ||
           (text[0] == ' ' && text[length - 1] == ' ' && strspn(text, " ") < length);
}

static void add_code(struct gp_text *to, const char *text, size_t length, bool in_table)
{
    const size_t fence = longest_run(text, '`') + 1;
    const char *blank = needs_blanks(text, length) ? " " : "";
    add_fence(to, fence);
    gp_text_add(to, blank);
    for (; *text; text++) {
        if (in_table && *text == '|')
            gp_text_add(to, "\\");
        gp_text_add_bytes(to, text, 1);
    }
    gp_text_add(to, blank);
    add_fence(to, fence);
}

void gp_text_add_markdown_code(struct gp_text *to, const char *text, bool in_table)
{
    struct gp_text line = {0};
    gp_text_add_escaped(&line, text, strlen(text));
    /* A table takes the backslash in front of a bar for its own. */
    const bool has_no_code = in_table && strstr(gp_text_string(&line), "\\|");
    if (line.length > 0 && has_no_code)
        add_marked(to, line.data);
    else if (line.length > 0)
        add_code(to, line.data, line.length, in_table);
    to->failed |= line.failed;
    gp_text_free(&line);
}
