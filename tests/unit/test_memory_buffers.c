/* memory/buffers and memory/modules, on a driver of a few functions made here. */
#include "memory/buffers.h"
#include "memory/inside.h"
#include "memory/modules.h"
#include "memory/sharing.h"

#include "one_gpu.h"
#include "sim/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int lookups;

static CUresult fake_device_pointer(CUdeviceptr *device, void *host, unsigned flags)
{
    (void)flags;
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdeviceptr)(uintptr_t)host + 0x1000;
    return CUDA_SUCCESS;
}

/* "counter" lies at 0x9000 in a module, at 0x10000 times the context in a library. */
static CUresult fake_module_global(CUdeviceptr *address, size_t *size, CUmodule module,
                                   const char *name)
{
    (void)module;
    lookups++;
    if (strcmp(name, "counter") != 0)
        return CUDA_ERROR_NOT_FOUND;
    *address = 0x9000;
    *size = 4;
    return CUDA_SUCCESS;
}

static CUresult fake_library_global(CUdeviceptr *address, size_t *size, CUlibrary library,
                                    const char *name)
{
    (void)library;
    lookups++;
    if (strcmp(name, "counter") != 0)
        return CUDA_ERROR_NOT_FOUND;
    *address = 0x10000 * (CUdeviceptr)(uintptr_t)current;
    *size = 4;
    return CUDA_SUCCESS;
}

static CUresult fake_pointer(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        *(int *)data = 0;
    else if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
        *(CUmemoryPool *)data = (CUmemoryPool)(uintptr_t)0x40;
    return address == 0x5000 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Every 4 kB are an allocation. */
static CUresult fake_range(CUdeviceptr *start, size_t *size, CUdeviceptr address)
{
    *start = address & ~(CUdeviceptr)0xfff;
    *size = 0x1000;
    return CUDA_SUCCESS;
}

static int fake_driver(void **state)
{
    (void)state;
    one_gpu();
    gp_cuda.cuPointerGetAttribute = fake_pointer;
    gp_cuda.cuMemGetAddressRange_v2 = fake_range;
    gp_cuda.cuMemHostGetDevicePointer_v2 = fake_device_pointer;
    gp_cuda.cuModuleGetGlobal_v2 = fake_module_global;
    gp_cuda.cuLibraryGetGlobal = fake_library_global;
    current = CONTEXT(1);
    return 0;
}

static int empty(void **state)
{
    (void)state;
    gp_memory_forget_context(CONTEXT(1));
    gp_memory_forget_context(CONTEXT(2));
    return 0;
}

struct total {
    int buffers;
    size_t bytes;
};

static void count(const struct gp_buffer *buffer, void *data)
{
    struct total *total = data;
    total->buffers++;
    total->bytes += buffer->size;
}

static struct total total_of(CUcontext context)
{
    struct total total = {0};
    gp_buffers_each(context, 0, count, &total);
    return total;
}

static void a_buffer_is_there_until_it_is_freed(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 100);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x2000, 200);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 2);
    assert_int_equal(total_of(CONTEXT(1)).bytes, 300);
    gp_buffer_discard(gp_buffer_take(0x1000));
    assert_int_equal(total_of(CONTEXT(1)).bytes, 200);
    assert_null(gp_buffer_take(0x1000));
    gp_buffer_discard(gp_buffer_take(0x2000));
}

static void a_free_that_failed_puts_the_buffer_back(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 100);
    struct gp_buffer *buffer = gp_buffer_take(0x1000);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    gp_buffer_put_back(buffer);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    gp_buffer_put_back(NULL);
    gp_buffer_discard(NULL);
    gp_buffer_discard(gp_buffer_take(0x1000));
}

static void an_address_that_comes_back_is_one_buffer(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 100);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 700); /* its free was never seen */
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    assert_int_equal(total_of(CONTEXT(1)).bytes, 700);
    gp_buffer_discard(gp_buffer_take(0x1000));
}

static void ignore_change(const struct gp_buffer *buffer, bool added, void *data)
{
    (void)buffer, (void)added, (void)data;
}

