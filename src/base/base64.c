#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void gp_base64_add(const void *bytes, size_t size, struct gp_text *out)
{
    const unsigned char *in = bytes;
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t three = (uint32_t)in[at] << 16 | (left > 1 ? (uint32_t)in[at + 1] << 8 : 0) |
                         (left > 2 ? in[at + 2] : 0);
        const char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                              left > 1 ? digits[three >> 6 & 63] : '=',
                              left > 2 ? digits[three & 63] : '='};
        gp_text_add_bytes(out, four, sizeof(four));
    }
}

void *gp_base64_read(const char *text, size_t *size)
{
    size_t length = strlen(text), padding = 0;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    unsigned char values[256];
    unsigned char *bytes = length % 4 == 0 ? malloc(length / 4 * 3 + 1) : NULL, *out = bytes;
    if (!bytes)
        return NULL;
    memset(values, 255, sizeof(values));
    for (unsigned char i = 0; i < 64; i++)
        values[(unsigned char)digits[i]] = i;
    uint32_t group = 0;
    for (size_t at = 0; at < length; at++) {
        unsigned char value = at < length - padding ? values[(unsigned char)text[at]] : 0;
        if (value == 255) {
            free(bytes);
            return NULL;
        }
        group = group << 6 | value;
        if (at % 4 == 3) {
            *out++ = (unsigned char)(group >> 16);
            *out++ = (unsigned char)(group >> 8);
            *out++ = (unsigned char)group;
        }
    }
    *size = (size_t)(out - bytes) - padding;
    return bytes;
}
