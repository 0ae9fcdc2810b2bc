#include "code/slim.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define TEXT ".text."
#define ALIGNMENT 16

/* The sections of a slim cubin. All but the first three only where there is a line table. */
enum section { NONE, NAMES, CODE, LINES, STRINGS, RELOCATIONS, SYMBOLS, SYMBOL_NAMES, SECTIONS };

static const char *const names[SECTIONS] = {
    [NONE] = "",
    [NAMES] = ".shstrtab",
    [LINES] = ".debug_line",
    [STRINGS] = ".debug_str",
    [RELOCATIONS] = ".rela.debug_line",
    [SYMBOLS] = ".symtab",
    [SYMBOL_NAMES] = ".strtab",
};

struct slimming {
    const struct gp_cubin *cubin;
    unsigned code;        /* the section of the function */
    const char *function; /* its name */
    struct gp_text contents[SECTIONS];
    struct gp_cubin_symbols symbols;
};

static bool find_code(struct slimming *s)
{
    const size_t prefix = strlen(TEXT);
    for (unsigned i = 1; i < s->cubin->count && !s->code; i++) {
        const char *name = gp_cubin_section_name(s->cubin, i);
        const Elf64_Shdr section = gp_cubin_section(s->cubin, i);
        if (section.sh_type == SHT_PROGBITS && strncmp(name, TEXT, prefix) == 0 &&
            strcmp(name + prefix, s->function) == 0 && gp_cubin_holds(s->cubin, &section))
            s->code = i;
    }
    return s->code != 0;
}

static void copy(struct slimming *s, enum section into, const Elf64_Shdr *section)
{
    gp_text_add_bytes(&s->contents[into], s->cubin->base + section->sh_offset, section->sh_size);
}

/* Takes a symbol of the function's section over; its new number, 0 for all others. */
static size_t take_symbol(struct slimming *s, size_t number)
{
    struct gp_text *symbols = &s->contents[SYMBOLS], *strings = &s->contents[SYMBOL_NAMES];
    if (number >= s->symbols.count)
        return 0;
    Elf64_Sym symbol = gp_cubin_symbol(&s->symbols, number);
    const char *name = gp_cubin_symbol_name(&s->symbols, &symbol);
    if (symbol.st_shndx != s->code || !name)
        return 0;
    symbol.st_name = (Elf64_Word)strings->length;
    symbol.st_shndx = CODE;
    gp_text_add_bytes(strings, name, strlen(name) + 1);
    gp_text_add_bytes(symbols, (const char *)&symbol, sizeof(symbol));
    return symbols->length / sizeof(symbol) - 1;
}

/* Takes the relocations of our function. A relocation says which function a part of the line table
 * is of. */
static void take_relocations(struct slimming *s, const struct gp_cubin_relocations *all)
{
    static const Elf64_Sym none;
    gp_text_add_bytes(&s->contents[SYMBOLS], (const char *)&none, sizeof(none));
    gp_text_add_bytes(&s->contents[SYMBOL_NAMES], "", 1);
    for (size_t i = 0; i < all->count; i++) {
        Elf64_Rela relocation = gp_cubin_relocation(all, i);
        size_t symbol = take_symbol(s, ELF64_R_SYM(relocation.r_info));
        if (!symbol)
            continue;
        relocation.r_info = ELF64_R_INFO((Elf64_Xword)symbol, ELF64_R_TYPE(relocation.r_info));
        gp_text_add_bytes(&s->contents[RELOCATIONS], (const char *)&relocation, sizeof(relocation));
    }
}

static void take_lines(struct slimming *s)
{
    Elf64_Shdr lines, strings;
    struct gp_cubin_relocations relocations;
    if (!gp_cubin_find(s->cubin, names[LINES], &lines) ||
        !gp_cubin_relocations(s->cubin, names[LINES], &relocations))
        return;
    s->symbols = relocations.symbols;
    take_relocations(s, &relocations);
    if (s->contents[RELOCATIONS].length == 0)
        return; /* there is nothing on this function */
    copy(s, LINES, &lines);
    if (gp_cubin_find(s->cubin, names[STRINGS], &strings))
        copy(s, STRINGS, &strings);
}

static void describe(struct slimming *s, Elf64_Shdr sections[SECTIONS])
{
    static const Elf64_Word types[SECTIONS] = {
        [NAMES] = SHT_STRTAB,       [CODE] = SHT_PROGBITS,    [LINES] = SHT_PROGBITS,
        [STRINGS] = SHT_PROGBITS,   [RELOCATIONS] = SHT_RELA, [SYMBOLS] = SHT_SYMTAB,
        [SYMBOL_NAMES] = SHT_STRTAB};
    struct gp_text *all = &s->contents[NAMES];
    memset(sections, 0, SECTIONS * sizeof(*sections));
    for (size_t i = 0; i < SECTIONS; i++) {
        sections[i].sh_type = types[i];
        sections[i].sh_name = (Elf64_Word)all->length;
        gp_text_add(all, i == CODE ? TEXT : names[i]);
        if (i == CODE)
            gp_text_add(all, s->function);
        gp_text_add_bytes(all, "", 1);
    }
    sections[RELOCATIONS].sh_link = SYMBOLS;
    sections[RELOCATIONS].sh_info = LINES;
    sections[RELOCATIONS].sh_entsize = sizeof(Elf64_Rela);
    sections[SYMBOLS].sh_link = SYMBOL_NAMES;
    sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
}

static size_t align(size_t at)
{
    return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Puts everything together; NULL where it is too large or when out of memory. */
static char *assemble(struct slimming *s, size_t most, size_t *size)
{
    Elf64_Shdr sections[SECTIONS];
    bool failed = false;
    describe(s, sections);
    size_t at = align(sizeof(Elf64_Ehdr));
    for (size_t i = 0; i < SECTIONS; i++) {
        failed = failed || s->contents[i].failed;
        sections[i].sh_offset = at;
        sections[i].sh_size = s->contents[i].length;
        at = align(at + s->contents[i].length);
    }
    *size = at + sizeof(sections);
    char *slim = !failed && *size <= most ? calloc(1, *size) : NULL;
    if (!slim)
        return NULL;
    Elf64_Ehdr header;
    memcpy(&header, s->cubin->base, sizeof(header));
    header.e_phoff = 0;
    header.e_phnum = 0;
    header.e_shoff = at;
    header.e_shnum = SECTIONS;
    header.e_shstrndx = NAMES;
    memcpy(slim, &header, sizeof(header));
    for (size_t i = 0; i < SECTIONS; i++)
        if (s->contents[i].length)
            memcpy(slim + sections[i].sh_offset, s->contents[i].data, s->contents[i].length);
    memcpy(slim + at, sections, sizeof(sections));
    return slim;
}

void *gp_cubin_slim(const struct gp_cubin *cubin, const char *function, size_t most, size_t *size)
{
    struct slimming s = {.cubin = cubin, .function = function};
    char *slim = NULL;
    if (find_code(&s)) {
        const Elf64_Shdr code = gp_cubin_section(cubin, s.code);
        copy(&s, CODE, &code);
        take_lines(&s);
        slim = assemble(&s, most, size);
    }
    for (size_t i = 0; i < SECTIONS; i++)
        gp_text_free(&s.contents[i]);
    return slim;
}