/* How many changes there were. */
static uint64_t generation(void)
{
    uint64_t since = 0;
    buffers_changes(&since, CONTEXT(1), 0, ignore_change, NULL);
    return since;
}

static void nothing_is_entered_for_nothing(void **state)
{
    (void)state;
    uint64_t before = generation();
    gp_buffer_add(GP_BUFFER_DEVICE, 0, 100);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 0);
    gp_buffer_add_host(NULL, 100); /* the driver maps it nowhere */
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    assert_int_equal(generation(), before);
}

static void every_change_changes_the_generation(void **state)
{
    (void)state;
    uint64_t first = generation();
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 100);
    uint64_t second = generation();
    assert_true(second != first);
    gp_buffer_discard(gp_buffer_take(0x1000));
    assert_true(generation() != second);
}

static void a_context_has_its_own_buffers_and_the_common_ones(void **state)
{
    (void)state;
    char host[16];
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 1);
    current = CONTEXT(2);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x2000, 10);
    gp_buffer_add(GP_BUFFER_MANAGED, 0x3000, 100);
    gp_buffer_add_host(host, 1000);
    assert_int_equal(total_of(CONTEXT(1)).bytes, 1101);
    assert_int_equal(total_of(CONTEXT(2)).bytes, 1110);
    gp_memory_forget_context(CONTEXT(2));
    assert_int_equal(total_of(CONTEXT(2)).bytes, 1100);
    gp_buffer_discard(gp_buffer_take(0x3000));
    gp_buffer_discard(gp_buffer_take((CUdeviceptr)(uintptr_t)host));
}

static void memory_of_no_context_goes_when_the_driver_forgets_it(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_MANAGED, 0x4000, 1);
    gp_buffer_add(GP_BUFFER_MANAGED, 0x5000, 10); /* gone with its context */
    gp_memory_forget_context(CONTEXT(2));
    assert_int_equal(total_of(CONTEXT(1)).bytes, 1);
    gp_buffer_discard(gp_buffer_take(0x4000));
}

static void note_why(const struct gp_buffer *buffer, void *data)
{
    *(const char **)data = buffer->not_ours.text;
}

/* The reason why the one buffer that the context can reach is not ours; "none" where there is no
 * such buffer. */
static const char *why_of(CUcontext context, int device)
{
    const char *why = "none";
    gp_buffers_each(context, device, note_why, &why);
    return why;
}

static void mapped_memory_counts_for_devices_that_may_write_it(void **state)
{
    (void)state;
    gp_mapping_add(0x100000, 0x1000, 7);
    gp_mapping_add(0x101000, 0x1000, 8);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    gp_mapping_set_access(0x100000, 0x1000, 1, true); /* another GPU's */
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    assert_null(why_of(CONTEXT(1), 1));
    gp_mapping_set_access(0x100000, 0x1000, 0, true); /* two writers */
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_SEVERAL_GPUS.text);
    assert_string_equal(why_of(CONTEXT(1), 1), GP_OF_SEVERAL_GPUS.text);
    gp_mapping_set_access(0x100000, 0x1000, 1, false);
    assert_null(why_of(CONTEXT(1), 0));
    assert_string_equal(why_of(CONTEXT(1), 1), "none");
    gp_mapping_set_access(0x100000, 0x2000, 0, true);
    assert_int_equal(total_of(CONTEXT(2)).bytes, 0x2000); /* in every context of the device */
    gp_mapping_set_access(0x100000, 0x1000, 0, false);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    gp_mapping_set_host_access(0x100000, 0x2000, true);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_THE_HOST.text);
    gp_mapping_set_host_access(0x100000, 0x2000, false);
    assert_null(why_of(CONTEXT(1), 0));
    gp_mapping_remove(0x100000, 0x2000);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
}

