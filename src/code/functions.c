#include "code/functions.h"

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
