#include "code/image.h"

#include "code/cubin.h"
#include "code/printing.h"
#include "code/ptx.h"

#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct reader {
    int cc;
    const struct gp_image_visitor *visitor;
    gp_cubin_visit *visit_cubin; /* instead: cubins are handed over as they are, PTX is passed by */
    void *data;
    const char *runs_once;        /* all kernels */
    unsigned parts;               /* cubins and PTX read */
    bool prints;                  /* some function of them */
    bool part_prints;             /* of the cubin that is read */
    uint64_t symbols, name_bytes; /* of the cubin */
    const char *why;
};

/* Functions of the driver's that kernels call, with effects that no snapshot undoes; a call is an
 * undefined symbol of the image. Memory that one kernel allocates another one may write. */
static const struct {
    const char *name, *why;
} device_calls[] = {
    {"malloc", "the kernel's module allocates memory on the device"},
    {"free", "the kernel's module allocates memory on the device"},
};

/* Where it is not known which of its kernels do: where the image does not tell, and where functions
 * of one part may call those of another. */
#define ANY_PRINTS "the kernel's module prints"

/* `known`: its visitor has the functions of the part that print. */
static void note_part(struct reader *r, bool prints, bool known)
{
    r->prints = r->prints || prints;
    r->parts++;
    if (r->prints && (!known || r->parts > 1))
        r->runs_once = ANY_PRINTS;
}

static void note_call(struct reader *r, const char *name)
{
    r->part_prints = r->part_prints || strcmp(name, GP_PRINTS) == 0;
    for (size_t i = 0; i < sizeof(device_calls) / sizeof(device_calls[0]); i++)
        if (strcmp(name, device_calls[i].name) == 0)
            r->runs_once = device_calls[i].why;
}

/* ---- cubin ----------------------------------------------------------------------------------- */

/* Of all variables together. In a damaged cubin thousands of symbols may share one endless name. */
#define MOST_NAME_BYTES ((uint64_t)1 << 26)

static bool range_fits(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

static bool is_shared_memory(const char *section)
{
    return strncmp(section, ".nv.shared", 10) == 0;
}

/* Calls visit for the symbols that are variables of a section in device memory. */
static bool read_symbols(struct reader *r, const struct gp_cubin *cubin, const Elf64_Shdr *section)
{
    struct gp_cubin_symbols table;
    if (!gp_cubin_symbols(cubin, section, &table))
        return false;
    r->symbols += table.count;
    if (r->symbols > cubin->size / sizeof(Elf64_Sym))
        return false; /* tables that lie over each other */
    for (size_t i = 0; i < table.count; i++) {
        Elf64_Sym s = gp_cubin_symbol(&table, i);
        const char *name = gp_cubin_symbol_name(&table, &s);
        if (!name)
            continue;
        if (s.st_shndx == SHN_UNDEF)
            note_call(r, name);
        const char *section_name = gp_cubin_section_name(cubin, s.st_shndx);
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF ||
            s.st_shndx >= cubin->count || is_shared_memory(section_name))
            continue;
        size_t length = strlen(name);
        r->name_bytes += length;
        if (r->name_bytes > MOST_NAME_BYTES)
            return false;
        if (length)
            r->visitor->variable(name, length, r->data);
    }
    return true;
}