static void physical_memory_is_shared_wherever_it_is_mapped(void **state)
{
    (void)state;
    gp_mapping_add(0x100000, 0x1000, 9);
    gp_mapping_set_access(0x100000, 0x1000, 0, true);
    assert_null(why_of(CONTEXT(1), 0));
    gp_physical_shared(9);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_ANOTHER_PROCESS.text);
    gp_mapping_remove(0x100000, 0x1000);
    gp_mapping_add(0x200000, 0x1000, 9);
    gp_mapping_set_access(0x200000, 0x1000, 0, true);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_ANOTHER_PROCESS.text);
    gp_mapping_remove(0x200000, 0x1000);
    gp_physical_made(9); /* the handle is given out again */
    gp_mapping_add(0x300000, 0x1000, 9);
    gp_mapping_set_access(0x300000, 0x1000, 0, true);
    assert_null(why_of(CONTEXT(1), 0));
    gp_mapping_remove(0x300000, 0x1000);
}

static void memory_of_another_process_is_everybodys(void **state)
{
    (void)state;
    gp_buffer_add_foreign(0x7010, 0, GP_OF_ANOTHER_PROCESS); /* the driver knows its size */
    assert_int_equal(total_of(CONTEXT(2)).bytes, 0x1000);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_ANOTHER_PROCESS.text);
    struct gp_buffer *buffer = gp_buffer_take(0x7010);
    assert_true(gp_buffer_is_there(buffer));
    assert_false(gp_buffer_is_there(NULL));
    gp_buffer_discard(buffer);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x8000, 0x1000);
    gp_buffer_shared(0x8123); /* given to another one */
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_ANOTHER_PROCESS.text);
    gp_buffer_discard(gp_buffer_take(0x8000));
    assert_int_equal(gp_memory_replay_barred().cause, GP_CAUSE_NONE);
}

static void a_pool_is_its_devices_until_others_have_access(void **state)
{
    (void)state;
    CUmemoryPool pool = (CUmemoryPool)(uintptr_t)0x40;
    gp_buffer_add_pooled(0x6000, 0x100);
    assert_null(why_of(CONTEXT(1), 0));
    assert_string_equal(why_of(CONTEXT(1), 3), "none");
    gp_pool_set_access((CUmemoryPool)(uintptr_t)0x41, 3, true);
    assert_null(why_of(CONTEXT(1), 0));
    gp_pool_set_access(pool, 3, true);
    assert_string_equal(why_of(CONTEXT(1), 0), GP_OF_SEVERAL_GPUS.text);
    assert_string_equal(why_of(CONTEXT(1), 3), GP_OF_SEVERAL_GPUS.text);
    gp_buffer_discard(gp_buffer_take(0x6000));
    gp_buffer_add_pooled(0x6000, 0x100); /* had from it afterwards */
    assert_string_equal(why_of(CONTEXT(1), 3), GP_OF_SEVERAL_GPUS.text);
    gp_pool_set_access(pool, 3, false);
    assert_null(why_of(CONTEXT(1), 0));
    gp_pool_forget(pool);
    gp_buffer_discard(gp_buffer_take(0x6000));
}

static void peers_are_known_until_one_of_them_goes(void **state)
{
    (void)state;
    CUcontext peers[2];
    gp_peer_enabled(CONTEXT(5), CONTEXT(6));
    gp_peer_enabled(CONTEXT(5), CONTEXT(6));
    gp_peer_enabled(CONTEXT(7), CONTEXT(6));
    gp_peer_enabled(CONTEXT(6), CONTEXT(5));
    assert_true(peer_reaches(CONTEXT(5), CONTEXT(6)));
    assert_false(peer_reaches(CONTEXT(5), CONTEXT(7)));
    assert_int_equal(gp_peers_of(CONTEXT(6), peers, 2), 2);
    assert_int_equal(gp_peers_of(CONTEXT(6), peers, 1), 2);
    assert_ptr_equal(peers[0], CONTEXT(5));
    gp_memory_forget_context(CONTEXT(5));
    assert_int_equal(gp_peers_of(CONTEXT(6), peers, 2), 1);
    assert_ptr_equal(peers[0], CONTEXT(7));
    gp_memory_forget_context(CONTEXT(6));
    assert_int_equal(gp_peers_of(CONTEXT(6), peers, 2), 0);
}

