/* Writes a device program for the simulated GPU: an ELF file like those of ptxas, with a symbol
 * for each kernel and each variable. The text sections come from the simulated driver, which
 * knows the instructions of its kernels. For programs and tests. */
#ifndef GPUSIM_IMAGE_H
#define GPUSIM_IMAGE_H

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct gpusim_image_kernel {
    const char *name; /* or NAME=BODY: the simulator's kernel BODY under that name */
    unsigned registers, shared, local;
};

enum gpusim_image_memory { GPUSIM_IMAGE_GLOBAL, GPUSIM_IMAGE_MANAGED, GPUSIM_IMAGE_CONSTANT };

struct gpusim_image_global {
    const char *name;
    uint64_t size;
    const void *initial; /* size bytes, or NULL for zeros */
    enum gpusim_image_memory memory;
};

/* A growing piece of the file. */
struct gpusim_image_bytes {
    unsigned char *data;
    size_t size;
    int failed;
};

static inline size_t gpusim_image_put(struct gpusim_image_bytes *b, const void *data, size_t size)
{
    size_t at = b->size;
    unsigned char *more = realloc(b->data, at + size + 1);

    if (!more) {
        b->failed = 1;
        return 0;
    }
    b->data = more;
    if (data)
        memcpy(more + at, data, size);
    else
        memset(more + at, 0, size);
    b->size = at + size;
    return at;
}

static inline size_t gpusim_image_name(struct gpusim_image_bytes *b, const char *prefix,
                                       const char *name)
{
    size_t at = gpusim_image_put(b, prefix, strlen(prefix));

    (void)gpusim_image_put(b, name, strlen(name) + 1);
    return at;
}

/* The machine code of a kernel, to be freed by the caller; NULL where the driver has none. */
static inline void *gpusim_image_code(const char *kernel, size_t *bytes)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *(*code_of)(const char *, size_t *) = NULL;
    void *found = driver ? dlsym(driver, "gpusim_kernel_code") : NULL;
    void *code;

    memcpy(&code_of, &found, sizeof(found));
    code = code_of ? code_of(kernel, bytes) : NULL;
    if (driver)
        (void)dlclose(driver);
    return code;
}

/*
 * The file, to be freed by the caller, and its size; NULL when memory is out. Sections: names,
 * strings, symbols, zeroed variables, initialised ones, constants, then four for each kernel. The
 * last of these has nothing in it but its name, which says the kernel's body.
 */
