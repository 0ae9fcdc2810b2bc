/* A fat binary as libraries bring it: a cubin for the chip that is packed, with zeros behind it up
 * to `whole` bytes. The simulated driver reads the one for an older chip, which is not packed. */
#ifndef GPUSIM_PROGRAM_PACKED_H
#define GPUSIM_PROGRAM_PACKED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PACKED_LZ4 0x2000u

struct packed_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, reserved;
    uint16_t minor, major;
    uint32_t arch, name_offset, name_length;
    uint64_t flags, reserved2, whole;
};

/* A length of LZ4, beyond the 15 that its token has. */
static inline size_t packed_length(unsigned char *out, size_t length)
{
    size_t at = 0;
    for (length -= 15; length >= 255; length -= 255)
        out[at++] = 255;
    out[at++] = (unsigned char)length;
    return at;
}

/* The bytes and a zero, a match that repeats the zero, and twelve zeros: LZ4 ends in literals. */
static inline size_t packed_block(unsigned char *out, const void *bytes, size_t size, size_t whole)
{
    size_t at = 0;
    out[at++] = 0xff;
    at += packed_length(out + at, size + 1);
    memcpy(out + at, bytes, size);
    at += size;
    out[at++] = 0;
    out[at++] = 1; /* so many bytes back */
    out[at++] = 0;
    at += packed_length(out + at, whole - size - 1 - 12 - 4);
    out[at++] = 12 << 4;
    memset(out + at, 0, 12);
    return at + 12;
}

static inline size_t packed_entry(unsigned char *out, struct packed_entry entry)
{
    entry.kind = 2;
    entry.header_size = sizeof(entry);
    entry.size = (entry.size + 7) / 8 * 8;
    memcpy(out, &entry, sizeof(entry));
    return sizeof(entry);
}

/* To be freed; NULL when out of memory. */
static inline void *packed_image(const void *cubin, size_t size, size_t whole)
{
    unsigned char *image = calloc(1, 4096 + 2 * size + whole / 250), *at = image;
    if (!image)
        return NULL;
    at += 16;
    at += packed_entry(at, (struct packed_entry){.size = size, .arch = 80});
    memcpy(at, cubin, size);
    at += (size + 7) / 8 * 8;
    const size_t packed = packed_block(at + sizeof(struct packed_entry), cubin, size, whole);
    packed_entry(at, (struct packed_entry){.size = packed,
                                           .packed_size = (uint32_t)packed,
                                           .arch = 90,
                                           .flags = PACKED_LZ4,
                                           .whole = whole});
    at += sizeof(struct packed_entry) + (packed + 7) / 8 * 8;
    const uint64_t bytes = (uint64_t)(at - image) - 16;
    memcpy(image, (const uint32_t[]){0xba55ed50u, 1 | 16u << 16}, 8);
    memcpy(image + 8, &bytes, sizeof(bytes));
    return image;
}

#endif
