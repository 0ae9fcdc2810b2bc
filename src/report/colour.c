#include "report/colour.h"

#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define YELLOW "\033[33m"
#define BOLD_YELLOW "\033[1;33m"
#define PLAIN "\033[m"

bool gp_colour_wanted(bool is_terminal)
{
    const char *refused = secure_getenv("NO_COLOR"), *terminal = secure_getenv("TERM");
    return is_terminal && !(refused && *refused) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static bool is_heading(const char *line)
{
    static const char *const headings[] = {"KERNELS", "WORTH CHANGING", "OVERVIEW",
                                           "DETAILS", "MEMORY COPIES",  "CHECKS"};
    for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
        if (begins(line, headings[i]))
            return true;
    return false;
}

static bool is_column_head(const char *line)
{
    return begins(line, "   time ") || begins(line, "   metric ") || begins(line, "   direction ");
}

/* "2. up to 18 %: ...": the length of the number and the gain; 0 in other lines. */
static size_t gain_in(const char *line, size_t length)
{
    size_t digits = strspn(line, "0123456789");
    const char *colon = memchr(line, ':', length);
    return digits > 0 && begins(line + digits, ". ") && colon ? (size_t)(colon - line) : 0;
}

static void add_marked(struct gp_text *out, const char *mark, const char *text, size_t length)
{
    gp_text_add(out, mark);
    gp_text_add_bytes(out, text, length);
    gp_text_add(out, PLAIN);
}

static void add_line(struct gp_text *out, const char *line, size_t length)
{
    size_t gain = gain_in(line, length);
    if (begins(line, "NOT MEASURED"))
        add_marked(out, BOLD_YELLOW, line, length);
    else if (is_heading(line))
        add_marked(out, BOLD, line, length);
    else if (is_column_head(line))
        add_marked(out, DIM, line, length);
    else if (begins(line, "Simulated GPU"))
        add_marked(out, YELLOW, line, length);
    else if (gain) {
        add_marked(out, BOLD_YELLOW, line, gain);
        gp_text_add_bytes(out, line + gain, length - gain);
    } else
        gp_text_add_bytes(out, line, length);
}

void gp_colour(const char *report, struct gp_text *out)
{
    while (*report) {
        size_t length = strcspn(report, "\n");
        add_line(out, report, length);
        report += length;
        if (*report == '\n') {
            gp_text_add(out, "\n");
            report++;
        }
    }
}
