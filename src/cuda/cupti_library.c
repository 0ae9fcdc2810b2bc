#include "cuda/cupti_library.h"

#include "base/checker.h"
#include "base/imports.h"
#include "base/text.h"
#include "cuda/cupti_search.h"
#include "cuda/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int note_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    if (strncmp(name_of(info->dlpi_name), "libcupti.so", 11) != 0)
        return 0;
    gp_text_add(data, info->dlpi_name);
    return 1;
}

static void *open_loaded(void)
{
    struct gp_text path = {0};
    dl_iterate_phdr(note_loaded, &path);
    void *handle = path.length ? dlopen(path.data, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    gp_text_free(&path);
    return handle;
}

/* NVIDIA's wheels have no libcupti.so, only the versioned name. */
static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void *open_in(const char *toolkit, const char *folder)
{
    void *handle = NULL;
    for (size_t i = NAMES; i-- > 0 && !handle;) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%s/%s/%s", toolkit, folder, names[i]);
        if (!path.failed)
            handle = dlopen(path.data, RTLD_LAZY | RTLD_LOCAL);
        gp_text_free(&path);
    }
    return handle;
}

static void *open_below(const char *toolkit)
{
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    void *handle = NULL;
    for (size_t i = 0; toolkit && *toolkit && !handle && i < sizeof(folders) / sizeof(folders[0]);
         i++)
        handle = open_in(toolkit, folders[i]);
    return handle;
}

static void *open_named(void)
{
    void *handle = NULL;
    for (size_t i = 0; !handle && i < NAMES; i++)
        handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    return handle;
}

/* CUDA 12.6 brought the Range Profiler. One that is closed has not been used. */
static bool is_too_old(void *handle)
{
    return !gp_real_dlsym(handle, "cuptiRangeProfilerEnable");
}

/* The first that can be loaded; each path ends with a NUL. */
static void *open_first(struct gp_text *paths, bool old_too)
{
    void *handle = NULL;
    for (size_t at = 0; !handle && at < paths->length; at += strlen(paths->data + at) + 1) {
        handle = dlopen(paths->data + at, RTLD_LAZY | RTLD_LOCAL);
        if (handle && !old_too && is_too_old(handle)) {
            dlclose(handle);
            handle = NULL;
        }
    }
    gp_text_free(paths);
    return handle;
}

static void *open_of_wheels(bool old_too)
{
    struct gp_text paths = {0};
    int driver = 0;
    if (gp_cuda.cuDriverGetVersion && gp_cuda.cuDriverGetVersion(&driver) != CUDA_SUCCESS)
        driver = 0;
    gp_cupti_search(driver, &paths);
    return open_first(&paths, old_too);
}

static void *open_of_tool(void)
{
    struct gp_text paths = {0};
    gp_cupti_search_of_tools(&paths);
    return open_first(&paths, false);
}

/* Opens libcupti. `file` and `toolkit` are GPUPROF_CUPTI and CUDA_HOME of the environment. */
static void *open_itself(const char *file, const char *toolkit, struct gp_reason *why)
{
    if (file && *file) {
        void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
        if (!handle)
            *why = GP_REASON_TEXT(NO_CUPTI,
                                  "the file GPUPROF_CUPTI names cannot be loaded as libcupti.so");
        return handle; /* the user's word is final */
    }
    void *handle = open_of_tool();
    if (!handle)
        handle = open_loaded();
    if (!handle)
        handle = open_of_wheels(false);
    if (!handle)
        handle = open_below(toolkit);
    if (!handle)
        handle = open_below("/usr/local/cuda");
    if (!handle)
        handle = open_named();
    if (!handle)
        handle = open_of_wheels(true);
    if (!handle)
        *why = GP_REASON_TEXT(
            NO_CUPTI, "libcupti.so was not found; set CUDA_HOME to a CUDA toolkit 12.6 or later, "
                      "or GPUPROF_CUPTI to the file, or pip install 'gpuprof[cupti]'");
    return handle;
}

/* The program's libraries begin, ours among them. */
static bool begun;
__attribute__((constructor)) static void begin(void)
{
    begun = true;
}

bool gp_libraries_have_begun(void)
{
    return begun;
}

/* CUPTI opens its parts with RTLD_DEEPBIND and RTLD_GLOBAL. The runtime of a sanitizer ends a
 * process for the first, and for the second the linker of glibc dies where the program's libraries
 * have not begun: it counts those that are to begin among all that are global. There CUPTI calls
 * this. */
static void *open_plainly(const char *file, int mode)
{
    const int refused = (gp_checker_is_here() ? RTLD_DEEPBIND : 0) | (begun ? 0 : RTLD_GLOBAL);
    return dlopen(file, mode & ~refused);
}

static void *for_import(void *unused, const char *symbol, void *address)
{
    (void)unused;
    (void)address;
    return strcmp(symbol, "dlopen") == 0 ? (void *)open_plainly : NULL;
}

static int change_cupti(struct dl_phdr_info *object, size_t size, void *unused)
{
    size_t changed;
    (void)size;
    if (strncmp(name_of(object->dlpi_name), "libcupti.so", 11) == 0)
        gp_imports_change(object, for_import, unused, &changed);
    return 0;
}

/* libcupti opens these by name, and finds them only in a folder that the loader searches: those
 * beside it, of its own version, are loaded first. Missing ones are its own to report. */
static void open_parts(void *handle)
{
    const bool checked = gp_checker_is_here();
    static const char *const parts[] = {"libnvperf_host.so", "libnvperf_target.so"};
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !strchr(map->l_name, '/'))
        return;
    if (checked || !begun)
        dl_iterate_phdr(change_cupti, NULL);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%.*s/%s", (int)(strrchr(map->l_name, '/') - map->l_name), map->l_name,
                     parts[i]);
        if (!path.failed)
            dlopen(path.data, RTLD_LAZY | RTLD_LOCAL | (checked ? 0 : RTLD_DEEPBIND));
        gp_text_free(&path);
    }
}

/* Names of the loader's are read here. Its lock guards these, which the tool cannot see. */
#if defined(__SANITIZE_THREAD__)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#else
#define AnnotateIgnoreReadsBegin(file, line)
#define AnnotateIgnoreReadsEnd(file, line)
#endif

void *gp_cupti_open(const char *file, const char *toolkit, struct gp_reason *why)
{
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    void *handle = open_itself(file, toolkit, why);
    if (handle)
        open_parts(handle);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    return handle;
}
