/* The driver's own way of loading a tool: cuInit loads the library that CUDA_INJECTION64_PATH
 * names, and calls this function. It works where LD_PRELOAD was dropped on the way to the program,
 * and where a library reaches the driver past our exports. By then programs may have asked the
 * driver for its functions, the CUDA runtime has. */
#include "gate/internal_work.h"
#include "hook/entry.h"
#include "hook/imports.h"
#include "launch/unused.h"

#include <dlfcn.h>
#include <link.h>

#define INJECTED 1 /* the answer that means success */

GP_EXPORT int InitializeInjection(void);

/* A library that was loaded by dlmopen has a C library and a driver of its own, and the driver
 * loads us beside these. Threads of such a C library are not the process's: nothing is done there.
 */
static bool is_apart(void)
{
    Dl_info info;
    struct link_map *own = NULL;
    Lmid_t list = LM_ID_BASE;
    return dladdr1((void *)&InitializeInjection, &info, (void **)&own, RTLD_DL_LINKMAP) &&
           dlinfo(own, RTLD_DI_LMID, &list) == 0 && list != LM_ID_BASE;
}

GP_EXPORT int InitializeInjection(void)
{
    if (is_apart()) {
        gp_unused_driver_apart();
        return INJECTED;
    }
    gp_internal_work_begins();
    gp_unused_driver_begins();
    gp_real_dlsym_find();
    /* Where the linker had preloaded us libraries call us by themselves, but for those that were
     * bound past us. */
    if (gp_real_dlsym && gp_real_dlsym(RTLD_DEFAULT, "dlsym") == (void *)&dlsym)
        gp_imports_mend();
    else
        gp_imports_mend_all();
    gp_internal_work_ends();
    return INJECTED;
}
