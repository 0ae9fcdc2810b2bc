#include "code/functions.h"

#include <stdint.h>
#include <string.h>

#define SECTION_PREFIX ".text."

/* The function that the section is named after; NULL where it holds no code. */
static const char *owner_of(const struct gp_cubin *cubin, unsigned index)
{
    const size_t prefix = strlen(SECTION_PREFIX);
    const char *name = gp_cubin_section_name(cubin, index);
    const Elf64_Shdr section = gp_cubin_section(cubin, index);
    return section.sh_type == SHT_PROGBITS && strncmp(name, SECTION_PREFIX, prefix) == 0 &&
                   gp_cubin_holds(cubin, &section)
               ? name + prefix
               : NULL;
}

/* Most functions have a section of their own. */
static bool visit_sections(const struct gp_cubin *cubin, gp_function_visit *visit, void *data)
{
    for (unsigned i = 0; i < cubin->count; i++) {
        const char *name = owner_of(cubin, i);
        const Elf64_Shdr section = gp_cubin_section(cubin, i);
        if (name && visit(name, cubin->base + section.sh_offset, section.sh_size, data))
            return true;
    }
    return false;
}

/* A device function that is called lies in the section of its caller, and has a symbol only. */
static bool visit_symbol(const struct gp_cubin *cubin, const struct gp_cubin_symbols *table,
                         const Elf64_Sym *symbol, gp_function_visit *visit, void *data)
{
    const char *name = gp_cubin_symbol_name(table, symbol);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !name || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx >= cubin->count || !symbol->st_size)
        return false;
    const char *owner = owner_of(cubin, symbol->st_shndx);
    const Elf64_Shdr section = gp_cubin_section(cubin, symbol->st_shndx);
    if ((owner && strcmp(owner, name) == 0) || section.sh_type != SHT_PROGBITS ||
        !gp_cubin_holds(cubin, &section) || symbol->st_value > section.sh_size ||
        symbol->st_size > section.sh_size - symbol->st_value)
        return false;
    return visit(name, cubin->base + section.sh_offset + symbol->st_value, symbol->st_size, data);
}

static void visit_symbols(const struct gp_cubin *cubin, gp_function_visit *visit, void *data)
{
    for (unsigned i = 0; i < cubin->count; i++) {
        struct gp_cubin_symbols table;
        const Elf64_Shdr symbols = gp_cubin_section(cubin, i);
        if (symbols.sh_type != SHT_SYMTAB || !gp_cubin_symbols(cubin, &symbols, &table))
            continue;
        for (size_t s = 0; s < table.count; s++) {
            const Elf64_Sym symbol = gp_cubin_symbol(&table, s);
            if (visit_symbol(cubin, &table, &symbol, visit, data))
                return;
        }
    }
}

void gp_cubin_functions(const struct gp_cubin *cubin, gp_function_visit *visit, void *data)
{
    if (!visit_sections(cubin, visit, data))
        visit_symbols(cubin, visit, data);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Entries of .nv.info: a format, an attribute, and two bytes of a value, or of the size of the
 * value that follows. One has the number of a symbol, and the registers of that function. */
#define WITH_SIZE 0x04
#define REGISTERS_OF 0x2f

struct info_entry {
    uint8_t format, attribute;
    uint16_t size;
};

static bool is_function_named(const struct gp_cubin *cubin, uint32_t number, const char *function)
{
    for (unsigned i = 0; i < cubin->count; i++) {
        struct gp_cubin_symbols table;
        const Elf64_Shdr symbols = gp_cubin_section(cubin, i);
        if (symbols.sh_type != SHT_SYMTAB || !gp_cubin_symbols(cubin, &symbols, &table) ||
            number >= table.count)
            continue;
        const Elf64_Sym symbol = gp_cubin_symbol(&table, number);
        const char *name = gp_cubin_symbol_name(&table, &symbol);
        return name && strcmp(name, function) == 0;
    }
    return false;
}

static unsigned registers_by_info(const struct gp_cubin *cubin, const char *function)
{
    Elf64_Shdr info;
    if (!gp_cubin_find(cubin, ".nv.info", &info))
        return 0;
    const char *at = cubin->base + info.sh_offset, *end = at + info.sh_size;
    while ((size_t)(end - at) >= sizeof(struct info_entry)) {
        struct info_entry entry;
        uint32_t value[2];
        memcpy(&entry, at, sizeof(entry));
        at += sizeof(entry);
        const size_t size = entry.format == WITH_SIZE ? entry.size : 0;
        if (size > (size_t)(end - at))
            return 0;
        if (entry.attribute == REGISTERS_OF && size == sizeof(value)) {
            memcpy(value, at, sizeof(value));
            if (is_function_named(cubin, value[0], function))
                return value[1];
        }
        at += size;
    }
    return 0;
}

/* Older toolkits write them to the header of the function's section, too. */
static unsigned registers_by_section(const struct gp_cubin *cubin, const char *function)
{
    for (unsigned i = 0; i < cubin->count; i++) {
        const char *name = owner_of(cubin, i);
        if (name && strcmp(name, function) == 0)
            return gp_cubin_section(cubin, i).sh_info >> 24;
    }
    return 0;
}

unsigned gp_cubin_registers(const struct gp_cubin *cubin, const char *function)
{
    const unsigned count = registers_by_info(cubin, function);
    return count ? count : registers_by_section(cubin, function);
}
