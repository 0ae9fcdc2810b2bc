#include "driver/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define FATBIN_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u
#define SYMBOL_MANAGED 0x04 /* in st_other */

/* The start of a fat binary, and of each part of it. */
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

struct fatbin_part {
    uint16_t kind; /* 2: ELF */
    uint16_t version;
    uint32_t header_bytes;
    uint64_t bytes;
};

struct wrapper {
    uint32_t magic, version;
    const void *fatbin;
    const void *unused;
};

struct elf {
    const unsigned char *bytes;
    const Elf64_Shdr *sections;
    unsigned section_count;
    const char *section_names;
};

static bool open_elf(const void *image, struct elf *elf)
{
    const Elf64_Ehdr *header = image;

    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != MACHINE_CUDA || header->e_shnum == 0 ||
        header->e_shstrndx >= header->e_shnum || header->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    elf->bytes = image;
    elf->sections = (const Elf64_Shdr *)(const void *)(elf->bytes + header->e_shoff);
    elf->section_count = header->e_shnum;
    elf->section_names = (const char *)elf->bytes + elf->sections[header->e_shstrndx].sh_offset;
    return true;
}

static const Elf64_Shdr *section_of_kernel(const struct elf *elf, const char *prefix,
                                           const char *kernel)
{
    size_t length = strlen(prefix);

    for (unsigned i = 1; i < elf->section_count; i++) {
        const char *name = elf->section_names + elf->sections[i].sh_name;
        if (strncmp(name, prefix, length) == 0 && strcmp(name + length, kernel) == 0)
            return &elf->sections[i];
    }
    return NULL;
}

/* The rest behind `.gpusim.KERNEL=` in the name of a section; the kernel's name where there is
 * none.
 */
static const char *body_of_kernel(const struct elf *elf, const char *kernel)
{
    static const char prefix[] = ".gpusim.";
    size_t length = strlen(kernel);

    for (unsigned i = 1; i < elf->section_count; i++) {
        const char *name = elf->section_names + elf->sections[i].sh_name;
        if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
            continue;
        name += sizeof(prefix) - 1;
        if (strncmp(name, kernel, length) == 0 && name[length] == '=')
            return name + length + 1;
    }
    return kernel;
}

static bool visit_function(const struct elf *elf, const char *name, const Elf64_Shdr *text,
                           const struct gpusim_image_visitor *visitor)
{
    const Elf64_Shdr *shared = section_of_kernel(elf, ".nv.shared.", name);
    const Elf64_Shdr *local = section_of_kernel(elf, ".nv.local.", name);
    struct gpusim_image_function function = {
        .name = name,
        .body = body_of_kernel(elf, name),
        .registers = text->sh_info >> 24,
        .shared = shared ? (unsigned)shared->sh_size : 0,
        .local = local ? (unsigned)local->sh_size : 0,
    };

    return visitor->function(visitor->self, &function);
}

static bool visit_symbol(const struct elf *elf, const Elf64_Sym *symbol, const char *name,
                         const struct gpusim_image_visitor *visitor)
{
    const Elf64_Shdr *section;
    const char *section_name;
    struct gpusim_image_variable variable;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf->section_count)
        return true;
    section = &elf->sections[symbol->st_shndx];
    section_name = elf->section_names + section->sh_name;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
        return strncmp(section_name, ".text.", 6) != 0 ||
               visit_function(elf, name, section, visitor);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0)
        return true;
    if (strncmp(section_name, ".nv.global", 10) != 0 && strcmp(section_name, ".nv.constant3") != 0)
        return true;
    variable = (struct gpusim_image_variable){
        .name = name,
        .size = symbol->st_size,
        .initial = section->sh_type == SHT_NOBITS
                       ? NULL
                       : elf->bytes + section->sh_offset + symbol->st_value,
        .managed = (symbol->st_other & SYMBOL_MANAGED) != 0,
        .section = symbol->st_shndx,
        .section_size = section->sh_size,
        .offset = symbol->st_value,
    };
    return !visitor->variable || visitor->variable(visitor->self, &variable);
}

static void walk_elf(const struct elf *elf, const struct gpusim_image_visitor *visitor)
{
    for (unsigned i = 1; i < elf->section_count; i++) {
        const Elf64_Shdr *table = &elf->sections[i];
        const Elf64_Sym *symbols;
        const char *names;
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= elf->section_count)
            continue;
        symbols = (const Elf64_Sym *)(const void *)(elf->bytes + table->sh_offset);
        names = (const char *)elf->bytes + elf->sections[table->sh_link].sh_offset;
        for (size_t s = 1; s < table->sh_size / sizeof(*symbols); s++)
            if (!visit_symbol(elf, &symbols[s], names + symbols[s].st_name, visitor))
                return;
    }
}

