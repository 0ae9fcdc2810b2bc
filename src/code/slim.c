#include "code/slim.h"

#include <stdlib.h>
#include <string.h>

#define TEXT ".text."
#define ALIGNMENT 16

/* The section that holds the function's code; 0 where there is none. */
static unsigned section_of(const struct gp_cubin *cubin, const char *function)
{
    const size_t prefix = strlen(TEXT);
    for (unsigned i = 1; i < cubin->count; i++) {
        const char *name = gp_cubin_section_name(cubin, i);
        const Elf64_Shdr section = gp_cubin_section(cubin, i);
        if (section.sh_type == SHT_PROGBITS && strncmp(name, TEXT, prefix) == 0 &&
            strcmp(name + prefix, function) == 0 && gp_cubin_holds(cubin, &section))
            return i;
    }
    return 0;
}

static bool stays(const struct gp_cubin *cubin, unsigned section, unsigned text)
{
    static const char *const kept[] = {".debug_line", ".rela.debug_line", ".debug_str"};
    const Elf64_Shdr s = gp_cubin_section(cubin, section);
    const char *name = gp_cubin_section_name(cubin, section);
    if (s.sh_type == SHT_NOBITS || !gp_cubin_holds(cubin, &s))
        return false;
    if (section == text || s.sh_type == SHT_STRTAB || s.sh_type == SHT_SYMTAB)
        return true;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strcmp(name, kept[i]) == 0)
            return true;
    return false;
}

static size_t align(size_t at)
{
    return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t size_of(const struct gp_cubin *cubin, unsigned text)
{
    size_t size = align(sizeof(Elf64_Ehdr));
    for (unsigned i = 0; i < cubin->count; i++)
        if (stays(cubin, i, text))
            size = align(size + gp_cubin_section(cubin, i).sh_size);
    return size + cubin->count * sizeof(Elf64_Shdr);
}

void *gp_cubin_slim(const struct gp_cubin *cubin, const char *function, size_t most, size_t *size)
{
    unsigned text = section_of(cubin, function);
    *size = text ? size_of(cubin, text) : 0;
    char *slim = text && *size <= most ? calloc(1, *size) : NULL;
    if (!slim)
        return NULL;
    Elf64_Ehdr header;
    memcpy(&header, cubin->base, sizeof(header));
    size_t at = align(sizeof(header));
    Elf64_Shdr *sections = (void *)(slim + *size - cubin->count * sizeof(Elf64_Shdr));
    memcpy(sections, cubin->sections, cubin->count * sizeof(*sections));
    for (unsigned i = 0; i < cubin->count; i++) {
        if (!stays(cubin, i, text)) {
            sections[i].sh_type = sections[i].sh_type == SHT_NULL ? SHT_NULL : SHT_NOBITS;
            sections[i].sh_offset = 0;
            continue;
        }
        memcpy(slim + at, cubin->base + sections[i].sh_offset, sections[i].sh_size);
        sections[i].sh_offset = at;
        at = align(at + sections[i].sh_size);
    }
    header.e_shoff = at;
    header.e_phoff = 0;
    header.e_phnum = 0;
    memcpy(slim, &header, sizeof(header));
    return slim;
}
