#include "memory/modules.h"

#include "base/log.h"
#include "code/image.h"
#include "code/unpacked.h"
#include "cuda/green.h"
#include "memory/buffers.h"
#include "memory/inside.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

struct variable {
    size_t name; /* in the names of its module */
    struct gp_position position;
};

struct module {
    void *handle;
    bool is_library;
    CUcontext own_context; /* of a module: its context */
    CUcontext *resolved;   /* contexts in which the variables are buffers already */
    size_t resolved_count;
    struct names {
        char *text; /* NUL after each name, one more at the end; NULL: none */
        size_t length, capacity;
    } names, printing;          /* of variables; of functions that may print */
    struct variable *variables; /* those of a section one after the other, as they lie in it */
    size_t variable_count, variable_capacity;
    struct names waiting,
        ending; /* of PTX: those that may wait for others, and those that cannot */
    bool out_of_memory;
    const char *runs_once; /* why none of its kernels must run again, NULL if they may */
    int cc;                /* of the device it was loaded for, times ten */
    struct gp_code *code;  /* NULL: out of memory */
    struct module *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules;
static atomic_bool unresolved; /* there may be variables that are no buffers yet */

static void free_module(struct module *m)
{
    gp_code_drop(m->code);
    free(m->resolved);
    free(m->names.text);
    free(m->variables);
    free(m->printing.text);
    free(m->waiting.text);
    free(m->ending.text);
    free(m);
}

static bool add_name(struct names *n, const char *name, size_t length)
{
    if (n->length + length + 2 > n->capacity) {
        size_t capacity = 2 * n->capacity + length + 256;
        char *text = realloc(n->text, capacity);
        if (!text)
            return false;
        n->text = text;
        n->capacity = capacity;
    }
    memcpy(n->text + n->length, name, length);
    n->length += length;
    n->text[n->length++] = '\0';
    n->text[n->length] = '\0';
    return true;
}

static bool has_name(const struct names *n, const char *name)
{
    const char *p = n->text;
    while (p && *p && strcmp(p, name) != 0)
        p += strlen(p) + 1;
    return p && *p;
}

static bool add_position(struct module *m, const struct gp_position *position)
{
    if (m->variable_count == m->variable_capacity) {
        const size_t capacity = 2 * m->variable_capacity + 8;
        struct variable *more = realloc(m->variables, capacity * sizeof(*more));
        if (!more)
            return false;
        m->variables = more;
        m->variable_capacity = capacity;
    }
    m->variables[m->variable_count++] = (struct variable){m->names.length, *position};
    return true;
}

static void add_variable(const char *name, size_t length, const struct gp_position *position,
                         void *data)
{
    struct module *m = data;
    m->out_of_memory =
        !add_position(m, position) || !add_name(&m->names, name, length) || m->out_of_memory;
}

static int compare_positions(const void *x, const void *y)
{
    const struct gp_position *a = &((const struct variable *)x)->position;
    const struct gp_position *b = &((const struct variable *)y)->position;
    if (a->alone != b->alone)
        return a->alone ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_printing(const char *name, size_t length, void *data)
{
    struct module *m = data;
    m->out_of_memory = !add_name(&m->printing, name, length) || m->out_of_memory;
}

static void add_waits(const char *name, size_t length, bool may_wait, void *data)
{
    struct module *m = data;
    m->out_of_memory =
        !add_name(may_wait ? &m->waiting : &m->ending, name, length) || m->out_of_memory;
}

static int current_cc(CUcontext *current)
{
    CUdevice device = 0;
    *current = gp_owning_context();
    if (!*current || gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        device = 0; /* a library loads without a context; most machines have GPUs of one kind */
    return 10 * gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

#define VARIABLES_UNKNOWN "the variables of the kernel's module are not known"

static void say_unreadable(const char *why)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, 1,
                   "a module's variables are not known (%s): its kernels are not replayed", why);
}

/* Why its variables are not known; NULL where they are. */
static const char *read_image(struct module *m, const void *image, size_t size)
{
    static const struct gp_image_visitor visitor = {add_variable, add_printing, add_waits};
    const char *why;
    if (!image)
        return "its image cannot be read";
    if (m->cc == 0)
        return "the GPU it was loaded for is not known";
    pthread_mutex_lock(&lock);
    bool ok = gp_code_read(m->code, image, size, m->cc, &visitor, m, &m->runs_once, &why);
    pthread_mutex_unlock(&lock);
    return ok && m->out_of_memory ? "out of memory" : why;
}

/* `object`: the whole that the image is part of, NULL where it is not known to be part of one. */
static void loaded(void *handle, bool is_library, const void *image, size_t size, bool stays,
                   const void *object)
{
    struct module *m = calloc(1, sizeof(*m));
    if (!m) {
        /* Which kernels are its own is then not known either. */
        say_unreadable("out of memory");
        gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "a module's variables are not known"));
        return;
    }
    m->handle = handle;
    m->is_library = is_library;
    m->cc = current_cc(&m->own_context);
    m->code = gp_code_keep(image, size, stays || object);
    gp_code_lies_in(m->code, object);
    const char *why = read_image(m, image, size);
    /* Its kernels may keep state that no snapshot holds. Those of other modules do not know of its
     * variables. */
    if (why) {
        say_unreadable(why);
        m->runs_once = VARIABLES_UNKNOWN;
    }
    if (m->variable_count)
        qsort(m->variables, m->variable_count, sizeof(*m->variables), compare_positions);
    pthread_mutex_lock(&lock);
    DL_APPEND(modules, m);
    pthread_mutex_unlock(&lock);
    if (m->variable_count)
        atomic_store(&unresolved, true);
}