static void walk_fatbin(const void *image, const struct gpusim_image_visitor *visitor)
{
    const unsigned char *at = image;
    struct fatbin_header header;
    const unsigned char *end;

    memcpy(&header, at, sizeof(header));
    at += header.header_bytes;
    end = at + header.bytes;
    while ((size_t)(end - at) >= sizeof(struct fatbin_part)) {
        struct fatbin_part part;
        struct elf elf;
        memcpy(&part, at, sizeof(part));
        if (part.header_bytes == 0 || part.bytes > (uint64_t)(end - at))
            break;
        /* One chip's code is enough: names and variables are the same in all of them. */
        if (part.kind == 2 && part.bytes >= sizeof(Elf64_Ehdr) &&
            (uintptr_t)(at + part.header_bytes) % 8 == 0 &&
            open_elf(at + part.header_bytes, &elf)) {
            walk_elf(&elf, visitor);
            return;
        }
        at += part.header_bytes + part.bytes;
    }
}

/* ---- PTX: the names of its kernels ---- */

static bool is_ptx(const char *text)
{
    return strncmp(text, "//", 2) == 0 || strncmp(text, ".version", 8) == 0;
}

static void walk_ptx(const char *text, const struct gpusim_image_visitor *visitor)
{
    static const char entry[] = ".entry ";
    char name[128];

    while ((text = strstr(text, entry))) {
        struct gpusim_image_function function = {.name = name, .body = name, .registers = 32};
        size_t length;
        text += sizeof(entry) - 1;
        length = strcspn(text, "( \n");
        if (length >= sizeof(name))
            return;
        memcpy(name, text, length);
        name[length] = '\0';
        if (!visitor->function(visitor->self, &function))
            return;
    }
}

/* The image that a wrapper points to; the image itself without a wrapper. */
static const void *unwrapped(const void *image, uint32_t *magic)
{
    memcpy(magic, image, sizeof(*magic));
    if (*magic == WRAPPER_MAGIC) {
        struct wrapper wrapper;
        memcpy(&wrapper, image, sizeof(wrapper));
        image = wrapper.fatbin;
        memcpy(magic, image, sizeof(*magic));
    }
    return image;
}

enum gpusim_image_kind gpusim_image_walk(const void *image,
                                         const struct gpusim_image_visitor *visitor)
{
    uint32_t magic;
    struct elf elf;

    image = unwrapped(image, &magic);
    if (magic == FATBIN_MAGIC) {
        walk_fatbin(image, visitor);
        return GPUSIM_IMAGE_FATBIN;
    }
    if (is_ptx(image)) {
        walk_ptx(image, visitor);
        return GPUSIM_IMAGE_PTX;
    }
    if (memcmp(image, ELFMAG, SELFMAG) != 0 || !open_elf(image, &elf))
        return GPUSIM_IMAGE_BAD;
    walk_elf(&elf, visitor);
    return GPUSIM_IMAGE_ELF;
}

static size_t elf_bytes(const struct elf *elf)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->bytes;
    size_t end = header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr);

    for (unsigned i = 1; i < elf->section_count; i++) {
        const Elf64_Shdr *s = &elf->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_offset + s->sh_size > end)
            end = s->sh_offset + s->sh_size;
    }
    return end;
}

size_t gpusim_image_bytes(const void *image, const void **start)
{
    struct fatbin_header header;
    struct elf elf;
    uint32_t magic;

    image = unwrapped(image, &magic);
    *start = image;
    if (magic == FATBIN_MAGIC) {
        memcpy(&header, image, sizeof(header));
        return header.header_bytes + header.bytes;
    }
    if (memcmp(image, ELFMAG, SELFMAG) == 0 && open_elf(image, &elf))
        return elf_bytes(&elf);
    return is_ptx(image) ? strlen(image) + 1 : 0;
}

void *gpusim_image_from_file(const char *path, CUresult *result)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;

    *result = CUDA_ERROR_FILE_NOT_FOUND;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = calloc(1, (size_t)size + 64); /* a short file must not be read past its end */
    if (bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size)
        *result = CUDA_SUCCESS;
    (void)fclose(file);
    if (*result != CUDA_SUCCESS) {
        free(bytes);
        return NULL;
    }
    return bytes;
}