static inline void *gpusim_image_build(const struct gpusim_image_kernel *kernels,
                                       size_t kernel_count,
                                       const struct gpusim_image_global *globals,
                                       size_t global_count, size_t *bytes)
{
    enum { NAMES = 1, STRINGS, SYMBOLS, ZEROED, INITIAL, CONSTANT, FIRST_KERNEL };
    size_t section_count = FIRST_KERNEL + 4 * kernel_count;
    Elf64_Shdr *sections = calloc(section_count, sizeof(*sections));
    struct gpusim_image_bytes names = {0}, strings = {0}, symbols = {0};
    struct gpusim_image_bytes data[2] = {{0}, {0}};   /* initialised variables, constants */
    struct gpusim_image_bytes file = {0}, code = {0}; /* of all kernels, one after another */
    Elf64_Ehdr header = {0};
    Elf64_Sym symbol = {0};
    uint64_t zeroed = 0;

    if (!sections)
        return NULL;
    (void)gpusim_image_put(&names, "", 1);
    (void)gpusim_image_put(&strings, "", 1);
    (void)gpusim_image_put(&symbols, &symbol, sizeof(symbol));
    sections[NAMES].sh_name = (Elf64_Word)gpusim_image_name(&names, ".shstrtab", "");
    sections[STRINGS].sh_name = (Elf64_Word)gpusim_image_name(&names, ".strtab", "");
    sections[SYMBOLS].sh_name = (Elf64_Word)gpusim_image_name(&names, ".symtab", "");
    sections[ZEROED].sh_name = (Elf64_Word)gpusim_image_name(&names, ".nv.global", "");
    sections[INITIAL].sh_name = (Elf64_Word)gpusim_image_name(&names, ".nv.global.init", "");
    sections[CONSTANT].sh_name = (Elf64_Word)gpusim_image_name(&names, ".nv.constant3", "");

    for (size_t i = 0; i < global_count; i++) {
        const struct gpusim_image_global *g = &globals[i];
        struct gpusim_image_bytes *where = &data[g->memory == GPUSIM_IMAGE_CONSTANT];
        memset(&symbol, 0, sizeof(symbol));
        symbol.st_name = (Elf64_Word)gpusim_image_name(&strings, "", g->name);
        symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
        symbol.st_other = g->memory == GPUSIM_IMAGE_MANAGED ? 4 : 0;
        symbol.st_size = g->size;
        if (g->memory != GPUSIM_IMAGE_CONSTANT && !g->initial) {
            symbol.st_shndx = ZEROED;
            symbol.st_value = zeroed;
            zeroed += (g->size + 15) / 16 * 16;
        } else {
            symbol.st_shndx = g->memory == GPUSIM_IMAGE_CONSTANT ? CONSTANT : INITIAL;
            symbol.st_value = gpusim_image_put(where, g->initial, g->size);
            (void)gpusim_image_put(where, NULL, (16 - g->size % 16) % 16);
        }
        (void)gpusim_image_put(&symbols, &symbol, sizeof(symbol));
    }
    for (size_t i = 0; i < kernel_count; i++) {
        const struct gpusim_image_kernel *k = &kernels[i];
        Elf64_Shdr *text = &sections[FIRST_KERNEL + 4 * i];
        const char *equals = strchr(k->name, '='), *body = equals ? equals + 1 : k->name;
        char *name = strndup(k->name, equals ? (size_t)(equals - k->name) : strlen(k->name));
        size_t length = 128;
        void *own;
        if (!name) {
            names.failed = 1;
            break;
        }
        own = gpusim_image_code(body, &length);
        if (!own)
            length = 128;
        text[0].sh_name = (Elf64_Word)gpusim_image_name(&names, ".text.", name);
        text[0].sh_type = SHT_PROGBITS;
        text[0].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
        text[0].sh_offset = gpusim_image_put(&code, own, length); /* for now, among the code */
        text[0].sh_size = length;
        free(own);
        text[0].sh_info = k->registers << 24;
        text[1].sh_name = (Elf64_Word)gpusim_image_name(&names, ".nv.shared.", name);
        text[1].sh_type = SHT_NOBITS;
        text[1].sh_size = k->shared;
        text[2].sh_name = (Elf64_Word)gpusim_image_name(&names, ".nv.local.", name);
        text[2].sh_type = SHT_NOBITS;
        text[2].sh_size = k->local;
        text[3].sh_name = (Elf64_Word)gpusim_image_put(&names, ".gpusim.", 8);
        (void)gpusim_image_put(&names, name, strlen(name));
        (void)gpusim_image_name(&names, "=", body);
        text[3].sh_type = SHT_NOBITS;
        memset(&symbol, 0, sizeof(symbol));
        symbol.st_name = (Elf64_Word)gpusim_image_name(&strings, "", name);
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol.st_other = 0x10;
        symbol.st_shndx = (Elf64_Half)(FIRST_KERNEL + 4 * i);
        symbol.st_size = length;
        (void)gpusim_image_put(&symbols, &symbol, sizeof(symbol));
        free(name);
        if (strcmp(k->name, "launch_from_graph") == 0) {
            /* The kernel's calls of the device's runtime. */
            memset(&symbol, 0, sizeof(symbol));
            symbol.st_name = (Elf64_Word)gpusim_image_name(&strings, "", "cudaGraphLaunch");
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
            (void)gpusim_image_put(&symbols, &symbol, sizeof(symbol));
        }
    }

    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = 190;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(*sections);
    header.e_shnum = (Elf64_Half)section_count;
    header.e_shstrndx = NAMES;
    (void)gpusim_image_put(&file, NULL, sizeof(header));

    sections[NAMES].sh_type = SHT_STRTAB;
    sections[STRINGS].sh_type = SHT_STRTAB;
    sections[SYMBOLS].sh_type = SHT_SYMTAB;
    sections[SYMBOLS].sh_link = STRINGS;
    sections[SYMBOLS].sh_info = (Elf64_Word)(1 + global_count); /* the first that is not local */
    sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    sections[ZEROED].sh_type = SHT_NOBITS;
    sections[ZEROED].sh_flags = SHF_ALLOC | SHF_WRITE;
    sections[ZEROED].sh_size = zeroed;
    sections[INITIAL].sh_type = SHT_PROGBITS;
    sections[INITIAL].sh_flags = SHF_ALLOC | SHF_WRITE;
    sections[CONSTANT].sh_type = SHT_PROGBITS;
    sections[CONSTANT].sh_flags = SHF_ALLOC;
    {
        const struct {
            unsigned section;
            const struct gpusim_image_bytes *from;
        } parts[] = {{NAMES, &names},
                     {STRINGS, &strings},
                     {SYMBOLS, &symbols},
                     {INITIAL, &data[0]},
                     {CONSTANT, &data[1]}};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            (void)gpusim_image_put(&file, NULL, (16 - file.size % 16) % 16);
            sections[parts[i].section].sh_size = parts[i].from->size;
            sections[parts[i].section].sh_offset =
                gpusim_image_put(&file, parts[i].from->data, parts[i].from->size);
        }
    }
    (void)gpusim_image_put(&file, NULL, (16 - file.size % 16) % 16);
    {
        size_t at = gpusim_image_put(&file, code.data, code.size);
        for (size_t i = 0; i < section_count; i++)
            if (sections[i].sh_type == SHT_PROGBITS && (sections[i].sh_flags & SHF_EXECINSTR))
                sections[i].sh_offset += at;
    }
    (void)gpusim_image_put(&file, NULL, (16 - file.size % 16) % 16);
    header.e_shoff = gpusim_image_put(&file, sections, section_count * sizeof(*sections));
    if (!file.failed)
        memcpy(file.data, &header, sizeof(header));

    if (names.failed || strings.failed || symbols.failed || code.failed || data[0].failed ||
        data[1].failed) {
        free(file.data);
        file = (struct gpusim_image_bytes){.failed = 1};
    }
    free(sections);
    free(code.data);
    free(names.data);
    free(strings.data);
    free(symbols.data);
    free(data[0].data);
    free(data[1].data);
    if (file.failed) {
        free(file.data);
        return NULL;
    }
    *bytes = file.size;
    return file.data;
}

#endif