static void many_buffers_are_found_again(void **state)
{
    (void)state;
    for (CUdeviceptr i = 1; i <= 20000; i++)
        gp_buffer_add(GP_BUFFER_DEVICE, i * 256, 256);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 20000);
    for (CUdeviceptr i = 1; i <= 20000; i++) {
        struct gp_buffer *buffer = gp_buffer_take(i * 256);
        assert_non_null(buffer);
        gp_buffer_discard(buffer);
    }
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
}

static const char ptx[] = ".version 8.0\n.global .u32 counter;\n.global .u32 of_another_chip;\n";

static void a_modules_variables_become_buffers_when_resolved(void **state)
{
    (void)state;
    CUmodule module = (CUmodule)(uintptr_t)0x77;
    lookups = 0;
    gp_module_loaded(module, ptx);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    assert_int_equal(lookups, 0); /* loading stays as cheap as it was */
    gp_modules_resolve(CONTEXT(1));
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    assert_int_equal(lookups, 2);
    gp_modules_resolve(CONTEXT(1));
    assert_int_equal(lookups, 2); /* once is enough */
    current = CONTEXT(2);
    gp_modules_resolve(CONTEXT(2));
    assert_int_equal(total_of(CONTEXT(2)).buffers, 0); /* the module is not in that context */
    gp_module_unloading(module);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
}

/* ---- variables of one section ---- */

#define VARIABLES 60
#define APART 16 /* bytes from one to the next, as the image has them */

static char names[VARIABLES][8];
static struct gpusim_image_global globals[VARIABLES];
/* The variables lie so far from each other; one of them elsewhere, one is not known. */
static uint64_t distance;
static unsigned elsewhere, unknown;

static CUresult variable_at(CUdeviceptr *address, size_t *size, const char *name)
{
    unsigned i = VARIABLES;
    lookups++;
    if (sscanf(name, "v%u", &i) != 1 || i >= VARIABLES || i == unknown)
        return CUDA_ERROR_NOT_FOUND;
    *address = 0x40000 + i * distance + (i == elsewhere) * 0x100000;
    *size = 1;
    return CUDA_SUCCESS;
}

static CUresult variable_of_module(CUdeviceptr *address, size_t *size, CUmodule module,
                                   const char *name)
{
    (void)module;
    return variable_at(address, size, name);
}

static CUresult variable_of_library(CUdeviceptr *address, size_t *size, CUlibrary library,
                                    const char *name)
{
    (void)library;
    return strcmp(name, "v33") == 0 ? CUDA_ERROR_NOT_FOUND : variable_at(address, size, name);
}

static CUresult any_of_library(CUdeviceptr *address, size_t *size, CUlibrary library,
                               const char *name)
{
    (void)library;
    return variable_at(address, size, name);
}

static CUresult managed_of_library(CUdeviceptr *address, size_t *size, CUlibrary library,
                                   const char *name)
{
    (void)library;
    return variable_at(address, size, name);
}

static struct total variables_of(bool library)
{
    size_t bytes;
    void *image = gpusim_image_build(NULL, 0, globals, VARIABLES, &bytes);
    assert_non_null(image);
    gp_cuda.cuModuleGetGlobal_v2 = variable_of_module;
    gp_cuda.cuLibraryGetGlobal = variable_of_library;
    gp_cuda.cuLibraryGetManaged = managed_of_library;
    lookups = 0;
    if (library)
        gp_library_loaded((CUlibrary)(uintptr_t)0x99, image, false);
    else
        gp_module_loaded((CUmodule)(uintptr_t)0x99, image);
    free(image);
    gp_modules_resolve(CONTEXT(1));
    const struct total total = total_of(CONTEXT(1));
    gp_module_unloading((void *)(uintptr_t)0x99);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    gp_cuda.cuModuleGetGlobal_v2 = fake_module_global;
    gp_cuda.cuLibraryGetGlobal = fake_library_global;
    gp_cuda.cuLibraryGetManaged = NULL;
    return total;
}

