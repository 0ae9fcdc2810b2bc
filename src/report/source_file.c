#include "report/source_file.h"

#include "base/text_file.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_SOURCE ((size_t)16 << 20)
#define MOST_LINES 1000000

static size_t count_lines(const char *text, size_t length)
{
    size_t count = 0;
    for (const char *at = text, *end = text + length; at && at < end && count < MOST_LINES;
         count++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return count;
}

void gp_source_file_read(struct gp_source_file *file, const char *path)
{
    char why[128];
    size_t length;
    char *text = gp_text_file_read(path, LARGEST_SOURCE, &length, why, sizeof(why));
    const size_t count = text ? count_lines(text, length) : 0;
    char **lines = count ? malloc(count * sizeof(*lines)) : NULL;
    *file = (struct gp_source_file){0};
    if (!lines) {
        free(text);
        return;
    }
    *file = (struct gp_source_file){.text = text, .lines = lines, .count = count};
    for (size_t i = 0; i < count; i++) {
        lines[i] = text;
        size_t end = strcspn(text, "\n");
        text += end + (text[end] == '\n');
        while (end > 0 && lines[i][end - 1] == '\r')
            end--;
        lines[i][end] = '\0';
    }
}

void gp_source_file_free(struct gp_source_file *file)
{
    free(file->text);
    free(file->lines);
    *file = (struct gp_source_file){0};
}
