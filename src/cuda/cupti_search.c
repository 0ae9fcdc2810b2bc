#include "cuda/cupti_search.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void add_if_there(struct gp_text *paths,
                                                               const char *format, ...)
{
    char path[1024]; /* a longer one is left out */
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(path, sizeof(path), format, values);
    va_end(values);
    if (length > 0 && (size_t)length < sizeof(path) && access(path, R_OK) == 0)
        gp_text_add_bytes(paths, path, (size_t)length + 1);
}

/* NVIDIA's Python wheels have these files in a folder "nvidia". */
static const struct wheel {
    int cuda;
    const char *file;
} wheels[] = {{13, "cu13/lib/libcupti.so.13"}, {12, "cuda_cupti/lib/libcupti.so.12"}};
enum { WHEELS = sizeof(wheels) / sizeof(wheels[0]) };

/* ---- the program's --------------------------------------------------------------------------- */

struct loaded {
    struct gp_text beside, installed; /* paths */
    const char *folder;               /* of modules, the last one that was asked */
    int folder_length, driver;
};

static bool suits(const struct wheel *wheel, int driver)
{
    return driver == 0 || wheel->cuda <= driver / 1000;
}

/* "/x/libcudart.so.12" has it beside it, or, of a wheel for CUDA 12, in the wheel for CUPTI. */
static void ask_beside(const char *path, struct gp_text *paths)
{
    static const char *const names[] = {"libcudart.so.", "libcublas.so.", "libnvrtc.so."};
    const char *file = strrchr(path, '/') + 1;
    const int folder = (int)(file - path);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(file, names[i], strlen(names[i])) != 0)
            continue;
        const int cuda = atoi(file + strlen(names[i]));
        add_if_there(paths, "%.*slibcupti.so.%d", folder, path, cuda);
        add_if_there(paths, "%.*s../../cuda_cupti/lib/libcupti.so.%d", folder, path, cuda);
    }
}

/* "/x/lib/python3.12/site-packages/torch/lib/libtorch.so": a folder in which pip installs. */
static void ask_where_installed(const char *path, struct loaded *l)
{
    const char *end = strstr(path, "-packages/");
    const int length = end ? (int)(end - path + 10) : 0;
    if (!end || (l->folder && length == l->folder_length && strncmp(path, l->folder, length) == 0))
        return;
    l->folder = path;
    l->folder_length = length;
    for (size_t i = 0; i < WHEELS; i++)
        if (suits(&wheels[i], l->driver))
            add_if_there(&l->installed, "%.*snvidia/%s", length, path, wheels[i].file);
}

static int ask_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    struct loaded *l = data;
    (void)size;
    if (!strchr(info->dlpi_name, '/'))
        return 0;
    ask_beside(info->dlpi_name, &l->beside);
    ask_where_installed(info->dlpi_name, l);
    return 0;
}

/* ---- gpuprof's own --------------------------------------------------------------------------- */

/* The folder above that of this library, or of the command: "/x" of "/x/libexec/libgpuprof.so". The
 * caller frees it; NULL: not known. */
static char *find_prefix(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(wheels, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    char *prefix = realpath(*map->l_name ? map->l_name : "/proc/self/exe", NULL);
    for (int i = 0; prefix && *prefix && i < 2; i++)
        *strrchr(prefix, '/') = '\0';
    return prefix;
}

static void add_pattern(const char *prefix, const char *folder, const char *file,
                        struct gp_text *pattern)
{
    for (const char *p = prefix; *p; p++)
        gp_text_addf(pattern, strchr("\\*?[", *p) ? "\\%c" : "%c", *p);
    gp_text_addf(pattern, "/%snvidia/%s", folder, file);
}

/* An environment of Python's; with `pip install --target` modules lie in the prefix itself. */
static void ask_own(const struct wheel *wheel, const char *prefix, struct gp_text *paths)
{
    static const char *const folders[] = {"lib*/python3*/*-packages/", ""};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        struct gp_text pattern = {0};
        glob_t found = {0};
        add_pattern(prefix, folders[i], wheel->file, &pattern);
        if (!pattern.failed && glob(pattern.data, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                add_if_there(paths, "%s", found.gl_pathv[k]);
        globfree(&found);
        gp_text_free(&pattern);
    }
}

static void search_own(int driver, struct gp_text *paths)
{
    char *prefix = find_prefix();
    for (size_t i = 0; prefix && i < WHEELS; i++)
        if (suits(&wheels[i], driver))
            ask_own(&wheels[i], prefix, paths);
    free(prefix);
}

void gp_cupti_search(int driver, struct gp_text *paths)
{
    struct loaded l = {.driver = driver};
    dl_iterate_phdr(ask_loaded, &l);
    if (l.beside.length)
        gp_text_add_bytes(paths, l.beside.data, l.beside.length);
    if (l.installed.length)
        gp_text_add_bytes(paths, l.installed.data, l.installed.length);
    gp_text_free(&l.beside);
    gp_text_free(&l.installed);
    search_own(driver, paths);
}

/* ---- a profiler's ---------------------------------------------------------------------------- */

/* "/x/triton/_C/libproton.so" opens "/x/triton/backends/nvidia/lib/cupti/libcupti.so". */
static int ask_tool(struct dl_phdr_info *info, size_t size, void *paths)
{
    static const char library[] = "/_C/libproton.so";
    const size_t length = strlen(info->dlpi_name);
    (void)size;
    if (length < sizeof(library) ||
        strcmp(info->dlpi_name + length - (sizeof(library) - 1), library) != 0)
        return 0;
    const int folder = (int)(length - (sizeof(library) - 1));
    add_if_there(paths, "%.*s/backends/nvidia/lib/cupti/libcupti.so", folder, info->dlpi_name);
    add_if_there(paths, "%.*s/backends/nvidia/lib/cupti/libcupti.so.12", folder, info->dlpi_name);
    return 0;
}

void gp_cupti_search_of_tools(struct gp_text *paths)
{
    dl_iterate_phdr(ask_tool, paths);
}