static void loaded_from_file(void *handle, bool is_library, const char *path)
{
    struct stat st;
    void *image = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (image == MAP_FAILED) {
        loaded(handle, is_library, NULL, 0, false, NULL);
        return;
    }
    loaded(handle, is_library, image, (size_t)st.st_size, false, NULL);
    munmap(image, (size_t)st.st_size);
}

void gp_module_loaded(CUmodule module, const void *image)
{
    loaded(module, false, image, 0, false, NULL);
}

void gp_module_loaded_from_file(CUmodule module, const char *path)
{
    loaded_from_file(module, false, path);
}

static bool lies_in(const void *part, const void *object)
{
    Dl_info info;
    return dladdr(part, &info) && info.dli_fbase == object;
}

/* An image that nvcc wraps lies in the program or in one of its libraries, whose code unloads it
 * before it goes itself. Where some other code has loaded it, it may go before; and a program that
 * makes a wrapper itself may point with it to memory that it frees. */
static const void *object_of(const void *image)
{
    Dl_info info;
    return dladdr(image, &info) && gp_image_wraps(image, lies_in, info.dli_fbase) ? info.dli_fbase
                                                                                  : NULL;
}

void gp_library_loaded(CUlibrary library, const void *image, bool stays)
{
    const void *object = image && !stays ? object_of(image) : NULL;
    loaded(library, true, image, 0, stays, object);
}

void gp_library_loaded_from_file(CUlibrary library, const char *path)
{
    loaded_from_file(library, true, path);
}

void gp_module_unloading(const void *handle)
{
    struct module *m, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(modules, m, next)
    {
        if (m->handle == handle) {
            DL_DELETE(modules, m);
            free_module(m);
        }
    }
    pthread_mutex_unlock(&lock);
    buffers_drop_owner(handle);
}

/* *managed becomes true for memory that lies apart from its section. */
static CUresult ask(const struct module *m, const struct variable *v, CUdeviceptr *address,
                    size_t *size, bool *managed)
{
    const char *name = m->names.text + v->name;
    *managed = false;
    if (!m->is_library)
        return gp_cuda.cuModuleGetGlobal_v2(address, size, m->handle, name);
    const CUresult result = gp_cuda.cuLibraryGetGlobal(address, size, m->handle, name);
    if (result == CUDA_SUCCESS || !gp_cuda.cuLibraryGetManaged)
        return result;
    *managed = true;
    return gp_cuda.cuLibraryGetManaged(address, size, m->handle, name);
}

static void look_up(const struct module *m, const struct variable *v)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    bool managed;
    const CUresult result = ask(m, v, &address, &size, &managed);
    if (result == CUDA_SUCCESS)
        buffer_add_global(m->handle, address, size);
    else if (result != CUDA_ERROR_NOT_FOUND && result != CUDA_ERROR_INVALID_VALUE)
        gp_memory_bar_replay(
            GP_REASON_TEXT(REPLAY_BARRED, "a module's variables could not be looked up"));
    /* A name that the driver does not know belongs to no variable of this chip's code. */
}

static bool is_same_section(const struct variable *a, const struct variable *b)
{
    return !a->position.alone && !b->position.alone && a->position.part == b->position.part &&
           a->position.section == b->position.section;
}

/* A section with many variables is one buffer: the headers of the C++ library for the device alone
 * bring fifty of a byte each, and each would be looked up, and saved for each launch. False where
 * the first variable, the last one and one in between do not lie as in the section. */
static bool look_up_section(const struct module *m, const struct variable *first, size_t count)
{
    const struct variable *asked[] = {first, first + count / 2, first + count - 1};
    CUdeviceptr address[3];
    size_t size[3];
    bool managed;
    for (size_t i = 0; i < 3; i++) {
        const uint64_t offset = asked[i]->position.offset - first->position.offset;
        if (ask(m, asked[i], &address[i], &size[i], &managed) != CUDA_SUCCESS || managed ||
            address[i] - address[0] != offset || size[i] != asked[i]->position.bytes)
            return false;
    }
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t behind = first[i].position.offset + first[i].position.bytes;
        end = behind > end ? behind : end;
    }
    buffer_add_global(m->handle, address[0], end - first->position.offset);
    return true;
}

