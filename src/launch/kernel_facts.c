#include "base/demangle.h"
#include "code/addresses.h"
#include "code/data_words.h"
#include "code/halves.h"
#include "code/textures.h"
#include "code/waits.h"
#include "launch/inside.h"
#include "launch/kernels.h"
#include "memory/modules.h"
#include "memory/textures.h"

/* Launches in a row that make a rule. */
#define HOST_CHANGES_RULE 2

const char *kernel_shown(struct gp_kernel *kernel)
{
    if (!kernel->shown)
        kernel->shown = gp_demangle(kernel->name, GP_NAME_BRIEF);
    return kernel->shown ? kernel->shown : kernel->name;
}

void kernel_reached(struct gp_kernel *kernel, bool further)
{
    if (kernel->reach != GP_REACH_FURTHER)
        kernel->reach = further ? GP_REACH_FURTHER : GP_REACH_DIRECT;
    kernel->direct += !further;
}

void kernel_ended(struct gp_kernel *kernel, double seconds)
{
    if (seconds > kernel->longest)
        kernel->longest = seconds;
    kernel->ended = true;
}

void kernel_load(struct gp_kernel *kernel, CUcontext context)
{
    CUfunction function = kernel->function;
    if (kernel->loaded_in == context || !gp_cuda.cuFuncLoad)
        return;
    kernel->loaded_in = context;
    /* A CUkernel is another function in each context. */
    if (function != kernel->handle &&
        gp_cuda.cuKernelGetFunction(&function, (CUkernel)kernel->handle) != CUDA_SUCCESS)
        return;
    /* Where the driver refuses, it loads the code at the launch. */
    gp_cuda.cuFuncLoad(function);
}

void kernel_took(struct gp_kernel *kernel, double ms)
{
    if (ms > 0 && (kernel->shortest_ms == 0 || ms < kernel->shortest_ms))
        kernel->shortest_ms = ms;
}

double kernel_shortest(const struct gp_kernel *kernel)
{
    return kernel->shortest_ms > 0 ? kernel->shortest_ms / 1e3 : kernel->longest;
}

bool gp_kernel_parameters(struct gp_kernel *kernel, const struct gp_launch *call, void *bytes,
                          size_t *size)
{
    kernel_ask_layout(kernel);
    return parameters_read(call, &kernel->layout, bytes, size);
}

void kernel_host_changed(struct gp_kernel *kernel, bool changed)
{
    kernel->host_changes = changed ? kernel->host_changes + 1 : 0;
    if (kernel->host_changes == HOST_CHANGES_RULE)
        kernel->runs_once =
            GP_REASON_TEXT(HOST_MEMORY, "page-locked host memory changes while the kernel runs");
}

const void *kernel_find_code(void *data, const char *function, size_t *size, struct gp_reason *why)
{
    struct gp_kernel *kernel = data;
    atomic_store_explicit(&kernel->is_read, true, memory_order_relaxed);
    return gp_module_code(kernel->module, function, size, why);
}

bool kernel_is(const struct gp_kernel *kernel, CUfunction handle)
{
    return kernel->handle == handle || kernel->function == handle;
}

/* The code is here: to have it again later may be to unpack an image anew. */
static void note_halves(struct gp_kernel *kernel, const void *code, size_t size, int cc)
{
    if (kernel->halves == GP_NOT_ASKED)
        kernel->halves = gp_code_may_compute_halves(code, size, cc) ? GP_MAYBE : GP_NEVER;
}

/* Asks the kernel's code, and remembers the answer. */
static bool ask_code(struct gp_kernel *kernel, enum gp_maybe *answer,
                     bool (*question)(const void *code, size_t size, int cc), int cc,
                     bool if_not_known)
{
    if (*answer == GP_NOT_ASKED) {
        size_t size;
        struct gp_reason why;
        const void *code = kernel_find_code(kernel, kernel->name, &size, &why);
        bool may = code ? question(code, size, cc) : if_not_known;
        if (code)
            note_halves(kernel, code, size, cc);
        *answer = may ? GP_MAYBE : GP_NEVER;
    }
    return *answer == GP_MAYBE;
}

bool kernel_may_use_textures(struct gp_kernel *kernel, int cc)
{
    return gp_textures_made() &&
           ask_code(kernel, &kernel->uses_textures, gp_code_may_use_textures, cc, true);
}

