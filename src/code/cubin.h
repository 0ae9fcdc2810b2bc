/* A cubin, the ELF file of one chip's code: its sections, checked to lie in it. */
#ifndef GPUPROF_CODE_CUBIN_H
#define GPUPROF_CODE_CUBIN_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct gp_cubin {
    const char *base;
    size_t size;
    const char *sections; /* at any address: cuDNN and cuBLASLt make cubins without padding */
    unsigned count;
    const char *names; /* of the sections; end in a NUL */
    size_t names_size;
};

/* False where the file is damaged. `image` may lie at any address. */
bool gp_cubin_open(struct gp_cubin *cubin, const void *image, size_t size);

/* One of the first `count` sections. */
Elf64_Shdr gp_cubin_section(const struct gp_cubin *cubin, unsigned section);

/* A section's bytes lie in the file. */
bool gp_cubin_holds(const struct gp_cubin *cubin, const Elf64_Shdr *section);

/* "" where there is none. */
const char *gp_cubin_section_name(const struct gp_cubin *cubin, unsigned section);

/* The first section of that name with bytes in the file. */
bool gp_cubin_find(const struct gp_cubin *cubin, const char *name, Elf64_Shdr *section);

/* A symbol table, and the strings that its names are in. */
struct gp_cubin_symbols {
    const char *symbols; /* at any address */
    size_t count;
    const char *strings; /* end in a NUL */
    size_t strings_size;
};

/* Opens the section's symbol table; false where it is damaged. */
bool gp_cubin_symbols(const struct gp_cubin *cubin, const Elf64_Shdr *section,
                      struct gp_cubin_symbols *table);

/* One of the first `count` symbols. */
Elf64_Sym gp_cubin_symbol(const struct gp_cubin_symbols *table, size_t symbol);

/* NULL where the name is outside. */
const char *gp_cubin_symbol_name(const struct gp_cubin_symbols *table, const Elf64_Sym *symbol);

/* The relocations of a section. */
struct gp_cubin_relocations {
    const char *table; /* at any address */
    size_t count, entry_size;
    struct gp_cubin_symbols symbols;
};

/* Finds the relocations of the section of that name; false where there are none, or they are
 * damaged. */
bool gp_cubin_relocations(const struct gp_cubin *cubin, const char *name,
                          struct gp_cubin_relocations *relocations);

/* One of the first `count`. Compilers write them without addends up to compute capability 8.9: then
 * the addend is 0. */
Elf64_Rela gp_cubin_relocation(const struct gp_cubin_relocations *relocations, size_t i);

/* How far the file reaches, by its own tables, which are believed; the driver believes them too. */
size_t gp_cubin_size(const void *image);

#endif