static void look_up_all(const struct module *m)
{
    for (size_t i = 0, next; i < m->variable_count; i = next) {
        const struct variable *first = &m->variables[i];
        for (next = i + 1; next < m->variable_count && is_same_section(first, &m->variables[next]);)
            next++;
        if (next - i >= 3 && look_up_section(m, first, next - i))
            continue;
        for (size_t k = i; k < next; k++)
            look_up(m, &m->variables[k]);
    }
}

static bool is_resolved(const struct module *m, CUcontext context)
{
    if (!m->is_library && m->own_context != context)
        return true; /* not a module of this context */
    for (size_t i = 0; i < m->resolved_count; i++)
        if (m->resolved[i] == context)
            return true;
    return false;
}

static void mark_resolved(struct module *m, CUcontext context)
{
    CUcontext *resolved = realloc(m->resolved, (m->resolved_count + 1) * sizeof(*resolved));
    if (!resolved)
        return; /* looked up again next time; a buffer entered twice is one buffer */
    m->resolved = resolved;
    m->resolved[m->resolved_count++] = context;
}

static _Atomic(CUcontext) last; /* resolved in that context */

bool gp_modules_are_resolved(CUcontext current)
{
    return !atomic_load(&unresolved) && atomic_load(&last) == current;
}

void gp_modules_resolve(CUcontext current)
{
    if (!atomic_exchange(&unresolved, false) && atomic_load(&last) == current)
        return;
    atomic_store(&last, current);
    struct module *m;
    pthread_mutex_lock(&lock);
    DL_FOREACH(modules, m)
    {
        if (!m->variable_count || is_resolved(m, current))
            continue;
        look_up_all(m);
        mark_resolved(m, current);
    }
    pthread_mutex_unlock(&lock);
}

/* Locked. */
static bool is_known(const void *handle)
{
    const struct module *m;
    DL_SEARCH_SCALAR(modules, m, handle, handle);
    return m != NULL;
}

bool gp_module_is_loaded(const void *handle)
{
    pthread_mutex_lock(&lock);
    bool loaded = handle && is_known(handle);
    pthread_mutex_unlock(&lock);
    return loaded;
}

/* Whether the function, in the current context, is that kernel of the library. The driver loads a
 * kernel of that name which is another one. */
static bool library_has(const struct module *m, CUfunction function, const char *name)
{
    CUkernel kernel;
    CUfunction here;
    return m->is_library && gp_cuda.cuLibraryGetKernel(&kernel, m->handle, name) == CUDA_SUCCESS &&
           gp_cuda.cuKernelGetFunction(&here, kernel) == CUDA_SUCCESS && here == function;
}

const void *gp_module_owner(CUmodule module, CUfunction function, const char *name)
{
    const struct module *m;
    const void *owner = module;
    if (!gp_cuda.cuLibraryGetKernel || !gp_cuda.cuKernelGetFunction)
        return module;
    pthread_mutex_lock(&lock);
    if (!is_known(module))
        DL_FOREACH(modules, m)
        {
            if (owner == module && library_has(m, function, name))
                owner = m->handle;
        }
    pthread_mutex_unlock(&lock);
    return owner;
}

void modules_forget_context(CUcontext context)
{
    struct module *m, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(modules, m, next)
    {
        if (!m->is_library && m->own_context == context) {
            DL_DELETE(modules, m);
            free_module(m);
            continue;
        }
        for (size_t i = 0; i < m->resolved_count; i++)
            if (m->resolved[i] == context)
                m->resolved[i--] = m->resolved[--m->resolved_count];
    }
    pthread_mutex_unlock(&lock);
    atomic_store(&unresolved, true);
}

CUcontext gp_module_context(const void *handle)
{
    const struct module *m;
    CUcontext context = NULL;
    pthread_mutex_lock(&lock);
    DL_FOREACH(modules, m)
    {
        if (m->handle == handle && !m->is_library)
            context = m->own_context;
    }
    pthread_mutex_unlock(&lock);
    return context;
}

struct found {
    const void *bytes;
    size_t size;
    const char *why;
    bool several;
};

static void find_in(const struct module *m, const char *function, struct found *found)
{
    const char *why = "out of memory for machine code";
    size_t size = 0;
    const void *bytes = m->code ? gp_code_find(m->code, function, m->cc, &size, &why) : NULL;
    if (!bytes) {
        found->why = why;
    } else if (!found->bytes) {
        found->bytes = bytes;
        found->size = size;
    } else if (found->size != size || memcmp(found->bytes, bytes, size) != 0) {
        found->several = true;
    }
}