static int capability(const struct gp_device *device)
{
    return 10 * device->cc_major + device->cc_minor;
}

/* The driver compiles PTX at the load, and its machine code is not to be had. */
bool gp_kernel_may_wait(struct gp_kernel *kernel, const struct gp_device *device)
{
    const bool if_not_known =
        kernel->waits == GP_NOT_ASKED && gp_module_ptx_may_wait(kernel->module, kernel->name);
    return ask_code(kernel, &kernel->waits, gp_code_may_wait, capability(device), if_not_known);
}

uint64_t kernel_data_words(struct gp_kernel *kernel, const struct gp_device *device)
{
    size_t size;
    struct gp_reason why;
    if (!kernel->data_words_known) {
        const void *code = kernel_find_code(kernel, kernel->name, &size, &why);
        kernel->data_words = code ? gp_code_data_words(code, size, capability(device)) : 0;
        kernel->data_words_known = true;
    }
    return kernel->data_words;
}

const struct gp_address_words *kernel_address_words(struct gp_kernel *kernel, size_t bytes,
                                                    const struct gp_device *device)
{
    size_t size;
    struct gp_reason why;
    if (kernel->address_words_known == GP_NOT_ASKED) {
        const void *code = kernel_find_code(kernel, kernel->name, &size, &why);
        const bool known =
            code && gp_code_address_words(code, size, capability(device), (unsigned)(bytes + 3) / 4,
                                          &kernel->address_words);
        kernel->address_words_known = known ? GP_MAYBE : GP_NEVER;
    }
    return kernel->address_words_known == GP_MAYBE ? &kernel->address_words : NULL;
}

struct gp_parameter_uses kernel_parameter_uses(struct gp_kernel *kernel,
                                               const struct gp_device *device)
{
    size_t size;
    struct gp_reason why;
    if (!kernel->uses_known) {
        const void *code = kernel_find_code(kernel, kernel->name, &size, &why);
        if (code)
            kernel->uses = gp_code_parameter_uses(code, size, capability(device));
        kernel->uses_known = true;
    }
    return kernel->uses;
}

enum gp_write_addresses kernel_write_addresses(struct gp_kernel *kernel,
                                               const struct gp_device *device)
{
    size_t size;
    struct gp_reason why;
    if (!kernel->writes_known) {
        const void *code = kernel_find_code(kernel, kernel->name, &size, &why);
        kernel->writes =
            code ? gp_code_write_addresses(code, size, capability(device)) : GP_WRITES_ANYWHERE;
        kernel->writes_known = true;
    }
    return kernel->writes;
}

bool kernel_may_load_addresses(struct gp_kernel *kernel, const struct gp_device *device)
{
    return ask_code(kernel, &kernel->loads_addresses, gp_code_may_load_addresses,
                    capability(device), true);
}

bool kernel_may_poll(struct gp_kernel *kernel, const struct gp_device *device)
{
    return ask_code(kernel, &kernel->polls, gp_code_polls, capability(device), false);
}

bool kernel_may_spin(struct gp_kernel *kernel, const struct gp_device *device)
{
    return ask_code(kernel, &kernel->spins, gp_code_spins, capability(device), false);
}

bool kernel_may_compute_halves(const struct gp_kernel *kernel)
{
    return kernel->halves != GP_NEVER;
}

void *kernel_find_cubin(void *data, size_t most, size_t *size)
{
    const struct gp_kernel *kernel = data;
    return gp_module_slim(kernel->module, kernel->name, most, size);
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = 0;
    return gp_cuda.cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS ? value : 0;
}

unsigned kernel_registers(const struct gp_kernel *kernel)
{
    return (unsigned)attribute(kernel->function, CU_FUNC_ATTRIBUTE_NUM_REGS);
}

int kernel_carveout(const struct gp_kernel *kernel)
{
    return attribute(kernel->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
}

void function_describe(CUfunction f, struct gp_record *launch)
{
    launch->registers = (unsigned)attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS);
    launch->shared_static = (unsigned)attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    launch->local_bytes = (unsigned)attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    launch->max_threads_per_block = (unsigned)attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    launch->max_shared_dynamic =
        (unsigned)attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    launch->shared_carveout = attribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
}

void kernel_describe(const struct gp_kernel *kernel, struct gp_record *launch)
{
    launch->kernel = kernel->name;
    function_describe(kernel->function, launch);
}
