#include "profile/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992.0 /* 2^53: whole numbers up to here are doubles */
#define LONGEST 64               /* letters of a number that anybody writes */

/* The decimal sign becomes a point: all that is no part of a number in any locale is that sign. */
static void put_point(char *text)
{
    char *to = text;
    bool in_sign = false;
    for (const char *from = text; *from; from++) {
        bool plain = strchr("0123456789+-e", *from) != NULL;
        if (plain)
            *to++ = *from;
        else if (!in_sign)
            *to++ = '.';
        in_sign = !plain;
    }
    *to = '\0';
}

/* Digits as the locale has them: the text is read back in the same locale. */
static void print_shortest(char *text, size_t size, double value)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, size, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static bool add_whole(struct gp_text *out, double value)
{
    if (fabs(value) >= EXACT || value != floor(value) || (value == 0 && signbit(value)))
        return false;
    gp_text_addf(out, "%lld", (long long)value);
    return true;
}

void gp_number_add(struct gp_text *out, double value)
{
    char text[LONGEST];
    if (add_whole(out, value))
        return;
    print_shortest(text, sizeof(text), value);
    put_point(text);
    gp_text_add(out, text);
}

void gp_number_add_measured(struct gp_text *out, double value)
{
    char text[LONGEST];
    if (add_whole(out, value))
        return;
    snprintf(text, sizeof(text), "%.*g", GP_MEASURED_DIGITS, value);
    if (!isfinite(strtod(text, NULL))) /* rounded up from the largest there is */
        print_shortest(text, sizeof(text), value);
    put_point(text);
    gp_text_add(out, text);
}

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define MOST_POWER 22

struct decimal {
    uint64_t digits; /* all of them as one number */
    int count;       /* how many, without zeros in front */
    int exponent;    /* of ten */
    bool negative;
};

static const char *read_digits(const char *at, const char *end, struct decimal *d, int fraction)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        d->count += d->count > 0 || *at != '0';
        if (d->count <= 19)
            d->digits = d->digits * 10 + (uint64_t)(*at - '0');
        d->exponent -= fraction;
    }
    return at;
}

static const char *read_exponent(const char *at, const char *end, struct decimal *d)
{
    bool negative = at < end && *at == '-';
    int exponent = 0;
    at += at < end && (*at == '-' || *at == '+');
    const char *first = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
    d->exponent += negative ? -exponent : exponent;
    return at > first ? at : NULL;
}

/* JSON's grammar. NULL where there is no number. */
static const char *read_decimal(const char *at, const char *end, struct decimal *d)
{
    d->negative = at < end && *at == '-';
    at += d->negative;
    const char *first = at;
    at = read_digits(at, end, d, 0);
    if (at == first || (*first == '0' && at > first + 1))
        return NULL;
    if (at < end && *at == '.') {
        first = ++at;
        at = read_digits(at, end, d, 1);
        if (at == first)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        at = read_exponent(at + 1, end, d);
    return at;
}

/* libc's way, for numbers that two exact doubles do not give; the point as the locale has it. */
static bool read_slowly(const char *at, size_t length, double *value)
{
    char text[4 * LONGEST], sign[LONGEST], *stop;
    snprintf(sign, sizeof(sign), "%.1f", 0.5);
    size_t n = 0, sign_length = strlen(sign) - 2;
    if (length + sign_length >= sizeof(text))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (at[i] == '.') {
            memcpy(text + n, sign + 1, sign_length);
            n += sign_length;
        } else {
            text[n++] = at[i];
        }
    }
    text[n] = '\0';
    *value = strtod(text, &stop);
    return *stop == '\0' && isfinite(*value);
}

bool gp_number_read(const char **at, const char *end, double *value)
{
    struct decimal d = {0};
    const char *behind = read_decimal(*at, end, &d);
    if (!behind)
        return false;
    const char *first = *at;
    *at = behind;
    bool exact = d.count <= 19 && d.digits <= (uint64_t)EXACT;
    if (!exact || d.exponent > MOST_POWER || d.exponent < -MOST_POWER)
        return read_slowly(first, (size_t)(behind - first), value);
    double number = (double)d.digits;
    number = d.exponent < 0 ? number / powers[-d.exponent] : number * powers[d.exponent];
    *value = d.negative ? -number : number;
    return true;
}