static bool read_cubin(struct reader *r, const void *image, size_t size)
{
    struct gp_cubin cubin;
    r->why = "its cubin is damaged";
    r->symbols = r->name_bytes = 0;
    r->part_prints = false;
    if (!gp_cubin_open(&cubin, image, size))
        return false;
    if (r->visit_cubin) {
        r->visit_cubin(&cubin, r->data);
        return true;
    }
    for (unsigned i = 0; i < cubin.count; i++) {
        Elf64_Shdr section = gp_cubin_section(&cubin, i);
        if (section.sh_type == SHT_SYMTAB && !read_symbols(r, &cubin, &section))
            return false;
    }
    bool known = !r->part_prints || gp_cubin_printing(&cubin, r->visitor->printing, r->data);
    note_part(r, r->part_prints, known);
    return true;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

static bool read_ptx(struct reader *r, const char *p, const char *end)
{
    if (r->visit_cubin)
        return true;
    for (size_t i = 0; i < sizeof(device_calls) / sizeof(device_calls[0]); i++)
        if (memmem(p, (size_t)(end - p), device_calls[i].name, strlen(device_calls[i].name)))
            r->runs_once = device_calls[i].why;
    const bool prints = memmem(p, (size_t)(end - p), GP_PRINTS, strlen(GP_PRINTS));
    note_part(r, prints, !prints || gp_ptx_printing(p, end, r->visitor->printing, r->data));
    gp_ptx_variables(p, end, r->visitor->variable, r->data);
    return true;
}

/* ---- fatbin ---------------------------------------------------------------------------------- */

/* Seen in the output of nvcc 11 to 13. A container is a header and entries; an entry is a header
 * and a payload, PTX or ELF, compressed or not. */
#define FATBIN_MAGIC 0xba55ed50u
#define WRAPPER_MAGIC 0x466243b1u
enum { ENTRY_PTX = 1, ENTRY_ELF = 2 };
#define ENTRY_LZ4 0x2000u
#define ENTRY_ZSTD 0x8000u

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of all entries */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size; /* of the payload, padding included */
    uint32_t compressed_size;
    uint32_t reserved;
    uint16_t minor, major;
    uint32_t arch; /* 90 */
    uint32_t name_offset, name_length;
    uint64_t flags;
    uint64_t reserved2;
    uint64_t decompressed_size;
};

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *linked; /* version 2: fatbins linked before, a NULL-terminated array */
};

/* No image is larger than this, and no byte becomes more than so many: an LZ4 match grows by 255 a
 * byte, a block of Zstandard is 4 bytes at least and 128 KiB at most. A damaged header could ask
 * for anything. */
#define MOST_DECOMPRESSED ((uint64_t)1 << 32)
#define MOST_LZ4_GROWTH 255
#define MOST_ZSTD_GROWTH 32768

static bool is_possible_size(const struct fatbin_entry *entry)
{
    uint64_t growth = entry->flags & ENTRY_ZSTD ? MOST_ZSTD_GROWTH : MOST_LZ4_GROWTH;
    return entry->compressed_size <= entry->size && entry->decompressed_size <= MOST_DECOMPRESSED &&
           entry->decompressed_size <= entry->compressed_size * growth;
}

static bool read_payload(struct reader *r, const struct fatbin_entry *entry, const char *payload)
{
    const char *data = payload;
    size_t size = entry->size;
    char *decompressed = NULL;
    if (entry->flags & (ENTRY_LZ4 | ENTRY_ZSTD)) {
        r->why = "its compressed image is damaged";
        if (!is_possible_size(entry))
            return false;
        decompressed = malloc(entry->decompressed_size + 1);
        if (!decompressed) {
            r->why = "out of memory";
            return false;
        }
        size_t got;
        if (entry->flags & ENTRY_ZSTD) {
            got = ZSTD_decompress(decompressed, entry->decompressed_size, payload,
                                  entry->compressed_size);
        } else if (entry->decompressed_size > INT32_MAX || entry->compressed_size > INT32_MAX) {
            got = 0;
        } else {
            int n = LZ4_decompress_safe(payload, decompressed, (int)entry->compressed_size,
                                        (int)entry->decompressed_size);
            got = n < 0 ? 0 : (size_t)n;
        }
        if (got != entry->decompressed_size) {
            free(decompressed);
            return false;
        }
        data = decompressed;
        size = got;
    }
    bool ok;
    if (entry->kind == ENTRY_ELF)
        ok = read_cubin(r, data, size);
    else
        ok = read_ptx(r, data, data + strnlen(data, size));
    free(decompressed);
    return ok;
}

/* Walks the entries of one kind: finds the best architecture for this chip, or, with `read`, reads
 * the entries of that architecture. */
