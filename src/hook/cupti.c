#include "hook/cupti.h"

#include "cuda/cupti.h"
#include "hook/entry.h"
#include "launch/tool.h"

#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* Copies of CUPTI that a process may have by dlsym: two, of CUDA and of a framework. */
#define COPIES 4

/* To listen to resources shows nothing of launches. */
#define GP_TOOL_HEARS(domain)                                                          \
    ((domain) == CUPTI_CB_DOMAIN_DRIVER_API || (domain) == CUPTI_CB_DOMAIN_RUNTIME_API \
         ? GP_TOOL_LISTENS                                                             \
         : GP_TOOL_ASKS)

/* ---- the call itself --------------------------------------------------------------------------
 */

#define AROUND(function, real, arguments, how, number, begins)                           \
    struct gp_tool_call call = {                                                         \
        .change = GP_TOOL_##how, .which = number, .on = begins, .real = (void *)(real)}; \
    if (!(real))                                                                         \
        return CUPTI_ERROR_NOT_INITIALIZED;                                              \
    gp_tool_calls(&call);                                                                \
    CUptiResult result = (real)arguments;                                                \
    gp_tool_called(&call, result == CUPTI_SUCCESS);                                      \
    return result

/* ---- by dlsym: a wrapper for each copy ------------------------------------------------------- */

enum row {
#define TOOL(function, parameters, arguments, change, which, on) ROW_##function,
#include "hook/cupti.def"
    ROWS
};
static _Atomic(void *) reals[COPIES][ROWS];

#define IN_COPY(copy, function, parameters, arguments, change, which, on)     \
    static CUptiResult CUPTIAPI function##_of_##copy parameters               \
    {                                                                         \
        __typeof__(&function) real =                                          \
            (__typeof__(&function))atomic_load(&reals[copy][ROW_##function]); \
        AROUND(function, real, arguments, change, which, on);                 \
    }
#define TOOL(...) IN_COPY(0, __VA_ARGS__)
#include "hook/cupti.def"
#define TOOL(...) IN_COPY(1, __VA_ARGS__)
#include "hook/cupti.def"
#define TOOL(...) IN_COPY(2, __VA_ARGS__)
#include "hook/cupti.def"
#define TOOL(...) IN_COPY(3, __VA_ARGS__)
#include "hook/cupti.def"

static const struct {
    const char *name;
    void *wrappers[COPIES], *exported;
} rows[] = {
#define TOOL(function, parameters, arguments, change, which, on)                 \
    {#function,                                                                  \
     {(void *)function##_of_0, (void *)function##_of_1, (void *)function##_of_2, \
      (void *)function##_of_3},                                                  \
     (void *)function},
#include "hook/cupti.def"
};

static size_t row_of(const char *name)
{
    size_t row = 0;
    if (strncmp(name, "cupti", 5) != 0)
        return ROWS;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        row++;
    return row;
}

void *gp_cupti_wrapper(const char *name, const void *real)
{
    const size_t row = row_of(name);
    for (size_t copy = 0; row < ROWS && copy < COPIES; copy++) {
        void *nobody = NULL;
        if (atomic_compare_exchange_strong(&reals[copy][row], &nobody, (void *)real) ||
            nobody == real)
            return rows[row].wrappers[copy];
    }
    return NULL;
}

void *gp_cupti_export(const char *name)
{
    const size_t row = row_of(name);
    return row < ROWS ? rows[row].exported : NULL;
}

/* ---- linked programs: the exports ------------------------------------------------------------ */

/* The function that the caller would have without us: of the libraries that it is linked with, or
 * of those behind us. */
static void *real_for(const char *name, const void *caller)
{
    Dl_info info;
    void *object = NULL, *found = NULL, *own = gp_cupti_export(name);
    if (!gp_real_dlsym)
        gp_real_dlsym_find();
    if (!gp_real_dlsym)
        return NULL;
    if (dladdr(caller, &info) && info.dli_fname)
        object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (object)
        found = gp_real_dlsym(object, name);
    if (object)
        dlclose(object);
    return found && found != own ? found : gp_real_dlsym(RTLD_NEXT, name);
}

#define TOOL(function, parameters, arguments, change, which, on)                     \
    GP_EXPORT CUptiResult CUPTIAPI function parameters                               \
    {                                                                                \
        __typeof__(&function) real =                                                 \
            (__typeof__(&function))real_for(#function, __builtin_return_address(0)); \
        AROUND(function, real, arguments, change, which, on);                        \
    }
#include "hook/cupti.def"
