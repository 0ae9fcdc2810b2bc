#include "cli/anonymous.h"

#include <ctype.h>
#include <string.h>

#define DEEPEST 64 /* of objects in objects */

struct gp_profile_header cli_anonymous_header(const struct gp_profile_header *header)
{
    struct gp_profile_header own = *header;
    own.path = cli_file_name(header->path);
    own.host = "";
    own.command = NULL;
    own.argument_count = 0;
    return own;
}

const char *cli_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_a_path(char c)
{
    return c == '\0' || isspace((unsigned char)c) || strchr("\"'`,;()<>[]|", c) != NULL;
}

/* "/a/b", but neither "FLOP/byte" nor "a / b". */
static bool begins_a_path(const char *text, const char *at)
{
    bool first = at == text || ends_a_path(at[-1]) || strchr("=:", at[-1]);
    return *at == '/' && first && !ends_a_path(at[1]) && at[1] != '/';
}

static size_t path_length(const char *at)
{
    size_t length = 0;
    while (!ends_a_path(at[length]) && (at[length] != ':' || at[length + 1] == '/'))
        length++;
    return length;
}

/* The bytes of folders that stand at `at`: those of `path`, where other files of its run are, too,
 * or of an absolute path. */
static size_t folders(const char *text, const char *at, const char *path)
{
    size_t named = path ? (size_t)(cli_file_name(path) - path) : 0;
    if (named > 0 && strncmp(at, path, named) == 0 && (at == text || ends_a_path(at[-1])))
        return named;
    if (!begins_a_path(text, at))
        return 0;
    size_t length = path_length(at);
    while (length > 0 && at[length - 1] != '/')
        length--;
    return length;
}

static void copy(const char *text, const char *path, struct gp_text *out)
{
    for (const char *at = text; *at;) {
        at += folders(text, at, path);
        if (*at)
            gp_text_add_bytes(out, at++, 1);
    }
}

void cli_leave_out_folders(struct gp_text *text, const char *path)
{
    struct gp_text own = {0};
    if (text->failed || text->length == 0)
        return;
    copy(gp_text_string(text), path, &own);
    gp_text_free(text);
    *text = own;
}

static bool scrub(json_t *value, int depth)
{
    const char *key;
    json_t *member;
    size_t i;
    bool done = true;
    if (depth > DEEPEST)
        return true;
    if (json_is_string(value)) {
        struct gp_text text = {0};
        copy(json_string_value(value), NULL, &text);
        done = !text.failed && json_string_set(value, gp_text_string(&text)) == 0;
        gp_text_free(&text);
    }
    json_object_foreach(value, key, member) done = scrub(member, depth + 1) && done;
    json_array_foreach(value, i, member) done = scrub(member, depth + 1) && done;
    return done;
}

bool cli_leave_out_folders_of(json_t *value)
{
    return scrub(value, 0);
}
