/* Fat binaries as nvcc makes them: entries, packed or not, behind a header. */
#ifndef GPUPROF_TESTS_FATBIN_H
#define GPUPROF_TESTS_FATBIN_H

#include <lz4.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PLAIN, LZ4, ZSTD };
enum { PTX = 1, ELF = 2, OTHER = 8 };

/* Appends an entry to a fatbin and returns its size, padded as nvcc pads. */
static inline size_t add_entry(char *out, uint16_t kind, uint32_t arch, int packing,
                               const char *payload, size_t size)
{
    const size_t most = ZSTD_compressBound(size) + (size_t)LZ4_compressBound((int)size);
    char *packed = malloc(most);
    if (!packed)
        abort();
    size_t packed_size = size;
    if (packing == LZ4)
        packed_size = (size_t)LZ4_compress_default(payload, packed, (int)size, (int)most);
    else if (packing == ZSTD)
        packed_size = ZSTD_compress(packed, most, payload, size, 1);
    else
        memcpy(packed, payload, size);
    uint64_t padded = (packed_size + 7) / 8 * 8;
    char header[64] = {0};
    uint32_t header_size = sizeof(header), compressed = packing ? (uint32_t)packed_size : 0;
    uint64_t flags = packing == LZ4 ? 0x2011 : packing == ZSTD ? 0x8011 : 0x11;
    uint64_t whole = packing ? size : 0;
    memcpy(header, &kind, 2);
    memcpy(header + 4, &header_size, 4);
    memcpy(header + 8, &padded, 8);
    memcpy(header + 16, &compressed, 4);
    memcpy(header + 28, &arch, 4);
    memcpy(header + 40, &flags, 8);
    memcpy(header + 56, &whole, 8);
    memcpy(out, header, sizeof(header));
    memset(out + sizeof(header), 0, padded);
    memcpy(out + sizeof(header), packed, packed_size);
    free(packed);
    return sizeof(header) + padded;
}

/* Puts the container's header before `size` bytes of entries at out + 16. */
static inline size_t close_fatbin(char *out, uint64_t size)
{
    uint32_t magic = 0xba55ed50;
    uint16_t version = 1, header_size = 16;
    memcpy(out, &magic, 4);
    memcpy(out + 4, &version, 2);
    memcpy(out + 6, &header_size, 2);
    memcpy(out + 8, &size, 8);
    return 16 + size;
}

#endif
