/* Machine code of kernels that the program has as PTX. The driver gives the code that it compiles
 * at the load to nobody but CUPTI. So the text is loaded once more, beside the program's module,
 * and CUPTI tells the cubin: the driver's own compiler makes the same of the same text, and has it
 * in its cache. */
#include "counters/collector.h"
#include "launch/inside.h"

#include "base/clock.h"
#include "gate/captures.h"
#include "memory/modules.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The first guess of the driver's speed: a small kernel of 5 kB of text takes 10 ms. */
#define FIRST_SECONDS 0.002
#define FIRST_BYTES 1000.0

/* Written under the gate. */
static _Atomic double seconds = FIRST_SECONDS, bytes = FIRST_BYTES;

struct loading {
    const char *text;
    void *cubin; /* ours; NULL: none was heard of, or out of memory */
    size_t size;
};

static void load(void *data)
{
    const struct loading *l = data;
    CUmodule beside;
    if (gp_cuda.cuModuleLoadData(&beside, l->text) == CUDA_SUCCESS)
        gp_cuda.cuModuleUnload(beside); /* a failure leaves a module that nobody uses */
}

/* In the driver's locks: no other lock is taken here. */
static void heard(const void *cubin, size_t size, void *data)
{
    struct loading *l = data;
    if (l->cubin || !(l->cubin = malloc(size)))
        return;
    memcpy(l->cubin, cubin, size);
    l->size = size;
}

/* Returns whether it is done: later, more may be to be had. */
static bool compile(struct gp_kernel *kernel)
{
    struct gp_reason why;
    char *text = gp_module_ptx(kernel->module);
    struct loading l = {.text = text};
    if (!text)
        return true;
    const double began = gp_clock_seconds();
    const bool asked = gp_collectors_hear_cubins(load, heard, &l, &why);
    if (asked) {
        atomic_store(&seconds, atomic_load(&seconds) + gp_clock_seconds() - began);
        atomic_store(&bytes, atomic_load(&bytes) + (double)strlen(text));
        gp_module_compiled(kernel->module, l.cubin, l.size,
                           "the PTX of the kernel's module could not be compiled once more");
    }
    free(l.cubin);
    free(text);
    return asked;
}

void kernel_compile(struct gp_kernel *kernel)
{
    if (kernel->is_compiled || gp_captures() > 0)
        return;
    kernel->is_compiled = compile(kernel);
    if (kernel->is_compiled)
        gp_module_check_registers(kernel->module, kernel->name, kernel_registers(kernel));
}

double kernel_compiling_seconds(const struct gp_kernel *kernel)
{
    return kernel->is_compiled ? 0
                               : atomic_load(&seconds) / atomic_load(&bytes) *
                                     (double)gp_module_ptx_bytes(kernel->module);
}
