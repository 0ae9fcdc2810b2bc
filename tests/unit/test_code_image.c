/* code/image: the names of a module's variables, in every form an image comes in. The images are
 * made here, from the formats' own definitions. */
#include "code/image.h"

#include "fatbin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- visits ---------------------------------------------------------------------------------- */

struct seen {
    char variables[1024]; /* each followed by a blank */
    char printing[1024];
};
static struct seen seen;

static void add(char names[1024], const char *name, size_t length)
{
    assert_true(strlen(names) + length + 2 < 1024);
    strncat(names, name, length);
    strcat(names, " ");
}

static void note(const char *name, size_t length, const struct gp_position *position, void *data)
{
    (void)position;
    add(((struct seen *)data)->variables, name, length);
}

static void note_printing(const char *name, size_t length, void *data)
{
    add(((struct seen *)data)->printing, name, length);
}

static const struct gp_image_visitor visitor = {note, note_printing, NULL};

/* Reads the image for compute capability 9.0 and answers the names; NULL where it is refused. */
static const char *read_at(const void *image, size_t size, int cc, const char **runs_once)
{
    const char *why = NULL, *unused;
    memset(&seen, 0, sizeof(seen));
    if (!gp_image_read(NULL, image, size, cc, &visitor, &seen, runs_once ? runs_once : &unused,
                       &why)) {
        assert_non_null(why);
        return NULL;
    }
    return seen.variables;
}

static const char *names_in(const void *image, size_t size)
{
    return read_at(image, size, 90, NULL);
}

/* ---- images ---------------------------------------------------------------------------------- */

struct symbol {
    const char *name;
    unsigned char type;
    uint16_t section; /* 1: .nv.global, 2: .nv.shared.k, 0: undefined */
};

/* A cubin of three named sections, a symbol table and its strings, with `padding` bytes before the
 * table of sections and that of symbols. */
static size_t make_padded_cubin(char *out, const struct symbol *symbols, size_t count,
                                size_t padding)
{
    static const char section_names[] = "\0.nv.global\0.nv.shared.k\0.symtab\0.strtab";
    enum { NAMES = 5, SYMBOLS = 3, STRINGS = 4, SECTIONS = 6 };
    const size_t sections_at = sizeof(Elf64_Ehdr) + padding;
    const size_t symbols_at = sections_at + SECTIONS * sizeof(Elf64_Shdr) + padding;
    const size_t strings_at = symbols_at + count * sizeof(Elf64_Sym);
    size_t used = 1;
    out[strings_at] = '\0';
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym entry = {.st_name = (Elf64_Word)used,
                           .st_info = ELF64_ST_INFO(STB_LOCAL, symbols[i].type),
                           .st_shndx = symbols[i].section};
        memcpy(out + symbols_at + i * sizeof(entry), &entry, sizeof(entry));
        strcpy(out + strings_at + used, symbols[i].name);
        used += strlen(symbols[i].name) + 1;
    }
    const size_t names_at = strings_at + used;
    memcpy(out + names_at, section_names, sizeof(section_names));
    const Elf64_Shdr sections[SECTIONS] = {
        [1] = {.sh_name = 1, .sh_type = SHT_NOBITS, .sh_size = 1 << 20},
        [2] = {.sh_name = 12, .sh_type = SHT_NOBITS, .sh_size = 1 << 20},
        [SYMBOLS] = {.sh_name = 25,
                     .sh_type = SHT_SYMTAB,
                     .sh_offset = symbols_at,
                     .sh_size = strings_at - symbols_at,
                     .sh_link = STRINGS},
        [STRINGS] = {.sh_name = 33,
                     .sh_type = SHT_STRTAB,
                     .sh_offset = strings_at,
                     .sh_size = used},
        [NAMES] = {.sh_name = 33,
                   .sh_type = SHT_STRTAB,
                   .sh_offset = names_at,
                   .sh_size = sizeof(section_names)},
    };
    for (size_t i = 0; i < SECTIONS; i++)
        memcpy(out + sections_at + i * sizeof(sections[i]), &sections[i], sizeof(sections[i]));
    Elf64_Ehdr elf = {.e_type = ET_EXEC,
                      .e_machine = 190,
                      .e_shoff = sections_at,
                      .e_shentsize = sizeof(Elf64_Shdr),
                      .e_shnum = SECTIONS,
                      .e_shstrndx = NAMES};
    memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(out, &elf, sizeof(elf));
    return names_at + sizeof(section_names);
}

static size_t make_cubin(char *out, const struct symbol *symbols, size_t count)
{
    return make_padded_cubin(out, symbols, count, 0);
}

