#include "code/module_code.h"

#include "code/cubin.h"
#include "code/functions.h"
#include "code/parts.h"
#include "code/slim.h"
#include "code/unpacked.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* All copies, of images and of functions, have so many bytes at most: a program may load any number
 * of modules. */
#define MOST_BYTES ((size_t)64 << 20)

struct function {
    char *name;
    void *bytes; /* NULL: searched and not found */
    size_t size;
    int cc;
    const char *why;
    void *slim; /* as gp_code_slim has it, of an image that is not kept unpacked; NULL: none */
    size_t slim_size;
    struct function *next;
};

/* More text takes too long to be compiled once more: the driver makes a megabyte in seconds. */
#define MOST_PTX ((size_t)512 << 10)
/* A larger image is a library's, without lines, and takes long to unpack. */
#define LARGEST_SLIMMED ((size_t)32 << 20)
/* A larger part of a cubin is not made beside the search for a function. */
#define MOST_SLIM ((size_t)8 << 20)

struct gp_code {
    const void *image; /* NULL: not kept */
    size_t size;
    void *copy;         /* ours, of `size` bytes; NULL where the image stays */
    const void *object; /* whose base this is, with which the image goes; NULL: none */
    const char *why;
    bool is_compiled;  /* the copy is a cubin made of PTX */
    bool ptx_is_known; /* it was searched for that, which has so many bytes; 0: none is to be had */
    size_t ptx_bytes;
    struct gp_unpacked unpacked;
    struct function *functions;
};

static atomic_size_t kept;

static void *keep_copy(const void *bytes, size_t size)
{
    if (atomic_fetch_add(&kept, size) + size <= MOST_BYTES) {
        void *copy = malloc(size);
        if (copy) {
            memcpy(copy, bytes, size);
            return copy;
        }
    }
    atomic_fetch_sub(&kept, size);
    return NULL;
}

static void drop_copy(void *copy, size_t size)
{
    if (copy)
        atomic_fetch_sub(&kept, size);
    free(copy);
}

/* 0 where it is not known, or there is no machine code to be had. */
static size_t size_of(const void *image)
{
    if (!gp_image_is_ptx(image))
        return gp_image_size(image);
    const size_t size = strlen(image) + 1;
    return size <= MOST_PTX ? size : 0;
}

struct gp_code *gp_code_keep(const void *image, size_t size, bool stays)
{
    struct gp_code *code = calloc(1, sizeof(*code));
    if (!code || !image)
        return code;
    code->size = size;
    if (stays) {
        code->image = image;
        return code;
    }
    if (!size)
        code->size = size_of(image);
    if (!code->size) {
        code->why = "the kernel's module was not loaded as machine code";
        return code;
    }
    code->image = code->copy = keep_copy(image, code->size);
    if (!code->copy)
        code->why = "the image of the kernel's module is too large to be kept";
    return code;
}

static void forget_functions(struct gp_code *code)
{
    struct function *f, *next;
    LL_FOREACH_SAFE(code->functions, f, next)
    {
        drop_copy(f->bytes, f->size);
        drop_copy(f->slim, f->slim_size);
        free(f->name);
        free(f);
    }
    code->functions = NULL;
}

void gp_code_lies_in(struct gp_code *code, const void *object)
{
    if (code && !code->copy)
        code->object = object;
}

void gp_code_drop(struct gp_code *code)
{
    if (!code)
        return;
    forget_functions(code);
    gp_unpacked_drop(&code->unpacked);
    drop_copy(code->copy, code->size);
    free(code);
}

bool gp_code_read(struct gp_code *code, const void *image, size_t size, int cc,
                  const struct gp_image_visitor *visitor, void *data, const char **runs_once,
                  const char **why)
{
    if (!code || !code->image)
        return gp_image_read(NULL, image, size, cc, visitor, data, runs_once, why);
    /* Our copy of the image is read: cubins in it that are not packed stay where they are. */
    return gp_image_read(&code->unpacked, code->image, code->size, cc, visitor, data, runs_once,
                         why);
}

