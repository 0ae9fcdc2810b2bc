#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *gp_base64(const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    char *text = malloc((size + 2) / 3 * 4 + 1), *out = text;
    if (!text)
        return NULL;
    for (size_t at = 0; at < size; at += 3) {
        size_t left = size - at;
        uint32_t group = (uint32_t)in[at] << 16 | (left > 1 ? (uint32_t)in[at + 1] << 8 : 0) |
                         (left > 2 ? in[at + 2] : 0);
        *out++ = digits[group >> 18 & 63];
        *out++ = digits[group >> 12 & 63];
        *out++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[group & 63] : '=';
    }
    *out = '\0';
    return text;
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
