#include "cli/source_files.h"

#include "base/escape.h"

#include <stdio.h>
#include <string.h>

void cli_source_text_read(struct cli_source_text *text, const char *directory, const char *file,
                          const char *folder)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    if (*directory && file[0] != '/')
        snprintf(text->path, sizeof(text->path), "%s/%s", directory, file);
    else
        snprintf(text->path, sizeof(text->path), "%s", file);
    gp_source_file_read(&text->source, text->path);
    if (text->source.count == 0 && folder) {
        snprintf(text->path, sizeof(text->path), "%s/%s", folder, name);
        gp_source_file_read(&text->source, text->path);
    }
}

void cli_source_text_free(struct cli_source_text *text)
{
    gp_source_file_free(&text->source);
}

void cli_source_text_add(const struct cli_source_text *text, unsigned number, struct gp_text *out)
{
    if (number < 1 || number > text->source.count)
        return;
    for (const char *line = text->source.lines[number - 1]; *line;) {
        size_t length = strcspn(line, "\t");
        gp_text_add_escaped(out, line, length);
        line += length;
        if (*line == '\t')
            gp_text_add_bytes(out, line++, 1);
    }
}
