/* Each function that is launched: its name, whether the user wants it. Owns the table. From any
 * thread; the parts of a kernel with the gate locked. */
#ifndef GPUPROF_LAUNCH_KERNELS_H
#define GPUPROF_LAUNCH_KERNELS_H

#include "base/hash.h"
#include "base/text.h"
#include "counters/collector.h"
#include "cuda/driver.h"
#include "launch/launch.h"
#include "profile/record.h"

#include <stdatomic.h>

struct gp_kernel;

/* Whether a launch of the function is to be measured: the user has selected it, and nothing is
 * known that speaks against it: that the kernel was seen not to end by itself (unending), say. From
 * any thread. */
enum gp_interest { GP_NOT_SELECTED, GP_REFUSED, GP_UNENDING, GP_WANTED };
enum gp_interest gp_kernel_interest(CUfunction function,
                                    const struct gp_configuration *configuration);
/* Why launches are passed over of a kernel that is selected and not wanted. */
enum gp_passed_over gp_kernel_why_not(enum gp_interest interest);

/* The function behind a handle that is being launched; NULL when out of memory. Valid while the
 * gate is locked: modules are unloaded, and their functions forgotten, only while it is open. */
struct gp_kernel *gp_kernel_find(CUfunction function);

/* Adds the mangled name of the function behind a handle that is being launched. */
void gp_kernel_add_name(CUfunction function, struct gp_text *text);

/* The program has made a graph that kernels can launch; true from then on. */
void gp_kernels_can_launch_graphs(void);
bool gp_kernels_launch_graphs(void);
/* True when kernels of its module may, as far as is known. From any thread. */
bool gp_kernel_may_launch_graphs(CUfunction function);

/* Writes the parameters of a launch of it, see launch/parameters.c. */
bool gp_kernel_parameters(struct gp_kernel *kernel, const struct gp_launch *call, void *bytes,
                          size_t *size);

/* True when it may wait for the host or for other work, by its code; also where that is not known.
 * Asked only of a kernel that takes long. */
bool gp_kernel_may_wait(struct gp_kernel *kernel, const struct gp_device *device);

/* True where that holds for a kernel of the module or library. */
bool gp_kernels_held(const void *module, bool is_library);

/* True where one of them ran in a pass, or one that was forgotten with all and may be of the
 * module. While nothing is measured. */
bool gp_kernels_collected(const void *module, bool is_library);
/* True where kernels of modules that are not known have. */
bool gp_kernels_collected_somewhere(void);

/* Drops the functions of a module or library, and those that may be of it, whose handles are about
 * to be given to others; all of them with NULL. How often they were launched stays known, by their
 * names. */
void gp_kernels_forget(const void *module, bool is_library);
/* Drops those that go with a context, or may. */
void gp_kernels_forget_context(CUcontext context);

#endif
