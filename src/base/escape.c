#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t gp_character_at(const char *text, size_t length, uint32_t *character)
{
    const unsigned char *from = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = from[0] < 0x80 ? 1 : from[0] >> 5 == 6 ? 2 : from[0] >> 4 == 14 ? 3 : 4;
    if (size > length || (size == 4 && from[0] >> 3 != 30))
        return 0;
    *character = size == 1 ? from[0] : from[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (from[i] >> 6 != 2)
            return 0;
        *character = *character << 6 | (from[i] & 0x3fu);
    }
    bool is_surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character < least[size] || *character > 0x10ffff || is_surrogate ? 0 : size;
}

bool gp_character_shows(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (c >= hidden[i][0] && c <= hidden[i][1])
            return false;
    return true;
}

static size_t escape_byte(unsigned char byte, char to[GP_ESCAPED_BYTES])
{
    const char *letter = byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : byte == '\r' ? "\\r" : NULL;
    int n = letter ? snprintf(to, GP_ESCAPED_BYTES, "%s", letter)
                   : snprintf(to, GP_ESCAPED_BYTES, "\\x%02x", byte);
    return (size_t)n;
}

size_t gp_escape_one(const char *from, size_t length, char to[GP_ESCAPED_BYTES], size_t *written)
{
    uint32_t character = 0;
    size_t size = gp_character_at(from, length, &character);
    if (size > 0 && gp_character_shows(character)) {
        memcpy(to, from, size);
        *written = size;
    } else if (size > 1) {
        *written = (size_t)snprintf(to, GP_ESCAPED_BYTES, "\\u{%x}", (unsigned)character);
    } else {
        size = 1;
        *written = escape_byte((unsigned char)from[0], to);
    }
    return size;
}

bool gp_is_printable(const char *text, size_t length)
{
    char escaped[GP_ESCAPED_BYTES];
    size_t written, size;
    for (size_t i = 0; i < length; i += size) {
        size = gp_escape_one(text + i, length - i, escaped, &written);
        if (written != size)
            return false;
    }
    return true;
}

void gp_text_add_escaped(struct gp_text *to, const char *text, size_t length)
{
    char escaped[GP_ESCAPED_BYTES];
    size_t written;
    for (size_t i = 0; i < length;) {
        i += gp_escape_one(text + i, length - i, escaped, &written);
        gp_text_add_bytes(to, escaped, written);
    }
}

void gp_text_add_linef(struct gp_text *to, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *line = NULL;
    int length = vasprintf(&line, fmt, args);
    va_end(args);
    if (length < 0) {
        to->failed = true;
        return;
    }
    gp_text_add_escaped(to, line, (size_t)length);
    gp_text_add(to, "\n");
    free(line);
}

void gp_text_add_escaped_lines(struct gp_text *to, const char *text, size_t length)
{
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);
        size_t line = newline ? (size_t)(newline - text) : length;
        gp_text_add_escaped(to, text, line);
        if (newline)
            gp_text_add(to, "\n");
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
}