/* ---- questions on cubins --------------------------------------------------------------------- */

typedef void ask_cubin(const struct gp_cubin *cubin, void *data);

struct question {
    ask_cubin *cubin;
    void *data;
};

static bool ask_part(struct gp_part *part, void *data, const char **why)
{
    const struct question *q = data;
    struct gp_cubin cubin;
    *why = "the kernel's cubin is damaged";
    if (!gp_cubin_open(&cubin, part->bytes, part->size))
        return false;
    q->cubin(&cubin, q->data);
    return true;
}

/* Asks each cubin of the image for the chip; NULL, or those that may have the function. False, with
 * the reason in `why`, where they cannot all be asked. */
static bool ask(struct gp_code *code, int cc, const char *function, ask_cubin *cubin, void *data,
                const char **why)
{
    static const struct gp_part_visitor asks = {.part = ask_part, .cubins_only = true};
    struct question q = {.cubin = cubin, .data = data};
    return gp_unpacked_parts(&code->unpacked, code->image, code->size, cc, function, &asks, &q,
                             why);
}

/* ---- a function in a cubin ------------------------------------------------------------------- */

struct search {
    const char *name;
    void *bytes; /* copied: the cubin goes when it has been visited */
    size_t size;
    unsigned cubins;
    const char *why;
    bool slims; /* it is to be unpacked once for both */
    void *slim;
    size_t slim_size;
};

/* It counts among the copies. */
static void slim_beside(struct search *s, const struct gp_cubin *cubin)
{
    s->slim = gp_cubin_slim(cubin, s->name, MOST_SLIM, &s->slim_size);
    if (s->slim && atomic_fetch_add(&kept, s->slim_size) + s->slim_size > MOST_BYTES) {
        drop_copy(s->slim, s->slim_size);
        s->slim = NULL;
    }
}

struct named {
    const char *name;
    const void *bytes;
    size_t size;
};

static bool is_named(const char *name, const void *bytes, size_t size, void *named)
{
    struct named *n = named;
    if (strcmp(name, n->name) != 0)
        return false;
    n->bytes = bytes;
    n->size = size;
    return true;
}

static void search_cubin(const struct gp_cubin *cubin, void *data)
{
    struct search *s = data;
    s->cubins++;
    struct named n = {.name = s->name};
    gp_cubin_functions(cubin, is_named, &n);
    const void *bytes = n.bytes;
    const size_t size = n.size;
    if (!bytes || !size)
        return;
    if (!s->bytes && !s->why) {
        s->bytes = keep_copy(bytes, size);
        s->size = size;
        if (!s->bytes)
            s->why = "the kernel's machine code is too large to be kept";
        else if (s->slims)
            slim_beside(s, cubin);
    } else if (s->bytes && (s->size != size || memcmp(s->bytes, bytes, size) != 0)) {
        drop_copy(s->bytes, s->size);
        drop_copy(s->slim, s->slim_size);
        s->bytes = s->slim = NULL;
        s->why = "the kernel's module holds several versions of its machine code";
    }
}

static bool is_there(const struct gp_code *code)
{
    Dl_info info;
    return !code->object || (dladdr(code->image, &info) && info.dli_fbase == code->object);
}

/* Why it has no machine code that could be searched; NULL where it has. */
static const char *why_not_searched(const struct gp_code *code)
{
    /* The driver may have been asked to ignore machine code and to compile PTX. */
    const char *force = secure_getenv("CUDA_FORCE_PTX_JIT");
    if (!code->is_compiled && force && *force && strcmp(force, "0") != 0)
        return "the driver compiles the PTX of the kernel's module";
    if (code->image && !is_there(code))
        return "the image of the kernel's module is there no more";
    return code->why;
}

static struct function *known_function(struct gp_code *code, const char *name, int cc)
{
    struct function *f = NULL;
    LL_FOREACH(code->functions, f)
    {
        if (f->cc == cc && strcmp(f->name, name) == 0)
            break;
    }
    return f;
}

