/* code/module_code, code/unpacked, memory/modules: the machine code of functions, from every form
 * of image that holds some, and how often that is unpacked. The images are made here. */
#include "code/module_code.h"
#include "code/unpacked.h"
#include "memory/modules.h"

#include "fatbin.h"
#include "one_gpu.h"
#include "sanitized.h"

#include <dlfcn.h>
#include <elf.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- images ---------------------------------------------------------------------------------- */

#define CODE 64 /* bytes of each function */

/* The start of a function's code: its letter, the version of its cubin. */
struct code {
    char letter, version;
};

/* A cubin: .text.k with `k` in it, .text.m with `m` and, in its second half, the device function
 * `helper`; `outside` is undefined. The first one may have another name than k. */
static size_t make_cubin_of(char *out, char version, char first)
{
    char names[] = "\0.text.k\0.text.m\0.symtab\0.strtab\0.shstrtab";
    char strings[] = "\0k\0m\0helper\0outside";
    names[7] = strings[1] = first;
    enum { K = 1, M, SYMBOLS, STRINGS, NAMES, SECTIONS };
    Elf64_Ehdr elf = {.e_type = ET_EXEC,
                      .e_machine = 190,
                      .e_shoff = sizeof(elf),
                      .e_shentsize = sizeof(Elf64_Shdr),
                      .e_shnum = SECTIONS,
                      .e_shstrndx = NAMES};
    memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    const Elf64_Sym symbols[] = {
        {0},
        {.st_name = 1,
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
         .st_shndx = K,
         .st_size = CODE},
        {.st_name = 3,
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
         .st_shndx = M,
         .st_size = CODE},
        {.st_name = 5,
         .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
         .st_shndx = M,
         .st_value = CODE,
         .st_size = CODE},
        {.st_name = 12, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
    };
    Elf64_Shdr sections[SECTIONS] = {
        [K] = {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = CODE},
        [M] = {.sh_name = 9, .sh_type = SHT_PROGBITS, .sh_size = 2 * CODE},
        [SYMBOLS] = {.sh_name = 17,
                     .sh_type = SHT_SYMTAB,
                     .sh_size = sizeof(symbols),
                     .sh_link = STRINGS},
        [STRINGS] = {.sh_name = 25, .sh_type = SHT_STRTAB, .sh_size = sizeof(strings)},
        [NAMES] = {.sh_name = 33, .sh_type = SHT_STRTAB, .sh_size = sizeof(names)},
    };
    char k[CODE] = {first, version}, m[2 * CODE] = {'m', version};
    m[CODE] = 'h';
    m[CODE + 1] = version;
    const void *contents[SECTIONS] = {NULL, k, m, symbols, strings, names};
    size_t at = sizeof(elf) + sizeof(sections);
    for (int i = 1; i < SECTIONS; i++) {
        at = (at + 7) / 8 * 8;
        sections[i].sh_offset = at;
        memcpy(out + at, contents[i], sections[i].sh_size);
        at += sections[i].sh_size;
    }
    memcpy(out, &elf, sizeof(elf));
    memcpy(out + sizeof(elf), sections, sizeof(sections));
    return (at + 7) / 8 * 8;
}

static size_t make_cubin(char *out, char version)
{
    return make_cubin_of(out, version, 'k');
}

static size_t add_cubin(char *out, uint32_t arch, int packing, char version)
{
    static char cubin[4096] __attribute__((aligned(8)));
    return add_entry(out, ELF, arch, packing, cubin, make_cubin(cubin, version));
}

static char image[32768] __attribute__((aligned(8)));

/* A fatbin of one packing: 8.0 (version 'a'), 9.0 ('b'), PTX. */
static size_t make_fatbin(int packing)
{
    size_t size = add_cubin(image + 16, 80, packing, 'a');
    size += add_cubin(image + 16 + size, 90, packing, 'b');
    size += add_entry(image + 16 + size, PTX, 90, PLAIN, ".version 8.0\n", 14);
    return close_fatbin(image, size);
}

/* ---- one image ------------------------------------------------------------------------------- */

static const char *why;
static struct gp_reason unknown; /* that of a module */

static const char *find_at(struct gp_code *code, const char *function, int cc)
{
    size_t size = 0;
    const char *bytes = gp_code_find(code, function, cc, &size, &why);
    assert_true(!bytes == !!why);
    assert_true(!bytes || size == CODE || (size == 2 * CODE && *function == 'm'));
    return bytes;
}

static void assert_starts(const char *bytes, char letter, char version)
{
    assert_non_null(bytes);
    assert_int_equal(bytes[0], letter);
    assert_int_equal(bytes[1], version);
}

static void functions_are_found_in_a_cubin(void **state)
{
    (void)state;
    size_t size = make_cubin(image, 'v');
    struct gp_code *code = gp_code_keep(image, size, false);
    memset(image, 0, sizeof(image)); /* the program may reuse it at once */
    assert_starts(find_at(code, "k", 90), 'k', 'v');
    assert_starts(find_at(code, "m", 90), 'm', 'v');
    assert_starts(find_at(code, "helper", 90), 'h', 'v');
    assert_null(find_at(code, "other", 90));
    assert_string_equal(why, "the kernel's machine code is not in the image of its module");
    gp_code_drop(code);
}

static void calls_of_a_module_are_undefined_in_its_cubin(void **state)
{
    (void)state;
    struct gp_code *code = gp_code_keep(image, make_cubin(image, 'v'), true);
    assert_true(gp_code_may_call(code, "outside", 90));
    assert_false(gp_code_may_call(code, "helper", 90));
    assert_false(gp_code_may_call(code, "other", 90));
    gp_code_drop(code);
    code = gp_code_keep(image, make_fatbin(PLAIN), true);
    assert_true(gp_code_may_call(code, "outside", 90));
    assert_false(gp_code_may_call(code, "other", 90));
    gp_code_drop(code);
    /* Nobody can tell: nothing is known, PTX, something else. */
    assert_true(gp_code_may_call(NULL, "other", 90));
    static const char ptx[] = ".version 8.0\n.target sm_90\n.entry k() { ret; }\n";
    static const char none[64] = "neither this nor that";
    code = gp_code_keep(ptx, sizeof(ptx), true);
    assert_true(gp_code_may_call(code, "other", 90));
    gp_code_drop(code);
    code = gp_code_keep(none, sizeof(none), true);
    assert_true(gp_code_may_call(code, "other", 90));
    gp_code_drop(code);
}

static void a_cubins_size_is_its_own_affair(void **state)
{
    (void)state;
    make_cubin(image, 'v');
    struct gp_code *code = gp_code_keep(image, 0, false);
    memset(image, 0, sizeof(image));
    assert_starts(find_at(code, "m", 90), 'm', 'v');
    gp_code_drop(code);
}

static void the_cubin_for_the_chip_is_taken(void **state)
{
    (void)state;
    for (int packing = PLAIN; packing <= ZSTD; packing++) {
        size_t size = make_fatbin(packing);
        struct gp_code *code = gp_code_keep(image, size, false);
        assert_starts(find_at(code, "k", 90), 'k', 'b');
        assert_starts(find_at(code, "k", 80), 'k', 'a');
        assert_starts(find_at(code, "helper", 86), 'h', 'a');
        assert_starts(find_at(code, "k", 90), 'k', 'b'); /* from the code that was found before */
        assert_null(find_at(code, "k", 120));
        assert_string_equal(why, "the kernel's module has no machine code for this GPU, only PTX");
        gp_code_drop(code);
    }
}

static void an_image_that_stays_is_not_copied(void **state)
{
    (void)state;
    make_fatbin(LZ4);
    struct gp_code *code = gp_code_keep(image, 0, true);
    make_fatbin(ZSTD); /* as if it had been this one */
    const char *bytes = find_at(code, "k", 90);
    memset(image, 0, sizeof(image));
    assert_starts(bytes, 'k', 'b');
    assert_ptr_equal(find_at(code, "k", 90), bytes);
    gp_code_drop(code);
}

static void a_wrapper_is_followed(void **state)
{
    (void)state;
    struct {
        uint32_t magic, version;
        const void *data, *linked;
    } wrapper = {0x466243b1, 1, image, NULL};
    make_fatbin(LZ4);
    struct gp_code *code = gp_code_keep(&wrapper, 0, true);
    assert_starts(find_at(code, "k", 90), 'k', 'b');
    gp_code_drop(code);
    code = gp_code_keep(&wrapper, 0, false); /* it could point anywhere by tomorrow */
    assert_null(find_at(code, "k", 90));
    gp_code_drop(code);
}

static void an_image_goes_with_its_library(void **state)
{
    (void)state;
    static struct {
        uint32_t magic, version;
        const void *data, *linked;
    } wrapper = {0x466243b1, 1, image, NULL};
    Dl_info here;
    assert_int_not_equal(dladdr(&wrapper, &here), 0);
    make_fatbin(LZ4);
    struct gp_code *code = gp_code_keep(&wrapper, 0, true);
    gp_code_lies_in(code, here.dli_fbase);
    assert_starts(find_at(code, "k", 90), 'k', 'b');
    gp_code_drop(code);
    code = gp_code_keep(&wrapper, 0, true);
    gp_code_lies_in(code, (const char *)here.dli_fbase + 1); /* as if another were there now */
    assert_null(find_at(code, "k", 90));
    gp_code_drop(code);
}

static void ptx_has_none(void **state)
{
    (void)state;
    struct gp_code *code = gp_code_keep(".version 8.0\n.entry k() {}", 0, false);
    assert_null(find_at(code, "k", 90));
    assert_string_equal(why, "the kernel's module has no machine code for this GPU, only PTX");
    gp_code_drop(code);
    code = gp_code_keep(NULL, 0, false);
    assert_null(find_at(code, "k", 90));
    gp_code_drop(code);
}

/* A cubin made of the text has the code from then on, where its registers are those of the driver.
 */
static void ptx_that_was_compiled(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.entry k() {}";
    size_t size = make_cubin(image, 'v');
    struct gp_code *code = gp_code_keep(text, 0, false);
    char *ptx = gp_code_ptx(code, 90);
    assert_string_equal(ptx, text);
    assert_int_equal(gp_code_ptx_bytes(code, 90), strlen(text));
    free(ptx);
    gp_code_check_registers(code, "k", 90, 9); /* not compiled as yet */
    assert_null(find_at(code, "k", 90));
    gp_code_compiled(code, image, size, NULL);
    assert_null(gp_code_ptx(code, 90));
    assert_int_equal(gp_code_ptx_bytes(code, 90), 0);
    assert_starts(find_at(code, "k", 90), 'k', 'v');
    gp_code_check_registers(code, "k", 90, 0); /* this cubin does not say how many */
    assert_non_null(find_at(code, "k", 90));
    gp_code_check_registers(code, "k", 90, 9);
    assert_null(find_at(code, "k", 90));
    assert_string_equal(
        why, "the machine code made of the PTX of the kernel's module is not that of the driver");
    gp_code_drop(code);
    code = gp_code_keep(text, 0, false);
    gp_code_compiled(code, NULL, 0, "it could not");
    assert_null(gp_code_ptx(code, 90));
    assert_null(find_at(code, "k", 90));
    gp_code_drop(code);
    /* Machine code is not made anew. */
    code = gp_code_keep(image, size, false);
    assert_null(gp_code_ptx(code, 90));
    gp_code_drop(code);
    assert_null(gp_code_ptx(NULL, 90));
    gp_code_compiled(NULL, image, size, NULL);
}

static void code_that_is_not_run_is_not_shown(void **state)
{
    (void)state;
    struct gp_code *code = gp_code_keep(image, make_fatbin(LZ4), false);
    setenv("CUDA_FORCE_PTX_JIT", "1", 1);
    assert_null(find_at(code, "k", 90));
    unsetenv("CUDA_FORCE_PTX_JIT");
    gp_code_drop(code);
}

static void of_two_versions_none_is_shown(void **state)
{
    (void)state;
    size_t size = add_cubin(image + 16, 90, LZ4, 'x');
    size += add_cubin(image + 16 + size, 90, LZ4, 'y');
    size += add_cubin(image + 16 + size, 90, LZ4, 'x');
    size = close_fatbin(image, size);
    struct gp_code *code = gp_code_keep(image, size, false);
    assert_null(find_at(code, "k", 90));
    assert_string_equal(why, "the kernel's module holds several versions of its machine code");
    gp_code_drop(code);
}

static void kept_code_has_a_bound(void **state)
{
    (void)state;
    size_t size = make_fatbin(PLAIN);
    const size_t large = (size_t)33 << 20;
    char *padded = calloc(1, large);
    assert_non_null(padded);
    memcpy(padded, image, size);
    struct gp_code *first = gp_code_keep(padded, large, false);
    struct gp_code *second = gp_code_keep(padded, large, false);
    assert_starts(find_at(first, "k", 90), 'k', 'b');
    assert_null(find_at(second, "k", 90));
    assert_string_equal(why, "the image of the kernel's module is too large to be kept");
    gp_code_drop(first);
    gp_code_drop(second);
    second = gp_code_keep(padded, large, false); /* there is room again */
    assert_starts(find_at(second, "k", 90), 'k', 'b');
    gp_code_drop(second);
    free(padded);
}

static void a_damaged_image_has_none(void **state)
{
    (void)state;
    size_t size = make_fatbin(LZ4);
    memset(image + 100, 0xff, 200);
    struct gp_code *code = gp_code_keep(image, size, false);
    assert_null(find_at(code, "m", 80));
    gp_code_drop(code);
}

/* ---- unpacked once --------------------------------------------------------------------------- */

/* From now on it cannot be unpacked. */
static void destroy(char *fatbin)
{
    memset(fatbin + 16 + 64, 0xff, 200);
}

static void assert_slim(struct gp_code *code, const char *function, bool is_there)
{
    size_t size = 0;
    void *slim = gp_code_slim(code, function, 90, 1 << 20, &size);
    assert_int_equal(slim != NULL, is_there);
    assert_true(!slim || memmem(slim, size, function, strlen(function)));
    free(slim);
}

static void questions_unpack_an_image_once(void **state)
{
    (void)state;
    for (int packing = LZ4; packing <= ZSTD; packing++) {
        struct gp_code *code = gp_code_keep(image, make_fatbin(packing), true);
        assert_starts(find_at(code, "k", 90), 'k', 'b');
        memset(image, 0, sizeof(image));
        assert_starts(find_at(code, "m", 90), 'm', 'b');
        assert_starts(find_at(code, "helper", 90), 'h', 'b');
        assert_null(find_at(code, "other", 90));
        assert_slim(code, "k", true);
        assert_slim(code, "other", false);
        assert_true(gp_code_may_call(code, "outside", 90));
        assert_false(gp_code_may_call(code, "other", 90));
        assert_null(find_at(code, "k", 80)); /* another chip's cubin has not been unpacked */
        gp_code_drop(code);
    }
}

static void ignore(const char *name, size_t length, void *data)
{
    (void)name, (void)length, (void)data;
}

static void ignore_variable(const char *name, size_t length, const struct gp_position *position,
                            void *data)
{
    (void)name, (void)length, (void)position, (void)data;
}

static bool read_image(struct gp_code *code, const void *from, size_t size)
{
    static const struct gp_image_visitor visitor = {ignore_variable, ignore, NULL};
    const char *runs_once, *reason;
    bool ok = gp_code_read(code, from, size, 90, &visitor, NULL, &runs_once, &reason);
    assert_true(!ok == !!reason);
    return ok;
}

static void an_image_that_was_read_is_unpacked(void **state)
{
    (void)state;
    for (int packing = PLAIN; packing <= ZSTD; packing++) {
        size_t size = make_fatbin(packing);
        struct gp_code *code = gp_code_keep(image, size, packing != PLAIN);
        assert_true(read_image(code, image, size));
        memset(image, 0, sizeof(image)); /* of a plain one there is a copy */
        assert_starts(find_at(code, "k", 90), 'k', 'b');
        gp_code_drop(code);
    }
    /* Text is kept for the driver's compiler. */
    static const char ptx[] = ".version 8.0\n.entry k() {}";
    struct gp_code *code = gp_code_keep(ptx, 0, false);
    assert_true(read_image(code, ptx, 0));
    assert_true(read_image(NULL, ptx, 0));
    assert_true(read_image(code, NULL, 0));
    gp_code_drop(code);
}

/* Damage behind a function does not hide it, the first time and later. */
static void code_in_front_of_damage_is_found(void **state)
{
    (void)state;
    size_t good = add_cubin(image + 16, 90, ZSTD, 'x');
    size_t size = good + add_cubin(image + 16 + good, 90, ZSTD, 'x');
    size = close_fatbin(image, size);
    destroy(image + good);
    struct gp_code *code = gp_code_keep(image, size, true);
    assert_starts(find_at(code, "k", 90), 'k', 'x');
    assert_starts(find_at(code, "m", 90), 'm', 'x');
    assert_null(find_at(code, "other", 90));
    assert_string_equal(why, "the module's compressed image is damaged");
    assert_true(gp_code_may_call(code, "other", 90));
    assert_false(read_image(code, image, size));
    gp_code_drop(code);
}

static void an_image_may_go_between_questions(void **state)
{
    (void)state;
    Dl_info here;
    assert_int_not_equal(dladdr(image, &here), 0);
    for (int packing = PLAIN; packing <= ZSTD; packing++) {
        struct gp_code *code = gp_code_keep(image, make_fatbin(packing), true);
        gp_code_lies_in(code, here.dli_fbase);
        assert_starts(find_at(code, "k", 90), 'k', 'b');
        assert_false(gp_code_may_call(code, "other", 90));
        gp_code_lies_in(code, (const char *)here.dli_fbase + 1); /* another is there now */
        memset(image, 0, sizeof(image));
        assert_null(find_at(code, "m", 90));
        assert_string_equal(why, "the image of the kernel's module is there no more");
        assert_starts(find_at(code, "k", 90), 'k', 'b'); /* found before */
        assert_slim(code, "k", false);
        assert_true(gp_code_may_call(code, "other", 90));
        gp_code_drop(code);
    }
}

/* Images that are small, and large when they are unpacked. */
static struct {
    char fatbin[32768] __attribute__((aligned(8)));
    struct gp_code *code;
} large[4];

static struct gp_code *make_large(size_t i, size_t megabytes, unsigned cubins)
{
    char *cubin = calloc(megabytes, 1 << 20);
    size_t size = 0;
    assert_non_null(cubin);
    make_cubin(cubin, 'v');
    while (cubins--)
        size += add_entry(large[i].fatbin + 16 + size, ELF, 90, ZSTD, cubin, megabytes << 20);
    assert_true(size + 16 <= sizeof(large[i].fatbin));
    free(cubin);
    size = close_fatbin(large[i].fatbin, size);
    return large[i].code = gp_code_keep(large[i].fatbin, size, true);
}

static void drop_large(size_t count)
{
    while (count > 0)
        gp_code_drop(large[--count].code);
}

static void unpacked_cubins_have_a_bound(void **state)
{
    (void)state;
    assert_starts(find_at(make_large(0, 25, 1), "k", 90), 'k', 'v');
    assert_starts(find_at(make_large(1, 25, 1), "k", 90), 'k', 'v');
    assert_false(gp_code_may_call(large[0].code, "other", 90));
    assert_starts(find_at(make_large(2, 25, 1), "k", 90), 'k', 'v');
    for (size_t i = 0; i < 3; i++)
        destroy(large[i].fatbin);
    assert_starts(find_at(large[0].code, "m", 90), 'm', 'v');
    assert_starts(find_at(large[2].code, "m", 90), 'm', 'v');
    /* The one that was asked before all others has made room. */
    assert_null(find_at(large[1].code, "m", 90));
    drop_large(3);
}

static void an_image_too_large_is_unpacked_for_each_question(void **state)
{
    (void)state;
    assert_starts(find_at(make_large(0, 65, 1), "k", 90), 'k', 'v');
    assert_starts(find_at(make_large(1, 45, 2), "k", 90), 'k', 'v');
    assert_starts(find_at(make_large(2, 25, 1), "k", 90), 'k', 'v');
    for (size_t i = 0; i < 2; i++) {
        assert_starts(find_at(large[i].code, "m", 90), 'm', 'v');
        assert_slim(large[i].code, "k", true);
        assert_false(gp_code_may_call(large[i].code, "other", 90));
    }
    for (size_t i = 0; i < 3; i++)
        destroy(large[i].fatbin);
    assert_null(find_at(large[0].code, "helper", 90));
    assert_null(find_at(large[1].code, "helper", 90));
    assert_starts(find_at(large[2].code, "helper", 90), 'h', 'v'); /* it has made no room */
    drop_large(3);
}

/* ---- one cubin of several -------------------------------------------------------------------- */

#define PACKED ((size_t)40 << 20) /* two of them are too large to be kept */

/* An image of cubins for 9.0, with a function each that no other one has, beside m and helper. */
static struct gp_code *make_several(const char *firsts, const char *versions)
{
    char *cubin = calloc(1, PACKED);
    size_t size = 0;
    assert_non_null(cubin);
    for (; *firsts; firsts++) {
        make_cubin_of(cubin, *versions++, *firsts);
        size += add_entry(large[0].fatbin + 16 + size, ELF, 90, ZSTD, cubin, PACKED);
    }
    assert_true(size + 16 <= sizeof(large[0].fatbin));
    free(cubin);
    size = close_fatbin(large[0].fatbin, size);
    return gp_code_keep(large[0].fatbin, size, true);
}

static size_t missing(struct gp_code *code, const char *function)
{
    return gp_code_missing(code, function, 90);
}

static void a_function_is_unpacked_without_cubins_that_do_not_have_it(void **state)
{
    (void)state;
    struct gp_code *code = make_several("kq", "vv");
    assert_int_equal(missing(code, "q"), 2 * PACKED); /* nothing is known yet */
    assert_starts(find_at(code, "k", 90), 'k', 'v');
    assert_int_equal(missing(code, "k"), 0);
    assert_int_equal(missing(code, "m"), 2 * PACKED);
    assert_int_equal(missing(code, "q"), PACKED);
    assert_int_equal(missing(code, "other"), 0);
    destroy(large[0].fatbin); /* the first one */
    assert_starts(find_at(code, "q", 90), 'q', 'v');
    assert_null(find_at(code, "other", 90));
    assert_string_equal(why, "the kernel's machine code is not in the image of its module");
    assert_null(find_at(code, "m", 90)); /* both have it */
    assert_string_equal(why, "the module's compressed image is damaged");
    gp_code_drop(code);
}

static void a_cubin_that_was_unpacked_by_itself_is_kept(void **state)
{
    (void)state;
    struct gp_code *code = make_several("qk", "vv");
    assert_starts(find_at(code, "k", 90), 'k', 'v');
    assert_slim(code, "q", true);
    destroy(large[0].fatbin); /* that of q */
    assert_slim(code, "q", true);
    assert_slim(code, "k", true);
    assert_slim(code, "q", false); /* k has made room */
    gp_code_drop(code);
}

static void versions_in_cubins_apart_are_found(void **state)
{
    (void)state;
    struct gp_code *code = make_several("kqr", "vvw");
    assert_starts(find_at(code, "q", 90), 'q', 'v');
    assert_starts(find_at(code, "r", 90), 'r', 'w');
    assert_null(find_at(code, "helper", 90));
    assert_string_equal(why, "the kernel's module holds several versions of its machine code");
    gp_code_drop(code);
}

/* A cubin of another chip has other functions. */
static void functions_are_known_for_a_chip(void **state)
{
    (void)state;
    char cubin[4096];
    size_t size = add_entry(image + 16, ELF, 80, ZSTD, cubin, make_cubin_of(cubin, 'a', 'q'));
    size += add_cubin(image + 16 + size, 90, ZSTD, 'b');
    struct gp_code *code = gp_code_keep(image, close_fatbin(image, size), true);
    assert_null(find_at(code, "q", 90));
    assert_starts(find_at(code, "q", 80), 'q', 'a');
    assert_null(find_at(code, "k", 80));
    assert_starts(find_at(code, "k", 90), 'k', 'b');
    gp_code_drop(code);
}

/* An image with a symbol more than names are kept of all images. */
static struct gp_code *make_full(void)
{
    const size_t count = ((size_t)1 << 20) + 1, bytes = (size_t)65 << 20;
    char *cubin = calloc(1, bytes);
    Elf64_Shdr sections[4];
    Elf64_Sym symbols[4];
    assert_non_null(cubin);
    const size_t end = make_cubin(cubin, 'v');
    memcpy(sections, cubin + sizeof(Elf64_Ehdr), sizeof(sections));
    memcpy(symbols, cubin + sections[3].sh_offset, sizeof(symbols));
    for (size_t i = 0; i < count; i++)
        memcpy(cubin + end + i * sizeof(symbols[0]), &symbols[3], sizeof(symbols[0]));
    sections[3].sh_offset = end;
    sections[3].sh_size = count * sizeof(symbols[0]);
    memcpy(cubin + sizeof(Elf64_Ehdr), sections, sizeof(sections));
    size_t size = add_entry(large[0].fatbin + 16, ELF, 90, ZSTD, cubin, bytes);
    assert_true(size + 16 <= sizeof(large[0].fatbin));
    free(cubin);
    return gp_code_keep(large[0].fatbin, close_fatbin(large[0].fatbin, size), true);
}

static void names_have_a_bound(void **state)
{
    (void)state;
    struct gp_code *full = make_full();
    assert_starts(find_at(full, "helper", 90), 'h', 'v');
    assert_int_equal(missing(full, "other"), (size_t)65 << 20);
    gp_code_drop(full);
}

static void names_make_room_for_others(void **state)
{
    (void)state;
    const size_t size = make_cubin(image, 'v');
    struct gp_names names = {0};
    const struct gp_part part = {.is_cubin = true, .bytes = image, .size = size, .cubin = 1};
    for (int i = 0; i < 1 << 19; i++) {
        gp_names_note(&names, &part);
        assert_false(gp_names_may_have(&names, 1, "other"));
        gp_names_drop(&names);
    }
    gp_names_note(&names, &part);
    assert_true(gp_names_may_have(&names, 1, "helper"));
    assert_true(gp_names_may_have(&names, 0, "other")); /* it was not noted */
    gp_names_drop(&names);
}

static void the_time_to_unpack_follows_the_bytes(void **state)
{
    (void)state;
    const double guess = gp_unpacking_seconds(1000000), before = gp_unpacked_seconds();
    assert_true(guess > 1.99e-3 && guess < 2.01e-3 && before == 0);
    struct gp_code *code = make_several("k", "v");
    assert_starts(find_at(code, "k", 90), 'k', 'v');
    const double took = gp_unpacked_seconds(), all = 1e6 + (double)PACKED;
    assert_true(took > 0);
    const double predicted = gp_unpacking_seconds(PACKED), expected = PACKED / all * (2e-3 + took);
    assert_true(predicted > 0.999 * expected && predicted < 1.001 * expected);
    gp_code_drop(code);
}

/* To find a function and to keep its lines unpacks an image once. */
static void a_function_of_an_image_too_large_is_slimmed_as_it_is_found(void **state)
{
    (void)state;
    struct gp_code *code = make_several("kq", "vv");
    assert_true(read_image(code, large[0].fatbin, 0)); /* it is loaded */
    assert_starts(find_at(code, "m", 90), 'm', 'v');   /* of both cubins, which are not kept */
    destroy(large[0].fatbin);
    assert_slim(code, "m", true);
    assert_slim(code, "m", false); /* it was handed over */
    assert_null(find_at(code, "helper", 90));
    gp_code_drop(code);
}

/* Lets the process have so many megabytes more. */
static void limit_memory(rlim_t megabytes)
{
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur =
        megabytes ? pages * (rlim_t)sysconf(_SC_PAGESIZE) + (megabytes << 20) : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static void kept_cubins_are_given_back_for_want_of_memory(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message(
            "skipped: the address sanitizer needs more address space than any limit leaves\n");
        skip();
    }
    make_large(0, 20, 1);
    make_large(1, 40, 1);
    make_large(2, 60, 1);
    assert_starts(find_at(large[0].code, "k", 90), 'k', 'v');
    limit_memory(30); /* with the 20 of the first it is enough */
    const char *k = find_at(large[1].code, "k", 90);
    limit_memory(10);
    const char *none = find_at(large[2].code, "k", 90);
    const char *reason = why;
    limit_memory(0);
    assert_starts(k, 'k', 'v');
    assert_null(none);
    assert_string_equal(reason, "out of memory for machine code");
    assert_starts(find_at(large[2].code, "m", 90), 'm', 'v');
    destroy(large[0].fatbin);
    assert_null(find_at(large[0].code, "m", 90));
    drop_large(3);
}

/* ---- modules --------------------------------------------------------------------------------- */

static void modules_give_their_code_until_they_go(void **state)
{
    (void)state;
    one_gpu();
    CUmodule one = (CUmodule)(uintptr_t)0x1, two = (CUmodule)(uintptr_t)0x2;
    size_t size;
    make_cubin(image, '1');
    gp_module_loaded(one, image);
    make_cubin(image, '2');
    gp_module_loaded(two, image);
    assert_starts(gp_module_code(one, "k", &size, &unknown), 'k', '1');
    assert_starts(gp_module_code(two, "k", &size, &unknown), 'k', '2');
    assert_null(gp_module_code(NULL, "k", &size, &unknown));
    assert_string_equal(unknown.text, "several modules have a function of the kernel's name");
    gp_module_unloading(one);
    assert_starts(gp_module_code(NULL, "k", &size, &unknown), 'k', '2');
    gp_module_unloading(two);
    assert_null(gp_module_code(two, "k", &size, &unknown));
    assert_int_equal(unknown.cause, GP_CAUSE_CODE_UNKNOWN);
}

static void modules_are_unpacked_once_for_all(void **state)
{
    (void)state;
    one_gpu();
    CUlibrary library = (CUlibrary)(uintptr_t)0x3;
    size_t size;
    make_fatbin(ZSTD);
    gp_library_loaded(library, image, true);
    assert_true(gp_module_code_seconds(library, "k") == 0); /* it was unpacked to be read */
    memset(image, 0, sizeof(image));
    assert_starts(gp_module_code(library, "k", &size, &unknown), 'k', 'b');
    assert_true(gp_module_may_call(library, "outside"));
    assert_false(gp_module_may_call(library, "other"));
    void *slim = gp_module_slim(library, "m", 1 << 20, &size);
    assert_non_null(slim);
    free(slim);
    gp_module_unloading(library);
}

static void to_find_code_takes_the_time_to_unpack_it(void **state)
{
    (void)state;
    one_gpu();
    CUmodule first = (CUmodule)(uintptr_t)0x4, second = (CUmodule)(uintptr_t)0x5;
    size_t size;
    gp_code_drop(make_several("kq", "vv"));
    gp_module_loaded(first, large[0].fatbin);
    gp_code_drop(make_several("mr", "vv"));
    gp_module_loaded(second, large[0].fatbin);
    const double one = gp_unpacking_seconds(PACKED);
    assert_true(one > 0);
    assert_true(gp_module_code_seconds(first, "q") == one);
    assert_true(gp_module_code_seconds(second, "q") == 0);
    assert_true(gp_module_code_seconds(NULL, "q") == one); /* of any module */
    assert_starts(gp_module_code(first, "q", &size, &unknown), 'q', 'v');
    assert_true(gp_module_code_seconds(first, "q") == 0);
    gp_module_unloading(first);
    gp_module_unloading(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_to_unpack_follows_the_bytes), /* the first to unpack */
        cmocka_unit_test(functions_are_found_in_a_cubin),
        cmocka_unit_test(calls_of_a_module_are_undefined_in_its_cubin),
        cmocka_unit_test(a_cubins_size_is_its_own_affair),
        cmocka_unit_test(the_cubin_for_the_chip_is_taken),
        cmocka_unit_test(an_image_that_stays_is_not_copied),
        cmocka_unit_test(a_wrapper_is_followed),
        cmocka_unit_test(an_image_goes_with_its_library),
        cmocka_unit_test(ptx_has_none),
        cmocka_unit_test(ptx_that_was_compiled),
        cmocka_unit_test(code_that_is_not_run_is_not_shown),
        cmocka_unit_test(of_two_versions_none_is_shown),
        cmocka_unit_test(kept_code_has_a_bound),
        cmocka_unit_test(a_damaged_image_has_none),
        cmocka_unit_test(questions_unpack_an_image_once),
        cmocka_unit_test(an_image_that_was_read_is_unpacked),
        cmocka_unit_test(code_in_front_of_damage_is_found),
        cmocka_unit_test(an_image_may_go_between_questions),
        cmocka_unit_test(unpacked_cubins_have_a_bound),
        cmocka_unit_test(an_image_too_large_is_unpacked_for_each_question),
        cmocka_unit_test(a_function_is_unpacked_without_cubins_that_do_not_have_it),
        cmocka_unit_test(a_cubin_that_was_unpacked_by_itself_is_kept),
        cmocka_unit_test(versions_in_cubins_apart_are_found),
        cmocka_unit_test(functions_are_known_for_a_chip),
        cmocka_unit_test(names_have_a_bound),
        cmocka_unit_test(names_make_room_for_others),
        cmocka_unit_test(a_function_of_an_image_too_large_is_slimmed_as_it_is_found),
        cmocka_unit_test(kept_cubins_are_given_back_for_want_of_memory),
        cmocka_unit_test(modules_give_their_code_until_they_go),
        cmocka_unit_test(modules_are_unpacked_once_for_all),
        cmocka_unit_test(to_find_code_takes_the_time_to_unpack_it),
    };
    /* Memory that is freed goes back to the system at once, for the test that has little memory. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
