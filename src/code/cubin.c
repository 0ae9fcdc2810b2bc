#include "code/cubin.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool range_fits(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

bool gp_cubin_open(struct gp_cubin *cubin, const void *image, size_t size)
{
    Elf64_Ehdr elf;
    if (size < sizeof(elf))
        return false;
    memcpy(&elf, image, sizeof(elf));
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_shentsize != sizeof(Elf64_Shdr) ||
        !range_fits(elf.e_shoff, (uint64_t)elf.e_shnum * sizeof(Elf64_Shdr), size) ||
        elf.e_shstrndx >= elf.e_shnum)
        return false;
    const char *base = image;
    *cubin = (struct gp_cubin){
        .base = base, .size = size, .sections = base + elf.e_shoff, .count = elf.e_shnum};
    Elf64_Shdr names = gp_cubin_section(cubin, elf.e_shstrndx);
    if (!gp_cubin_holds(cubin, &names) || !names.sh_size ||
        base[names.sh_offset + names.sh_size - 1] != '\0')
        return false;
    cubin->names = base + names.sh_offset;
    cubin->names_size = names.sh_size;
    return true;
}

Elf64_Shdr gp_cubin_section(const struct gp_cubin *cubin, unsigned section)
{
    Elf64_Shdr header;
    memcpy(&header, cubin->sections + section * sizeof(header), sizeof(header));
    return header;
}

bool gp_cubin_holds(const struct gp_cubin *cubin, const Elf64_Shdr *section)
{
    return range_fits(section->sh_offset, section->sh_size, cubin->size);
}

const char *gp_cubin_section_name(const struct gp_cubin *cubin, unsigned section)
{
    if (section >= cubin->count)
        return "";
    Elf64_Word name = gp_cubin_section(cubin, section).sh_name;
    return name < cubin->names_size ? cubin->names + name : "";
}

bool gp_cubin_find(const struct gp_cubin *cubin, const char *name, Elf64_Shdr *section)
{
    for (unsigned i = 0; i < cubin->count; i++) {
        *section = gp_cubin_section(cubin, i);
        if (strcmp(gp_cubin_section_name(cubin, i), name) == 0 && section->sh_type != SHT_NOBITS &&
            gp_cubin_holds(cubin, section))
            return true;
    }
    return false;
}

bool gp_cubin_symbols(const struct gp_cubin *cubin, const Elf64_Shdr *section,
                      struct gp_cubin_symbols *table)
{
    if (!gp_cubin_holds(cubin, section) || section->sh_link >= cubin->count)
        return false;
    Elf64_Shdr strings = gp_cubin_section(cubin, section->sh_link);
    if (!gp_cubin_holds(cubin, &strings) || !strings.sh_size ||
        cubin->base[strings.sh_offset + strings.sh_size - 1] != '\0')
        return false;
    *table = (struct gp_cubin_symbols){
        .symbols = cubin->base + section->sh_offset,
        .count = section->sh_size / sizeof(Elf64_Sym),
        .strings = cubin->base + strings.sh_offset,
        .strings_size = strings.sh_size,
    };
    return true;
}

bool gp_cubin_relocations(const struct gp_cubin *cubin, const char *name,
                          struct gp_cubin_relocations *relocations)
{
    static const char *const prefixes[] = {".rela", ".rel"};
    static const size_t sizes[] = {sizeof(Elf64_Rela), sizeof(Elf64_Rel)};
    char full[64];
    Elf64_Shdr section;
    for (size_t i = 0; i < 2; i++) {
        snprintf(full, sizeof(full), "%s%s", prefixes[i], name);
        if (!gp_cubin_find(cubin, full, &section) || section.sh_link >= cubin->count)
            continue;
        const Elf64_Shdr symbols = gp_cubin_section(cubin, section.sh_link);
        if (!gp_cubin_symbols(cubin, &symbols, &relocations->symbols))
            continue;
        relocations->table = cubin->base + section.sh_offset;
        relocations->entry_size = sizes[i];
        relocations->count = section.sh_size / sizes[i];
        return true;
    }
    return false;
}

Elf64_Rela gp_cubin_relocation(const struct gp_cubin_relocations *relocations, size_t i)
{
    Elf64_Rela relocation = {0};
    memcpy(&relocation, relocations->table + i * relocations->entry_size, relocations->entry_size);
    return relocation;
}

Elf64_Sym gp_cubin_symbol(const struct gp_cubin_symbols *table, size_t symbol)
{
    Elf64_Sym entry;
    memcpy(&entry, table->symbols + symbol * sizeof(entry), sizeof(entry));
    return entry;
}

const char *gp_cubin_symbol_name(const struct gp_cubin_symbols *table, const Elf64_Sym *symbol)
{
    return symbol->st_name < table->strings_size ? table->strings + symbol->st_name : NULL;
}

size_t gp_cubin_size(const void *image)
{
    Elf64_Ehdr elf;
    memcpy(&elf, image, sizeof(elf));
    const struct gp_cubin cubin = {
        .base = image, .sections = (const char *)image + elf.e_shoff, .count = elf.e_shnum};
    uint64_t end = elf.e_shoff + (uint64_t)elf.e_shnum * sizeof(Elf64_Shdr);
    for (unsigned i = 0; i < cubin.count; i++) {
        Elf64_Shdr section = gp_cubin_section(&cubin, i);
        uint64_t section_end = section.sh_offset + section.sh_size;
        if (section.sh_type != SHT_NOBITS && section_end > end)
            end = section_end;
    }
    return end;
}