static bool walk_fatbin(struct reader *r, const char *base, size_t size, int kind, uint32_t *arch,
                        bool read)
{
    struct fatbin_header header;
    memcpy(&header, base, sizeof(header));
    size_t offset = header.header_size;
    while (offset + sizeof(struct fatbin_entry) - sizeof(uint64_t) <= size) {
        struct fatbin_entry entry = {0};
        size_t left = size - offset;
        memcpy(&entry, base + offset, left < sizeof(entry) ? left : sizeof(entry));
        if (entry.header_size < 40 || !range_fits(entry.header_size, entry.size, left)) {
            r->why = "its fatbin is damaged";
            return false;
        }
        if (entry.kind == kind && read) {
            if (entry.arch == *arch && !read_payload(r, &entry, base + offset + entry.header_size))
                return false;
        } else if (entry.kind == kind && entry.arch <= (uint32_t)r->cc && entry.arch > *arch &&
                   (kind == ENTRY_PTX || (int)entry.arch / 10 == r->cc / 10)) {
            *arch =
                entry.arch; /* machine code runs on its own generation only, PTX on later ones */
        }
        offset += entry.header_size + entry.size;
    }
    return true;
}

static bool read_fatbin(struct reader *r, const char *base, size_t size)
{
    struct fatbin_header header;
    r->why = "its fatbin is damaged";
    if (size && size < sizeof(header))
        return false;
    memcpy(&header, base, sizeof(header));
    if (header.header_size < sizeof(header) ||
        (size && !range_fits(header.header_size, header.size, size)))
        return false;
    size_t whole = header.header_size + header.size;
    for (int kind = ENTRY_ELF; kind >= ENTRY_PTX; kind--) {
        uint32_t arch = 0;
        if (!walk_fatbin(r, base, whole, kind, &arch, false))
            return false;
        if (arch)
            return walk_fatbin(r, base, whole, kind, &arch, true);
    }
    return true; /* no code for this GPU: no kernel of it runs, no variable of it changes */
}

/* ---- any image ------------------------------------------------------------------------------- */

static bool read_image(struct reader *r, const void *image, size_t size)
{
    uint32_t magic = 0;
    memcpy(&magic, image, size && size < sizeof(magic) ? size : sizeof(magic));
    if (magic == WRAPPER_MAGIC && !size) {
        const struct fatbin_wrapper *wrapper = image;
        bool ok = wrapper->data ? read_image(r, wrapper->data, 0) : true;
        if (wrapper->version == 2 && wrapper->linked)
            for (const void *const *part = wrapper->linked; ok && *part; part++)
                ok = read_image(r, *part, 0);
        return ok;
    }
    if (magic == FATBIN_MAGIC)
        return read_fatbin(r, image, size);
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return read_cubin(r, image, size ? size : gp_cubin_size(image));
    /* Text: PTX begins with a comment, white space or a directive. */
    const char *text = image;
    size_t length = size ? strnlen(text, size) : strlen(text);
    const char *first = gp_ptx_skip_blank(text, text + length);
    if (first < text + length && *first == '.')
        return read_ptx(r, text, text + length);
    r->why = "its image is in a form we do not know";
    return false;
}

/* The answer of the image itself, of a form with a size that is known without reading all of it. */
size_t gp_image_size(const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof(magic));
    if (magic == FATBIN_MAGIC) {
        struct fatbin_header header;
        memcpy(&header, image, sizeof(header));
        return header.header_size + header.size;
    }
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return gp_cubin_size(image);
    return 0;
}

bool gp_image_wraps(const void *image, bool (*test)(const void *part, const void *data),
                    const void *data)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof(magic));
    if (magic != WRAPPER_MAGIC)
        return false;
    const struct fatbin_wrapper *wrapper = image;
    bool holds = !wrapper->data || test(wrapper->data, data);
    if (wrapper->version == 2 && wrapper->linked)
        for (const void *const *part = wrapper->linked; holds && *part; part++)
            holds = test(*part, data);
    return holds;
}

bool gp_image_cubins(const void *image, size_t size, int cc, gp_cubin_visit *visit, void *data,
                     const char **why)
{
    struct reader r = {.cc = cc, .visit_cubin = visit, .data = data};
    bool ok = image && read_image(&r, image, size);
    *why = ok ? NULL : r.why ? r.why : "it has no image";
    return ok;
}

bool gp_image_read(const void *image, size_t size, int cc, const struct gp_image_visitor *visitor,
                   void *data, const char **runs_once, const char **why)
{
    struct reader r = {.cc = cc, .visitor = visitor, .data = data};
    bool ok = image && read_image(&r, image, size);
    if (!ok && why)
        *why = r.why ? r.why : "it has no image";
    *runs_once = r.runs_once;
    return ok;
}
