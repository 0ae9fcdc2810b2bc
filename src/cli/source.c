#include "cli/source.h"

#include "base/demangle.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/how_ended.h"
#include "cli/source_text.h"
#include "profile/code_lines.h"
#include "profile/reader.h"

#include <stdlib.h>
#include <string.h>

enum { SASS, SORT, FOLDER, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [SASS] = {"sass", 0, NULL, "the machine instructions under the lines they come from", NULL,
              NULL, NULL, NULL, 0, NULL},
    [SORT] = {"sort", 0, "line|heat",
              "heat: the lines, or with --sass the instructions, at which most samples of warps "
              "were taken come first (line)",
              NULL, NULL, NULL, NULL, 0, NULL},
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

static bool wants_cubin(void *sources, const char *hash, size_t size)
{
    return gp_sources_wants_cubin(sources, hash, size);
}

bool cli_take_code(struct gp_sources *sources, const struct gp_profile_position *position,
                   const char *type, const struct json_t *line)
{
    const struct gp_code_visitor visitor = {
        .user = sources,
        .instructions = take_instructions,
        .cubin = take_cubin,
        .wants_cubin = wants_cubin,
    };
    static struct gp_say_limit said;
    const char *why;
    if (!gp_read_code_line(type, line, &visitor, &why))
        gp_say_limited(&said, 8, "%s:%zu: a line of type %s is left out: %s", position->path,
                       position->line, type, why);
    return true;
}

struct reading {
    struct gp_sources *sources;
    struct gp_profile_position position;
    struct cli_how_ended how_ended;
    bool is_profile; /* the file has a header */
};

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    cli_note_unfinished(&((struct reading *)user)->how_ended, process);
}

static bool take_header(void *user, const struct gp_profile_header *header)
{
    (void)header;
    ((struct reading *)user)->is_profile = true;
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    struct reading *r = user;
    return cli_take_code(r->sources, &r->position, type, line);
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

/* The kernel of that name, or else the only one with the word in its name. *count: those that have
 * it. */
static const struct gp_lines *choose(const struct gp_sources *sources, const char *name,
                                     size_t *count)
{
    const struct gp_lines *found = NULL;
    *count = 0;
    for (size_t i = 0; i < gp_sources_count(sources); i++)
        if (is_called(gp_sources_at(sources, i), name))
            return gp_sources_at(sources, i);
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        if (!mentions(gp_sources_at(sources, i), name))
            continue;
        found = gp_sources_at(sources, i);
        ++*count;
    }
    return *count == 1 ? found : NULL;
}

/* Lists the kernels that the name may mean; all, where none has it. */
static void list_kernels(const struct gp_sources *sources, const char *name, size_t count)
{
    if (gp_sources_count(sources) == 0) {
        gp_say("the profile has no counts of single instructions: no launch was counted that way, "
               "or an earlier gpuprof wrote it");
        return;
    }
    if (count > 0)
        gp_say("%zu kernels have '%s' in their names; say one of them in full, or more of it:",
               count, name);
    else
        gp_say("no kernel has '%s' in its name; the profile has", name);
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        const struct gp_lines *lines = gp_sources_at(sources, i);
        if (count > 0 && !mentions(lines, name))
            continue;
        char *full = gp_demangle(lines->source.kernel, GP_NAME_FULL);
        gp_say("   %s", full ? full : lines->source.kernel);
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
    const char *sort = values[SORT];
    if (sort && strcmp(sort, "heat") != 0 && strcmp(sort, "line") != 0) {
        gp_say("--sort: there is no order '%s'; say line or heat", sort);
        return CLI_USAGE;
    }
    struct gp_sources *sources = gp_sources_new();
    struct gp_text notes = {0};
    struct reading reading = {.sources = sources,
                              .how_ended = {.path = argv[first], .notes = &notes}};
    const struct gp_profile_visitor visitor = {.user = &reading,
                                               .header = take_header,
                                               .position = &reading.position,
                                               .unfinished = take_unfinished,
                                               .other = take_other};
    if (!sources) {
        gp_say("out of memory");
        return CLI_FAILED;
    }
    int answer = CLI_FAILED;
    bool read = gp_profile_read(argv[first], &visitor, &notes, why, sizeof(why));
    if (!read)
        gp_say("%s", why);
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    if (!reading.is_profile) {
        gp_sources_free(sources);
        return CLI_USAGE;
    }
    size_t candidates;
    const struct gp_lines *lines = choose(sources, argv[first + 1], &candidates);
    if (lines)
        answer = cli_print_source(
            lines, &(struct cli_source_options){.folder = values[FOLDER],
                                                .sass = values[SASS] != NULL,
                                                .by_heat = sort && strcmp(sort, "heat") == 0});
    else
        list_kernels(sources, argv[first + 1], candidates);
    gp_sources_free(sources);
    return read && !reading.how_ended.torn ? answer : CLI_FAILED;
}

const struct cli_command cli_source = {
    .name = "source",
    .arguments = "[options] PROFILE KERNEL",
    .help = "Print the source of a kernel with the counts and samples of its lines. KERNEL is its "
            "name, demangled "
            "with or without its parameters, or as the compiler made it; or a part of it that no "
            "other kernel has, letter by letter (no pattern).",
    .run = run_source,
    .options = options,
    .option_count = OPTION_COUNT,
};