static int make_variables(void **state)
{
    distance = APART;
    elsewhere = unknown = VARIABLES;
    for (unsigned i = 0; i < VARIABLES; i++) {
        snprintf(names[i], sizeof(names[i]), "v%02u", i);
        globals[i] = (struct gpusim_image_global){names[i], 1, NULL, GPUSIM_IMAGE_GLOBAL};
    }
    (void)fake_driver(state);
    return empty(state);
}

static void variables_of_a_section_are_one_buffer(void **state)
{
    (void)state;
    for (int library = 0; library < 2; library++) {
        const struct total total = variables_of(library);
        assert_int_equal(total.buffers, 1);
        assert_int_equal(total.bytes, (VARIABLES - 1) * APART + 1);
        assert_int_equal(lookups, 3);
    }
}

static void variables_that_lie_otherwise_are_buffers_each(void **state)
{
    (void)state;
    distance = 2 * APART;
    assert_int_equal(variables_of(false).buffers, VARIABLES);
    distance = APART;
    elsewhere = VARIABLES - 1;
    assert_int_equal(variables_of(false).buffers, VARIABLES);
    elsewhere = VARIABLES / 2;
    assert_int_equal(variables_of(false).buffers, VARIABLES);
    elsewhere = VARIABLES;
    unknown = 0;
    assert_int_equal(variables_of(false).buffers, VARIABLES - 1);
}

static void a_managed_variable_lies_apart_from_its_section(void **state)
{
    (void)state;
    globals[33].memory = GPUSIM_IMAGE_MANAGED;
    elsewhere = 33;
    for (int library = 0; library < 2; library++) {
        const struct total total = variables_of(library);
        assert_int_equal(total.buffers, 2);
        assert_int_equal(total.bytes, (VARIABLES - 1) * APART + 2);
    }
}

/* The wrapper of a linked program leads to the objects that it was linked of as well. There three
 * variables lie beside each other that have others between them in the linked one. */
static void parts_of_an_image_leave_a_section_whole(void **state)
{
    (void)state;
    struct gpusim_image_global some[] = {globals[0], globals[20], globals[40]};
    size_t bytes;
    void *linked = gpusim_image_build(NULL, 0, globals, VARIABLES, &bytes);
    void *object = gpusim_image_build(NULL, 0, some, 3, &bytes);
    assert_non_null(linked);
    assert_non_null(object);
    for (int objects_first = 0; objects_first < 2; objects_first++) {
        const void *parts[] = {objects_first ? linked : object, NULL};
        const struct {
            unsigned magic, version;
            const void *data, *linked;
        } wrapper = {0x466243b1, 2, objects_first ? object : linked, parts};
        struct gp_ranges ranges = {0};
        gp_cuda.cuLibraryGetGlobal = any_of_library;
        gp_library_loaded((CUlibrary)(uintptr_t)0x99, &wrapper, false);
        gp_modules_resolve(CONTEXT(1));
        assert_true(ranges_update(&ranges, CONTEXT(1), 0));
        assert_int_equal(ranges.bytes, (VARIABLES - 1) * APART + 1);
        ranges_free(&ranges);
        assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
        gp_module_unloading((void *)(uintptr_t)0x99);
        gp_cuda.cuLibraryGetGlobal = fake_library_global;
    }
    free(linked);
    free(object);
}

static void a_librarys_variables_exist_once_in_each_context(void **state)
{
    (void)state;
    CUlibrary library = (CUlibrary)(uintptr_t)0x88;
    gp_library_loaded(library, ptx, false);
    gp_modules_resolve(CONTEXT(1));
    current = CONTEXT(2);
    gp_modules_resolve(CONTEXT(2));
    assert_int_equal(total_of(CONTEXT(1)).buffers, 1);
    assert_int_equal(total_of(CONTEXT(2)).buffers, 1);
    gp_memory_forget_context(CONTEXT(2));
    assert_int_equal(total_of(CONTEXT(2)).buffers, 0);
    gp_modules_resolve(CONTEXT(2)); /* the context was made again, at the same address */
    assert_int_equal(total_of(CONTEXT(2)).buffers, 1);
    gp_module_unloading(library);
    assert_int_equal(total_of(CONTEXT(1)).buffers, 0);
    assert_int_equal(total_of(CONTEXT(2)).buffers, 0);
}

