#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

/* The first 32 bits behind the point of the cube roots of the first 64 primes, and of the square
 * roots of the first 8. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t first_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

/* One of the 64 steps, of the eight words of `s`, the first of which is at `first`: each step moves
 * them on by one. */
static inline void step(uint32_t s[8], unsigned first, uint32_t added)
{
    uint32_t *const d = &s[(first + 3) % 8], *const h = &s[(first + 7) % 8];
    const uint32_t a = s[first], b = s[(first + 1) % 8], c = s[(first + 2) % 8];
    const uint32_t e = s[(first + 4) % 8], f = s[(first + 5) % 8], g = s[(first + 6) % 8];
    const uint32_t one =
        *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + added;
    *d += one;
    *h = one + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 64; i++)
        w[i] = (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10) + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 16];
    memcpy(s, state, sizeof(s));
    for (unsigned i = 0; i < 64; i += 8) {
        /* Eight, so that each word has a register of its own. */
        step(s, 0, round_constants[i] + w[i]);
        step(s, 7, round_constants[i + 1] + w[i + 1]);
        step(s, 6, round_constants[i + 2] + w[i + 2]);
        step(s, 5, round_constants[i + 3] + w[i + 3]);
        step(s, 4, round_constants[i + 4] + w[i + 4]);
        step(s, 3, round_constants[i + 5] + w[i + 5]);
        step(s, 2, round_constants[i + 6] + w[i + 6]);
        step(s, 1, round_constants[i + 7] + w[i + 7]);
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

void gp_sha256_text(const void *bytes, size_t size, char text[GP_SHA256_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *p = bytes;
    unsigned char last[128] = {0};
    uint32_t state[8];
    size_t left = size;
    memcpy(state, first_state, sizeof(state));
    for (; left >= 64; left -= 64, p += 64)
        add_block(state, p);
    if (left)
        memcpy(last, p, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (unsigned i = 0; i < 8; i++)
        last[end - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += 64)
        add_block(state, last + at);
    for (unsigned i = 0; i < 64; i++)
        text[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    text[64] = '\0';
}