static const struct symbol usual[] = {
    {"counter", STT_OBJECT, 1}, {"_ZZ6kernelvE5calls", STT_OBJECT, 1}, {"kernel", STT_FUNC, 1},
    {"tile", STT_OBJECT, 2},    {"elsewhere", STT_OBJECT, 0},
};
#define USUAL_NAMES "counter _ZZ6kernelvE5calls "

static _Alignas(16) char image[32768];
static _Alignas(16) char cubin[8192];

static size_t fatbin_of(uint16_t kind, uint32_t arch, int packing, const char *payload, size_t size)
{
    return close_fatbin(image, add_entry(image + 16, kind, arch, packing, payload, size));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_cubin_gives_its_device_variables_and_no_others(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    assert_string_equal(names_in(cubin, size), USUAL_NAMES);
    /* The driver's calls tell no size; the cubin's own tables do. */
    assert_string_equal(names_in(cubin, 0), USUAL_NAMES);
}

static void a_cubin_may_lie_at_any_address(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    memmove(image + 3, cubin, size);
    assert_string_equal(names_in(image + 3, size), USUAL_NAMES);
}

/* As cuDNN and cuBLASLt make them at run time. */
static void tables_of_a_cubin_may_lie_at_any_offset(void **state)
{
    (void)state;
    for (size_t padding = 1; padding < 8; padding++) {
        size_t size = make_padded_cubin(cubin, usual, 5, padding);
        assert_string_equal(names_in(cubin, size), USUAL_NAMES);
        assert_string_equal(names_in(cubin, 0), USUAL_NAMES);
    }
}

static void a_cubin_that_calls_printf_prints(void **state)
{
    (void)state;
    const struct symbol symbols[] = {{"vprintf", STT_FUNC, 0}, {"counter", STT_OBJECT, 1}};
    const char *prints = NULL;
    size_t size = make_cubin(cubin, symbols, 2);
    assert_string_equal(read_at(cubin, size, 90, &prints), "counter ");
    assert_string_equal(prints, "the kernel's module prints"); /* it has no call graph */
    size = make_cubin(cubin, usual, 5);
    read_at(cubin, size, 90, &prints);
    assert_null(prints);
}

static void a_module_of_several_parts_prints_as_a_whole(void **state)
{
    (void)state;
    const char loud[] = ".func f() { call vprintf; }", caller[] = ".entry k() { call f; }";
    const char *prints = NULL;
    size_t at = add_entry(image + 16, PTX, 90, PLAIN, loud, sizeof(loud));
    size_t whole = close_fatbin(image, at);
    read_at(image, whole, 90, &prints);
    assert_null(prints);
    assert_string_equal(seen.printing, "f ");
    at += add_entry(image + 16 + at, PTX, 90, PLAIN, caller, sizeof(caller));
    whole = close_fatbin(image, at);
    read_at(image, whole, 90, &prints);
    assert_string_equal(prints, "the kernel's module prints");
}

static void a_damaged_cubin_is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    for (size_t cut = 4; cut < size; cut++) {
        char *part = malloc(cut); /* its own block, so that reading beyond it is caught */
        assert_non_null(part);
        memcpy(part, cubin, cut);
        names_in(part, cut);
        free(part);
    }
    assert_null(names_in(cubin, 100));
}

static void fatbins_are_read_however_they_are_packed(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    for (int packing = PLAIN; packing <= ZSTD; packing++) {
        size_t whole = fatbin_of(ELF, 90, packing, cubin, size);
        assert_string_equal(names_in(image, whole), USUAL_NAMES);
        assert_string_equal(names_in(image, 0), USUAL_NAMES);
    }
}

static void a_fatbin_is_read_for_the_chip_at_hand(void **state)
{
    (void)state;
    const struct symbol old[] = {{"old", STT_OBJECT, 1}}, new[] = {{"new", STT_OBJECT, 1}};
    const char ptx[] = ".version 8.0\n.global .u32 from_ptx;\n";
    size_t size = make_cubin(cubin, old, 1);
    size_t at = add_entry(image + 16, ELF, 80, PLAIN, cubin, size);
    size = make_cubin(cubin, new, 1);
    at += add_entry(image + 16 + at, ELF, 90, ZSTD, cubin, size);
    at += add_entry(image + 16 + at, PTX, 90, LZ4, ptx, sizeof(ptx));
    close_fatbin(image, at);
    assert_string_equal(read_at(image, 0, 90, NULL), "new ");
    assert_string_equal(read_at(image, 0, 86, NULL), "old "); /* 8.0 code runs on 8.6 */
    assert_string_equal(read_at(image, 0, 100, NULL), "from_ptx ");
    assert_string_equal(read_at(image, 0, 75, NULL), ""); /* nothing here runs on that chip */
}

