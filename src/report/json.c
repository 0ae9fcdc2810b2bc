#include "report/json.h"

#include "base/base64.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The length of the UTF-8 letter that begins here, 0 where none does; its number in *point. */
static size_t letter(const unsigned char *s, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80             ? 1
                    : (s[0] & 0xE0) == 0xC0 ? 2
                    : (s[0] & 0xF0) == 0xE0 ? 3
                    : (s[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    if (length < 2) {
        *point = s[0];
        return length;
    }
    *point = s[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        *point = *point << 6 | (s[i] & 0x3F);
    }
    bool surrogate = *point >= 0xD800 && *point <= 0xDFFF;
    return *point < least[length] || *point > 0x10FFFF || surrogate ? 0 : length;
}

static bool stays(uint32_t point)
{
    return point >= 0x20 && point != '"' && point != '\\' && point != '<' && point != '>' &&
           point != '&' && point != 0x7F && point != 0x2028 && point != 0x2029;
}

void gp_json_string(struct gp_text *out, const char *s)
{
    if (!s) {
        gp_text_add(out, "null");
        return;
    }
    gp_text_add(out, "\"");
    const char *plain = s; /* where the text that needs no escape began */
    while (*s) {
        uint32_t point;
        size_t length = letter((const unsigned char *)s, &point);
        if (length > 0 && stays(point)) {
            s += length;
            continue;
        }
        gp_text_add_bytes(out, plain, (size_t)(s - plain));
        gp_text_addf(out, "\\u%04x", length > 0 ? point : 0xFFFD);
        s += length > 0 ? length : 1;
        plain = s;
    }
    gp_text_add_bytes(out, plain, (size_t)(s - plain));
    gp_text_add(out, "\"");
}

void gp_json_number(struct gp_text *out, double value)
{
    if (isfinite(value))
        gp_text_addf(out, "%.9g", value);
    else
        gp_text_add(out, "null");
}

void gp_json_next(struct gp_text *out)
{
    char last = out->length > 0 ? out->data[out->length - 1] : '{';
    if (last != '{' && last != '[')
        gp_text_add(out, ",");
}

void gp_json_key(struct gp_text *out, const char *key)
{
    gp_json_next(out);
    gp_json_string(out, key);
    gp_text_add(out, ":");
}

void gp_json_member(struct gp_text *out, const char *key, const char *value)
{
    gp_json_key(out, key);
    gp_json_string(out, value);
}

void gp_json_bytes(struct gp_text *out, const void *bytes, size_t length)
{
    gp_text_add(out, "\"");
    gp_base64_add(bytes, length, out);
    gp_text_add(out, "\"");
}