size_t gp_code_missing(struct gp_code *code, const char *function, int cc)
{
    if (!code || !code->image || known_function(code, function, cc) || why_not_searched(code))
        return 0;
    return gp_unpacked_missing(&code->unpacked, code->image, code->size, cc, function);
}

/* Searches the function, and remembers the answer; without a memory for it, only answers. */
static struct function *find_function_code(struct gp_code *code, const char *name, int cc)
{
    struct function *f = calloc(1, sizeof(*f));
    char *own_name = strdup(name);
    if (!f || !own_name) {
        free(f);
        free(own_name);
        return NULL;
    }
    struct search s = {.name = name,
                       .slims = code->unpacked.is_too_large && code->size <= LARGEST_SLIMMED};
    const char *why = why_not_searched(code);
    if (!why && code->image)
        ask(code, cc, name, search_cubin, &s, &why);
    if (!why)
        why = s.why ? s.why
              : s.cubins || code->unpacked.total
                  ? "the kernel's machine code is not in the image of its module"
                  : "the kernel's module has no machine code for this GPU, only PTX";
    *f = (struct function){.name = own_name,
                           .bytes = s.bytes,
                           .size = s.bytes ? s.size : 0,
                           .cc = cc,
                           .why = why,
                           .slim = s.slim,
                           .slim_size = s.slim_size};
    LL_PREPEND(code->functions, f);
    return f;
}

const void *gp_code_find(struct gp_code *code, const char *function, int cc, size_t *size,
                         const char **why)
{
    struct function *f = known_function(code, function, cc);
    if (!f)
        f = find_function_code(code, function, cc);
    if (!f) {
        *why = "out of memory for machine code";
        return NULL;
    }
    *size = f->size;
    *why = f->bytes ? NULL : f->why;
    return f->bytes;
}

/* ---- machine code made of PTX ---------------------------------------------------------------- */

struct text {
    const char *from;
    size_t bytes;
    char *copy;
    bool copies, has_cubin;
};

static bool take_text(struct gp_part *part, void *data, const char **why)
{
    struct text *t = data;
    (void)why;
    t->has_cubin = t->has_cubin || part->is_cubin;
    if (part->is_cubin || t->bytes || part->size > MOST_PTX)
        return true;
    t->bytes = part->size;
    t->copy = t->copies ? malloc(part->size + 1) : NULL;
    if (t->copy) {
        memcpy(t->copy, part->bytes, part->size);
        t->copy[part->size] = '\0';
    }
    return true;
}

/* A cubin is not unpacked to be passed by. */
static bool unpacks_none(unsigned cubin, size_t bytes, void *data)
{
    struct text *t = data;
    (void)cubin;
    (void)bytes;
    t->has_cubin = true;
    return false;
}

static struct text find_text(struct gp_code *code, int cc, bool copies)
{
    static const struct gp_part_visitor takes = {.part = take_text, .unpacks = unpacks_none};
    struct text t = {.copies = copies};
    const char *why;
    if (!code || !code->image || (code->ptx_is_known && !code->ptx_bytes) || !is_there(code))
        return t;
    if (!gp_image_parts(code->image, code->size, cc, &takes, &t, &why) || t.has_cubin) {
        free(t.copy);
        t = (struct text){0};
    }
    code->ptx_is_known = true;
    code->ptx_bytes = t.bytes;
    return t;
}

char *gp_code_ptx(struct gp_code *code, int cc)
{
    return find_text(code, cc, true).copy;
}

size_t gp_code_ptx_bytes(struct gp_code *code, int cc)
{
    return code && code->ptx_is_known ? code->ptx_bytes : find_text(code, cc, false).bytes;
}

void gp_code_compiled(struct gp_code *code, const void *cubin, size_t size, const char *why)
{
    if (!code)
        return;
    void *copy = cubin ? keep_copy(cubin, size) : NULL;
    code->ptx_is_known = true;
    code->ptx_bytes = 0;
    if (!copy) {
        code->why = cubin ? "out of memory for machine code" : why;
        return;
    }
    forget_functions(code);
    gp_unpacked_drop(&code->unpacked);
    drop_copy(code->copy, code->size);
    code->image = code->copy = copy;
    code->size = size;
    code->object = NULL;
    code->is_compiled = true;
}