static void a_wrapper_leads_to_its_fatbins(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    fatbin_of(ELF, 90, PLAIN, cubin, size);
    struct {
        uint32_t magic, version;
        const void *data, *linked;
    } wrapper = {0x466243b1, 1, image, NULL};
    assert_string_equal(names_in(&wrapper, 0), USUAL_NAMES);
    const void *parts[] = {image, NULL};
    wrapper.version = 2;
    wrapper.data = NULL;
    wrapper.linked = parts;
    assert_string_equal(names_in(&wrapper, 0), USUAL_NAMES);
}

static void damaged_fatbins_are_refused(void **state)
{
    (void)state;
    size_t size = make_cubin(cubin, usual, 5);
    size_t whole = fatbin_of(ELF, 90, ZSTD, cubin, size);
    assert_null(names_in(image, whole - 20)); /* shorter than it says */
    memset(image + 16 + 64 + 10, 0x55, 40);   /* the compressed bytes */
    assert_null(names_in(image, whole));
    whole = fatbin_of(ELF, 90, LZ4, cubin, size);
    memset(image + 16 + 64, 0xff, 40);
    assert_null(names_in(image, whole));
    whole = fatbin_of(ELF, 90, PLAIN, cubin, size);
    memset(image + 16 + 8, 0xff, 8); /* an entry larger than the file */
    assert_null(names_in(image, whole));
}

static void ptx_gives_the_declarations_at_its_top(void **state)
{
    (void)state;
    const char *ptx = "//\n// Generated by a compiler: .global .u32 in_a_comment;\n"
                      ".version 8.0\n.target sm_90\n.address_size 64\n"
                      ".file 1 \"a .global .u32 name;\"\n"
                      ".visible .global .align 4 .u32 counter;\n"
                      ".global .align 4 .b8 table[12];\n"
                      ".global .align 8 .u64 pointer = counter;\n"
                      ".global .align 1 .b8 text[3] = {97, 98, 0};\n"
                      ".const .align 8 .b8 factors[32];\n"
                      ".global .attribute(.managed) .align 4 .u32 shared_with_host;\n"
                      ".global .u32 one, two;\n"
                      ".shared .align 4 .b8 tile[128];\n"
                      ".extern .func (.param .b32 retval) helper(.param .b64 a);\n"
                      "/* .global .u32 hidden; */\n"
                      ".visible .entry kernel(.param .u64 p) {\n"
                      "  .reg .b32 %r<2>;\n  { ld.global.u32 %r1, [counter]; }\n}\n"
                      ".global .u32 last;\n";
    assert_string_equal(names_in(ptx, 0), "counter table pointer text factors shared_with_host one "
                                          "two last ");
    assert_string_equal(names_in(ptx, strlen(ptx)), names_in(ptx, 0));
}

static void ptx_that_calls_printf_prints(void **state)
{
    (void)state;
    const char *prints = "";
    read_at(".version 8.0\n.extern .func (.param .b32 r) vprintf (.param .b64 f);\n"
            ".entry loud() { call (r), vprintf, (f); }\n.entry quiet() { ret; }\n",
            0, 90, &prints);
    assert_null(prints);
    assert_string_equal(seen.printing, "loud ");
}

static void unfinished_ptx_does_no_harm(void **state)
{
    (void)state;
    const char whole[] =
        ".global .b8 a[3] = {1, 2, 3};\n.entry k() { /* \" */ \"}\" }\n.const .u32 b;";
    for (size_t cut = 1; cut < sizeof(whole); cut++) {
        char *part = malloc(cut);
        assert_non_null(part);
        memcpy(part, whole, cut);
        names_in(part, cut);
        free(part);
    }
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    assert_null(names_in("no image at all", 0));
    assert_null(names_in(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubin_gives_its_device_variables_and_no_others),
        cmocka_unit_test(a_cubin_may_lie_at_any_address),
        cmocka_unit_test(tables_of_a_cubin_may_lie_at_any_offset),
        cmocka_unit_test(a_cubin_that_calls_printf_prints),
        cmocka_unit_test(a_module_of_several_parts_prints_as_a_whole),
        cmocka_unit_test(a_damaged_cubin_is_refused_wherever_it_is_cut),
        cmocka_unit_test(fatbins_are_read_however_they_are_packed),
        cmocka_unit_test(a_fatbin_is_read_for_the_chip_at_hand),
        cmocka_unit_test(a_wrapper_leads_to_its_fatbins),
        cmocka_unit_test(damaged_fatbins_are_refused),
        cmocka_unit_test(ptx_gives_the_declarations_at_its_top),
        cmocka_unit_test(ptx_that_calls_printf_prints),
        cmocka_unit_test(unfinished_ptx_does_no_harm),
        cmocka_unit_test(anything_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