static void a_module_is_asked_whether_it_prints(void **state)
{
    (void)state;
    int quiet, loud, unknown;
    gp_module_loaded((CUmodule)(void *)&quiet, ".version 8.0\n");
    assert_null(gp_module_runs_once(&unknown, "kernel").text);
    gp_module_loaded((CUmodule)(void *)&loud,
                     ".version 8.0\n.extern .func vprintf ();\n"
                     ".entry other() { call vprintf; }\n.entry kernel() { call vprintf; }\n");
    assert_null(gp_module_runs_once(&quiet, "kernel").text);
    assert_string_equal(gp_module_runs_once(&loud, "kernel").text, "the kernel may print");
    assert_non_null(gp_module_runs_once(&loud, "other").text);
    assert_null(gp_module_runs_once(&loud, "ker").text);
    assert_null(gp_module_runs_once(&loud, "silent").text);
    assert_non_null(gp_module_runs_once(&unknown, "kernel").text); /* it may be the loud one's */
    assert_null(gp_module_runs_once(&unknown, "silent").text);
    gp_module_unloading(&quiet);
    gp_module_unloading(&loud);
}

static void a_module_that_cannot_be_read_has_kernels_that_run_once(void **state)
{
    (void)state;
    CUmodule damaged = (CUmodule)(uintptr_t)0x99, missing = (CUmodule)(uintptr_t)0x98;
    CUmodule other = (CUmodule)(uintptr_t)0x97;
    gp_module_loaded(damaged, "no image at all");
    gp_module_loaded_from_file(missing, "/nowhere");
    gp_module_loaded(other, ".version 8.0\n");
    assert_non_null(gp_module_runs_once(damaged, "kernel").text);
    assert_non_null(gp_module_runs_once(missing, "kernel").text);
    assert_null(gp_module_runs_once(other, "kernel").text);
    assert_int_equal(gp_memory_replay_barred().cause, GP_CAUSE_NONE);
    gp_module_unloading(damaged);
    gp_module_unloading(missing);
    gp_module_unloading(other);
}

/* Last: there is no way back. */
static void the_first_reason_that_bars_replay_stays(void **state)
{
    (void)state;
    assert_int_equal(gp_memory_replay_barred().cause, GP_CAUSE_NONE);
    gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "one reason"));
    gp_memory_bar_replay(GP_REASON(NO_MEMORY));
    assert_string_equal(gp_memory_replay_barred().text, "one reason");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_driver, empty)
    const struct CMUnitTest tests[] = {
        TEST(a_buffer_is_there_until_it_is_freed),
        TEST(a_free_that_failed_puts_the_buffer_back),
        TEST(an_address_that_comes_back_is_one_buffer),
        TEST(nothing_is_entered_for_nothing),
        TEST(every_change_changes_the_generation),
        TEST(a_context_has_its_own_buffers_and_the_common_ones),
        TEST(memory_of_no_context_goes_when_the_driver_forgets_it),
        TEST(mapped_memory_counts_for_devices_that_may_write_it),
        TEST(physical_memory_is_shared_wherever_it_is_mapped),
        TEST(memory_of_another_process_is_everybodys),
        TEST(a_pool_is_its_devices_until_others_have_access),
        TEST(peers_are_known_until_one_of_them_goes),
        TEST(many_buffers_are_found_again),
        TEST(a_modules_variables_become_buffers_when_resolved),
        cmocka_unit_test_setup(variables_of_a_section_are_one_buffer, make_variables),
        cmocka_unit_test_setup(variables_that_lie_otherwise_are_buffers_each, make_variables),
        cmocka_unit_test_setup(a_managed_variable_lies_apart_from_its_section, make_variables),
        cmocka_unit_test_setup(parts_of_an_image_leave_a_section_whole, make_variables),
        TEST(a_librarys_variables_exist_once_in_each_context),
        TEST(a_module_is_asked_whether_it_prints),
        TEST(a_module_that_cannot_be_read_has_kernels_that_run_once),
        TEST(the_first_reason_that_bars_replay_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