struct registers {
    const char *function;
    unsigned count;
};

static void count_registers(const struct gp_cubin *cubin, void *data)
{
    struct registers *r = data;
    r->count = gp_cubin_registers(cubin, r->function);
}

void gp_code_check_registers(struct gp_code *code, const char *function, int cc, unsigned registers)
{
    struct registers r = {.function = function};
    const char *why;
    if (!code || !code->is_compiled)
        return;
    struct function *f = known_function(code, function, cc);
    if (!f)
        f = find_function_code(code, function, cc);
    if (!f || !f->bytes ||
        (ask(code, cc, function, count_registers, &r, &why) && r.count == registers))
        return;
    drop_copy(f->bytes, f->size);
    f->bytes = NULL;
    f->size = 0;
    f->why = "the machine code made of the PTX of the kernel's module is not that of the driver";
}

/* ---- a cubin to be kept ---------------------------------------------------------------------- */

struct slimming {
    const char *function;
    size_t most, size;
    void *slim;
};

static void slim_cubin(const struct gp_cubin *cubin, void *data)
{
    struct slimming *s = data;
    if (!s->slim)
        s->slim = gp_cubin_slim(cubin, s->function, s->most, &s->size);
}

/* Hands over the part that was made when the function was searched; NULL: none. */
static void *take_slim(struct gp_code *code, const char *function, int cc, size_t most,
                       size_t *size)
{
    struct function *f = known_function(code, function, cc);
    void *slim = f && f->slim && f->slim_size <= most ? f->slim : NULL;
    if (!slim)
        return NULL;
    *size = f->slim_size;
    atomic_fetch_sub(&kept, f->slim_size);
    f->slim = NULL;
    return slim;
}

void *gp_code_slim(struct gp_code *code, const char *function, int cc, size_t most, size_t *size)
{
    struct slimming s = {.function = function, .most = most};
    const char *why;
    size_t code_size;
    /* A function with several versions is left out: none of them is sure to be the one that runs.
     */
    if (code->size > LARGEST_SLIMMED || !gp_code_find(code, function, cc, &code_size, &why) ||
        !is_there(code))
        return NULL;
    void *slim = take_slim(code, function, cc, most, size);
    if (slim)
        return slim;
    ask(code, cc, function, slim_cubin, &s, &why);
    *size = s.size;
    return s.slim;
}

/* ---- calls of the device's runtime ----------------------------------------------------------- */

struct call_search {
    const char *function;
    unsigned cubins;
    bool found;
};

/* The driver links the undefined symbols of a cubin. */
static bool is_undefined_in(const struct gp_cubin *cubin, const Elf64_Shdr *section,
                            const char *function)
{
    struct gp_cubin_symbols table;
    if (!gp_cubin_symbols(cubin, section, &table))
        return true; /* nobody can tell */
    for (size_t i = 0; i < table.count; i++) {
        Elf64_Sym symbol = gp_cubin_symbol(&table, i);
        const char *name = gp_cubin_symbol_name(&table, &symbol);
        if (symbol.st_shndx == SHN_UNDEF && name && strcmp(name, function) == 0)
            return true;
    }
    return false;
}

static void search_calls(const struct gp_cubin *cubin, void *data)
{
    struct call_search *s = data;
    s->cubins++;
    for (unsigned i = 0; i < cubin->count && !s->found; i++) {
        Elf64_Shdr section = gp_cubin_section(cubin, i);
        s->found = section.sh_type == SHT_SYMTAB && is_undefined_in(cubin, &section, s->function);
    }
}

bool gp_code_may_call(struct gp_code *code, const char *function, int cc)
{
    struct call_search s = {.function = function};
    const char *why;
    if (!code || !code->image || !is_there(code))
        return true;
    bool read = ask(code, cc, NULL, search_calls, &s, &why);
    return !read || !s.cubins || s.found;
}