const void *gp_module_code(const void *handle, const char *function, size_t *size,
                           struct gp_reason *why)
{
    struct found found = {.why = "the kernel's module is not known"};
    const struct module *m;
    pthread_mutex_lock(&lock);
    bool known = is_known(handle);
    DL_FOREACH(modules, m)
    {
        if (!known || m->handle == handle)
            find_in(m, function, &found);
    }
    pthread_mutex_unlock(&lock);
    if (found.several) {
        *why = GP_REASON_TEXT(CODE_UNKNOWN, "several modules have a function of the kernel's name");
        return NULL;
    }
    *size = found.size;
    *why = found.bytes ? GP_NO_REASON : GP_REASON_TEXT(CODE_UNKNOWN, found.why);
    return found.bytes;
}

/* Locked. NULL where the handle is not known. */
static struct gp_code *code_of(const void *handle)
{
    const struct module *m;
    DL_SEARCH_SCALAR(modules, m, handle, handle);
    return handle && m ? m->code : NULL;
}

static int cc_of(const void *handle)
{
    const struct module *m;
    DL_SEARCH_SCALAR(modules, m, handle, handle);
    return m ? m->cc : 0;
}

char *gp_module_ptx(const void *handle)
{
    pthread_mutex_lock(&lock);
    char *text = gp_code_ptx(code_of(handle), cc_of(handle));
    pthread_mutex_unlock(&lock);
    return text;
}

size_t gp_module_ptx_bytes(const void *handle)
{
    pthread_mutex_lock(&lock);
    const size_t bytes = gp_code_ptx_bytes(code_of(handle), cc_of(handle));
    pthread_mutex_unlock(&lock);
    return bytes;
}

void gp_module_compiled(const void *handle, const void *cubin, size_t size, const char *why)
{
    pthread_mutex_lock(&lock);
    gp_code_compiled(code_of(handle), cubin, size, why);
    pthread_mutex_unlock(&lock);
}

void gp_module_check_registers(const void *handle, const char *kernel, unsigned registers)
{
    pthread_mutex_lock(&lock);
    gp_code_check_registers(code_of(handle), kernel, cc_of(handle), registers);
    pthread_mutex_unlock(&lock);
}

double gp_module_code_seconds(const void *handle, const char *function)
{
    const struct module *m;
    double seconds = 0;
    pthread_mutex_lock(&lock);
    const bool known = is_known(handle);
    DL_FOREACH(modules, m)
    {
        if (!known || m->handle == handle)
            seconds += gp_unpacking_seconds(gp_code_missing(m->code, function, m->cc));
    }
    pthread_mutex_unlock(&lock);
    return seconds;
}

void *gp_module_slim(const void *handle, const char *function, size_t most, size_t *size)
{
    struct module *m;
    void *slim = NULL;
    pthread_mutex_lock(&lock);
    DL_FOREACH(modules, m)
    {
        if (m->handle == handle && m->code && !slim)
            slim = gp_code_slim(m->code, function, m->cc, most, size);
    }
    pthread_mutex_unlock(&lock);
    return slim;
}

struct gp_reason gp_module_runs_once(const void *handle, const char *kernel)
{
    const struct module *m;
    struct gp_reason why = GP_NO_REASON;
    pthread_mutex_lock(&lock);
    bool known = is_known(handle);
    DL_FOREACH(modules, m)
    {
        if (why.cause || (known && m->handle != handle))
            continue;
        if (has_name(&m->printing, kernel))
            why = GP_REASON_TEXT(RUNS_ONCE, "the kernel may print");
        else if (m->runs_once)
            why = GP_REASON_TEXT(RUNS_ONCE, m->runs_once);
    }
    pthread_mutex_unlock(&lock);
    return why;
}

bool gp_module_ptx_may_wait(const void *handle, const char *kernel)
{
    const struct module *m;
    bool ends = false, waits = false;
    pthread_mutex_lock(&lock);
    DL_FOREACH(modules, m)
    {
        if (!handle || m->handle != handle)
            continue;
        ends = ends || has_name(&m->ending, kernel);
        waits = waits || has_name(&m->waiting, kernel);
    }
    pthread_mutex_unlock(&lock);
    return waits || !ends;
}

bool gp_module_may_call(const void *handle, const char *function)
{
    const struct module *m;
    bool may = false;
    pthread_mutex_lock(&lock);
    bool known = is_known(handle);
    DL_FOREACH(modules, m)
    {
        if (!known || m->handle == handle)
            may = may || gp_code_may_call(m->code, function, m->cc);
    }
    pthread_mutex_unlock(&lock);
    return may;
}
