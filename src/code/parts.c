#include "code/parts.h"

#include "code/cubin.h"
#include "code/ptx.h"

#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct walk {
    int cc;
    const struct gp_part_visitor *visitor;
    void *data;
    unsigned cubins; /* so far */
    const char *why;
};

static void *room(const struct walk *w, size_t size)
{
    return w->visitor->room ? w->visitor->room(size, w->data) : malloc(size);
}

static bool visit(struct walk *w, struct gp_part part)
{
    if (part.is_cubin)
        part.cubin = w->cubins++;
    bool ok = w->visitor->part(&part, w->data, &w->why);
    free(part.memory);
    return ok;
}

static bool range_fits(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
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

static bool decompress(const struct fatbin_entry *entry, const char *payload, char *memory)
{
    if (entry->flags & ENTRY_ZSTD)
        return ZSTD_decompress(memory, entry->decompressed_size, payload, entry->compressed_size) ==
               entry->decompressed_size;
    if (entry->decompressed_size > INT32_MAX || entry->compressed_size > INT32_MAX)
        return false;
    int got = LZ4_decompress_safe(payload, memory, (int)entry->compressed_size,
                                  (int)entry->decompressed_size);
    return got >= 0 && (size_t)got == entry->decompressed_size;
}

/* Counts the next cubin if it need not be unpacked. */
static bool passes_by(struct walk *w, size_t bytes)
{
    const bool passes = w->visitor->unpacks && !w->visitor->unpacks(w->cubins, bytes, w->data);
    w->cubins += passes;
    return passes;
}

static bool visit_payload(struct walk *w, const struct fatbin_entry *entry, const char *payload)
{
    struct gp_part part = {
        .is_cubin = entry->kind == ENTRY_ELF, .bytes = payload, .size = entry->size};
    if (!part.is_cubin && w->visitor->cubins_only)
        return true;
    if (entry->flags & (ENTRY_LZ4 | ENTRY_ZSTD)) {
        w->why = "the module's compressed image is damaged";
        if (!is_possible_size(entry))
            return false;
        if (part.is_cubin && passes_by(w, entry->decompressed_size))
            return true;
        char *memory = room(w, entry->decompressed_size + 1);
        if (!memory) {
            w->why = "out of memory for machine code";
            return false;
        }
        if (!decompress(entry, payload, memory)) {
            free(memory);
            return false;
        }
        part.bytes = part.memory = memory;
        part.size = entry->decompressed_size;
    }
    if (!part.is_cubin)
        part.size = strnlen(part.bytes, part.size);
    return visit(w, part);
}

/* Walks the entries of one kind: finds the best architecture for this chip, or, with `take`,
 * visits the entries of that architecture. */
static bool walk_fatbin(struct walk *w, const char *base, size_t size, int kind, uint32_t *arch,
                        bool take)
{
    struct fatbin_header header;
    memcpy(&header, base, sizeof(header));
    size_t offset = header.header_size;
    while (offset + sizeof(struct fatbin_entry) - sizeof(uint64_t) <= size) {
        struct fatbin_entry entry = {0};
        size_t left = size - offset;
        memcpy(&entry, base + offset, left < sizeof(entry) ? left : sizeof(entry));
        if (entry.header_size < 40 || !range_fits(entry.header_size, entry.size, left)) {
            w->why = "the module's fatbin is damaged";
            return false;
        }
        if (entry.kind == kind && take) {
            if (entry.arch == *arch && !visit_payload(w, &entry, base + offset + entry.header_size))
                return false;
        } else if (entry.kind == kind && entry.arch <= (uint32_t)w->cc && entry.arch > *arch &&
                   (kind == ENTRY_PTX || (int)entry.arch / 10 == w->cc / 10)) {
            /* Machine code runs on its own generation only, PTX on later ones. */
            *arch = entry.arch;
        }
        offset += entry.header_size + entry.size;
    }
    return true;
}

static bool visit_fatbin(struct walk *w, const char *base, size_t size)
{
    struct fatbin_header header;
    w->why = "the module's fatbin is damaged";
    if (size && size < sizeof(header))
        return false;
    memcpy(&header, base, sizeof(header));
    if (header.header_size < sizeof(header) ||
        (size && !range_fits(header.header_size, header.size, size)))
        return false;
    size_t whole = header.header_size + header.size;
    for (int kind = ENTRY_ELF; kind >= ENTRY_PTX; kind--) {
        uint32_t arch = 0;
        if (!walk_fatbin(w, base, whole, kind, &arch, false))
            return false;
        if (arch)
            return walk_fatbin(w, base, whole, kind, &arch, true);
    }
    return true; /* no code for this GPU: no kernel of it runs, no variable of it changes */
}

/* ---- any image ------------------------------------------------------------------------------- */

/* PTX begins with a comment, white space or a directive. */
static bool begins_as_ptx(const char *text, size_t length)
{
    const char *first = gp_ptx_skip_blank(text, text + length);
    return first < text + length && *first == '.';
}

static bool visit_image(struct walk *w, const void *image, size_t size)
{
    uint32_t magic = 0;
    memcpy(&magic, image, size && size < sizeof(magic) ? size : sizeof(magic));
    if (magic == WRAPPER_MAGIC && !size) {
        const struct fatbin_wrapper *wrapper = image;
        bool ok = wrapper->data ? visit_image(w, wrapper->data, 0) : true;
        if (wrapper->version == 2 && wrapper->linked)
            for (const void *const *part = wrapper->linked; ok && *part; part++)
                ok = visit_image(w, *part, 0);
        return ok;
    }
    if (magic == FATBIN_MAGIC)
        return visit_fatbin(w, image, size);
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return visit(w, (struct gp_part){.is_cubin = true,
                                         .bytes = image,
                                         .size = size ? size : gp_cubin_size(image)});
    const char *text = image;
    size_t length = size ? strnlen(text, size) : strlen(text);
    if (begins_as_ptx(text, length))
        return w->visitor->cubins_only || visit(w, (struct gp_part){.bytes = text, .size = length});
    w->why = "the module's image is in a form that is not known";
    return false;
}

bool gp_image_is_ptx(const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof(magic));
    return magic != FATBIN_MAGIC && magic != WRAPPER_MAGIC &&
           memcmp(&magic, ELFMAG, SELFMAG) != 0 && begins_as_ptx(image, strlen(image));
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

bool gp_image_parts(const void *image, size_t size, int cc, const struct gp_part_visitor *visitor,
                    void *data, const char **why)
{
    struct walk w = {.cc = cc, .visitor = visitor, .data = data};
    bool ok = image && visit_image(&w, image, size);
    *why = ok ? NULL : w.why ? w.why : "the module has no image";
    return ok;
}
