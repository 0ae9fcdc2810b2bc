#include "cli/source.h"

#include "base/demangle.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/source_text.h"
#include "profile/code_lines.h"
#include "profile/reader.h"

#include <stdlib.h>
#include <string.h>

enum { SASS, FOLDER, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [SASS] = {"sass", 0, NULL, "the machine instructions under the lines they come from", NULL,
              NULL, NULL, NULL, 0, NULL},
    [FOLDER] = {"source-path", 0, "DIR",
                "search this folder for source files as well, by their names", NULL, NULL, NULL,
                NULL, 0, NULL},
};

static void take_instructions(void *sources, const struct gp_code_counts *counts)
{
    gp_sources_add(sources, counts);
}

static void take_cubin(void *sources, const struct gp_cubin_image *cubin)
{
    gp_sources_add_cubin(sources, cubin);
}

bool cli_take_code(struct gp_sources *sources, const char *type, const struct json_t *line)
{
    const struct gp_code_visitor visitor = {
        .user = sources, .instructions = take_instructions, .cubin = take_cubin};
    const char *why;
    if (!gp_read_code_line(type, line, &visitor, &why))
        gp_say("a line of type %s is left out: %s", type, why);
    return true;
}

struct reading {
    struct gp_sources *sources;
    bool is_profile; /* the file has a header */
};

static bool take_header(void *user, const struct gp_profile_header *header)
{
    (void)header;
    ((struct reading *)user)->is_profile = true;
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    return cli_take_code(((struct reading *)user)->sources, type, line);
}

static bool is_called(const struct gp_lines *lines, const char *name)
{
    char *full = gp_demangle(lines->source.kernel, GP_NAME_FULL);
    char *brief = gp_demangle(lines->source.kernel, GP_NAME_BRIEF);
    bool called = strcmp(lines->source.kernel, name) == 0 || (full && strcmp(full, name) == 0) ||
                  (brief && strcmp(brief, name) == 0);
    free(full);
    free(brief);
    return called;
}

static bool mentions(const struct gp_lines *lines, const char *name)
{
    char *full = gp_demangle(lines->source.kernel, GP_NAME_FULL);
    bool does = strstr(lines->source.kernel, name) || (full && strstr(full, name));
    free(full);
    return does;
}

/* The kernel of that name, or else the only one with the word in its name. */
static const struct gp_lines *choose(const struct gp_sources *sources, const char *name)
{
    const struct gp_lines *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < gp_sources_count(sources); i++)
        if (is_called(gp_sources_at(sources, i), name))
            return gp_sources_at(sources, i);
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        if (!mentions(gp_sources_at(sources, i), name))
            continue;
        found = gp_sources_at(sources, i);
        count++;
    }
    return count == 1 ? found : NULL;
}

static void list_kernels(const struct gp_sources *sources, const char *name)
{
    if (gp_sources_count(sources) == 0) {
        gp_say("the profile has no counts of single instructions: no launch was counted that way, "
               "or an earlier gpuprof wrote it");
        return;
    }
    gp_say("there is not one kernel of the name '%s'; the profile has", name);
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        char *full = gp_demangle(gp_sources_at(sources, i)->source.kernel, GP_NAME_FULL);
        gp_say("   %s", full ? full : gp_sources_at(sources, i)->source.kernel);
        free(full);
    }
}

static int run_source(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    char why[512];
    if (first < 0)
        return status;
    if (argc - first != 2) {
        gp_say("say which profile and which kernel ('gpuprof help source' tells more)");
        return CLI_USAGE;
    }
    struct gp_sources *sources = gp_sources_new();
    struct reading reading = {.sources = sources};
    const struct gp_profile_visitor visitor = {
        .user = &reading, .header = take_header, .other = take_other};
    if (!sources) {
        gp_say("out of memory");
        return CLI_FAILED;
    }
    int answer = CLI_FAILED;
    if (!gp_profile_read(argv[first], &visitor, NULL, why, sizeof(why)))
        gp_say("%s", why);
    if (!reading.is_profile) {
        gp_sources_free(sources);
        return CLI_USAGE;
    }
    const struct gp_lines *lines = choose(sources, argv[first + 1]);
    if (lines)
        answer = cli_print_source(lines, values[FOLDER], values[SASS] != NULL);
    else
        list_kernels(sources, argv[first + 1]);
    gp_sources_free(sources);
    return answer;
}

const struct cli_command cli_source = {
    .name = "source",
    .arguments = "[options] PROFILE KERNEL",
    .help = "Print the source of a kernel with the counts of its lines.",
    .run = run_source,
    .options = options,
    .option_count = OPTION_COUNT,
};
