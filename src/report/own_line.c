#include "report/own_line.h"

#include "base/escape.h"

#include <string.h>

/* Folders of headers that come with the toolkit, with NVIDIA's libraries of templates, or with a
 * package of Python's. */
static bool is_of_library(const struct gp_frame *frame)
{
    static const char *const folders[] = {
        "/targets/x86_64-linux/include/",
        "/targets/sbsa-linux/include/",
        "/usr/local/cuda/include/",
        "/opt/cuda/include/",
        "/usr/include/",
        "/usr/local/include/",
        "/include/cutlass/",
        "/include/cute/",
        "/include/cub/",
        "/include/thrust/",
        "/cuda/std/",
        "/cuda/__",
        "/include/cooperative_groups/",
        "/cub/cub/",
        "/thrust/thrust/",
        "/libcudacxx/include/",
        "/torch/include/",
        "/triton/language/",
    };
    struct gp_text path = {0};
    bool is_one = false;
    gp_text_addf(&path, "/%s/%s", frame->file[0] == '/' ? "" : frame->directory, frame->file);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        is_one = is_one || strstr(gp_text_string(&path), folders[i]);
    gp_text_free(&path);
    return is_one;
}

/* A file that is compiled by itself, and no header. */
static bool is_unit(const struct gp_frame *frame)
{
    static const char *const ends[] = {".cu", ".py", ".cpp", ".cc", ".cxx", ".c"};
    const char *dot = strrchr(frame->file, '.');
    bool is_one = false;
    for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
        is_one = is_one || strcmp(dot, ends[i]) == 0;
    return is_one && !is_of_library(frame);
}

static bool is_of_author(const struct gp_frame *frame)
{
    return !is_of_library(frame);
}

/* NULL: there is none. */
static const struct gp_frame *innermost(const struct gp_frame *frames, size_t count,
                                        bool (*is_one)(const struct gp_frame *frame))
{
    for (size_t i = 0; i < count; i++)
        if (is_one(&frames[i]))
            return &frames[i];
    return NULL;
}

const struct gp_frame *gp_own_frame(const struct gp_frame *frames, size_t count)
{
    const struct gp_frame *outermost = &frames[count - 1], *own = NULL;
    if (!is_unit(outermost))
        own = innermost(frames, count, is_unit);
    if (!own && is_of_library(outermost))
        own = innermost(frames, count, is_of_author);
    for (size_t i = 0; !own; i++)
        if (strcmp(frames[i].file, outermost->file) == 0)
            own = &frames[i];
    return own;
}

const char *gp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Names of files in a cubin are anybody's. */
static void add_line(const struct gp_frame *frame, struct gp_text *out)
{
    const char *name = gp_base_name(frame->file);
    gp_text_add_escaped(out, name, strlen(name));
    gp_text_addf(out, ":%u", frame->line);
}

void gp_own_line_text(const struct gp_frame *own, const struct gp_frame *innermost,
                      struct gp_text *out)
{
    bool elsewhere = strcmp(innermost->file, own->file) != 0;
    if (elsewhere) {
        add_line(own, out);
        gp_text_add(out, " (");
    }
    add_line(innermost, out);
    gp_text_add(out, elsewhere ? ")" : "");
}
