#include "model/code.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/kernel.h"

/* The linker's names for the section's ends. */
extern const struct gpusim_site *const __start_gpusim_sites[] __attribute__((visibility("hidden")));
extern const struct gpusim_site *const __stop_gpusim_sites[] __attribute__((visibility("hidden")));

/* As ptxas writes them. Accesses are of 4 bytes; their width is set in bits 73 to 75. */
static const uint64_t encodings[][2] = {
    [GPUSIM_OP_INT] = {0x0000000502057210, 0x001fca0007ffe0ff},         /* IADD3 */
    [GPUSIM_OP_PARAMETER] = {0x00000000ff027b82, 0x000e620000000a00},   /* LDC.64 R2 */
    [GPUSIM_OP_FADD] = {0x0000000504047221, 0x004fca0000000000},        /* FADD */
    [GPUSIM_OP_FMUL] = {0x0000000504047220, 0x004fca0000400000},        /* FMUL */
    [GPUSIM_OP_FFMA] = {0x0000000504047223, 0x004fca0000000006},        /* FFMA */
    [GPUSIM_OP_DADD] = {0x0000000004047229, 0x004fca0000000006},        /* DADD */
    [GPUSIM_OP_DMUL] = {0x0000000604047228, 0x004fca0000000000},        /* DMUL */
    [GPUSIM_OP_DFMA] = {0x000000060404722b, 0x004fca0000000008},        /* DFMA */
    [GPUSIM_OP_HADD] = {0x0000000504047230, 0x004fca0000000000},        /* HADD2 */
    [GPUSIM_OP_HMUL] = {0x0000000504047232, 0x004fca0000000000},        /* HMUL2 */
    [GPUSIM_OP_HFMA] = {0x0000000504047231, 0x004fca0000000006},        /* HFMA2 */
    [GPUSIM_OP_CONSTANT] = {0x40400000ff097431, 0x000fe400000001ff},    /* HFMA2 R9, -RZ, RZ */
    [GPUSIM_OP_SFU] = {0x0000000400047308, 0x004fca0000001400},         /* MUFU.RSQ */
    [GPUSIM_OP_TENSOR] = {0x000000484404723c, 0x002fe20000001804},      /* HMMA.16816.F32 */
    [GPUSIM_OP_BRANCH] = {0xfffffffc00fc7947, 0x000fc0000383ffff},      /* BRA */
    [GPUSIM_OP_TRY_WAIT] = {0x00000005ff0075a7, 0x000e640008000144},    /* SYNCS.PHASECHK.TRYWAIT */
    [GPUSIM_OP_RETRY] = {0xfffffffc00f88947, 0x002fea000383ffff},       /* @!P0 BRA */
    [GPUSIM_OP_CONTROL] = {0x000000000000094d, 0x000fea0003800000},     /* @P0 EXIT */
    [GPUSIM_OP_BARRIER] = {0x0000000000007b1d, 0x000fec0000010000},     /* BAR.SYNC */
    [GPUSIM_OP_GLOBAL_LD] = {0x0000000402047981, 0x000ea2000c1e1900},   /* LDG.E */
    [GPUSIM_OP_GLOBAL_ST] = {0x0000000402007986, 0x000fe2000c101904},   /* STG.E */
    [GPUSIM_OP_GLOBAL_ATOM] = {0x00000005020579a8, 0x000ea200081ee1c4}, /* ATOMG.E.ADD */
    [GPUSIM_OP_GLOBAL_RED] = {0x000000050200798e, 0x000fe2000c10e184},  /* REDG.E.ADD */
    [GPUSIM_OP_ASYNC_COPY] = {0x0000000002097fae, 0x0003e2000b901d48},  /* LDGSTS.E.BYPASS */
    [GPUSIM_OP_LOCAL_LD] = {0x0000000001047983, 0x000ea20000100800},    /* LDL */
    [GPUSIM_OP_LOCAL_ST] = {0x0000000401007387, 0x000fe20000100800},    /* STL */
    [GPUSIM_OP_SHARED_LD] = {0x0000000004047984, 0x000e220000000800},   /* LDS */
    [GPUSIM_OP_SHARED_ST] = {0x0000000504007388, 0x000fe20000000800},   /* STS */
    [GPUSIM_OP_SHARED_SWAP] = {0x000000020600758d, 0x000e240001800003}, /* ATOMS.CAST.SPIN */
    [GPUSIM_OP_SHARED_ATOM] = {0x000000050404738c, 0x000e220000000000}, /* ATOMS.ADD */
};

#define FIRST_PARAMETER 0x210u

/* LDG.E.STRONG.SYS: bits 77 to 80. */
#define STRONG_SYS (UINT64_C(10) << 13)

static uint64_t width_field(enum gpusim_op op, unsigned size)
{
    unsigned field;

    switch (op) {
    case GPUSIM_OP_GLOBAL_ATOM:
    case GPUSIM_OP_GLOBAL_RED:
    case GPUSIM_OP_SHARED_ATOM:
        field = size == 8 ? 2 : 0;
        break;
    default:
        field = size == 1 ? 0 : size == 2 ? 2 : size == 4 ? 4 : size == 8 ? 5 : 6;
    }
    return (uint64_t)field << 9;
}

/* All sites in the order of their files, each with its offset in the text of its file. */
static struct site {
    const struct gpusim_site *site;
    uint32_t offset;
} * all_sites;
static size_t site_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_sites(const void *a, const void *b)
{
    const struct gpusim_site *one = ((const struct site *)a)->site;
    const struct gpusim_site *other = ((const struct site *)b)->site;
    int files = one->file == other->file ? 0 : strcmp(one->file, other->file);

    return files ? files : (one->order > other->order) - (one->order < other->order);
}

static void find_offsets(void)
{
    size_t count = (size_t)(__stop_gpusim_sites - __start_gpusim_sites);
    uint32_t before = 0;

    all_sites = calloc(count + 1, sizeof(*all_sites));
    if (!all_sites)
        abort();
    for (size_t i = 0; i < count; i++)
        all_sites[i].site = __start_gpusim_sites[i];
    qsort(all_sites, count, sizeof(*all_sites), compare_sites);
    for (size_t i = 0; i < count; i++) {
        struct site *p = &all_sites[i];
        if (i > 0 && strcmp(p[-1].site->file, p->site->file) != 0)
            before = 0;
        p->offset = before;
        before += p->site->count * GPUSIM_INSTRUCTION_BYTES;
    }
    site_count = count;
}

uint32_t gpusim_code_offset(const struct gpusim_site *site)
{
    const struct site key = {.site = site}, *found;

    pthread_once(&once, find_offsets);
    found = bsearch(&key, all_sites, site_count, sizeof(key), compare_sites);
    return found ? found->offset : 0;
}

/* As on compute capability 9.0: words of four bytes from the next instruction on, the low eight
 * bits of their number at bit 16, the others from bit 34 on. */
static void go_to(uint64_t word[2], int64_t words)
{
    const uint64_t high = (uint64_t)(words >> 8);

    word[0] = (word[0] & 0xff00ffff) | (uint64_t)(words & 0xff) << 16 | high << 34;
    word[1] = (word[1] & ~UINT64_C(0x3ffff)) | (high >> 30 & 0x3ffff);
}

/* @!P0 over so many instructions; 0: to the start. */
static void write_branch(uint64_t word[2], const struct gpusim_site *site)
{
    const int64_t here = gpusim_code_offset(site);

    go_to(word, (site->size ? (int64_t)site->size * GPUSIM_INSTRUCTION_BYTES
                            : -(here + GPUSIM_INSTRUCTION_BYTES)) /
                    4);
    if (site->size)
        word[0] = (word[0] & ~UINT64_C(0xf000)) | 0x8000;
}

static void write_site(unsigned char *code, const struct gpusim_site *site)
{
    uint64_t word[2];

    memcpy(word, encodings[site->op], sizeof(word));
    if (site->op == GPUSIM_OP_BRANCH)
        write_branch(word, site);
    else if (site->op == GPUSIM_OP_PARAMETER) /* its offset among the constants: bits 38 to 53 */
        word[0] |= (uint64_t)(FIRST_PARAMETER + 8 * (site->size - 1)) << 38;
    else if (site->size)
        word[1] = (word[1] & ~(UINT64_C(7) << 9)) | width_field(site->op, site->size);
    /* It may be the next address. */
    if ((site->op == GPUSIM_OP_GLOBAL_LD || site->op == GPUSIM_OP_GLOBAL_ATOM) && site->size >= 8)
        word[0] = (word[0] & ~UINT64_C(0xff0000)) | 2 << 16;
    if (site->is_volatile)
        word[1] |= STRONG_SYS;
    if (site->predicated)
        word[0] &= ~(UINT64_C(7) << 12); /* @P0 */
    for (unsigned i = 0; i < site->count; i++)
        memcpy(code + i * GPUSIM_INSTRUCTION_BYTES, word, sizeof(word));
}

/* Kernels of one file have the same instructions. They differ, as those of a compiler do, in bits
 * that say how instructions wait for one another (105 to 125), which nobody reads here. */
static void mark_kernel(unsigned char *code, size_t bytes, const char *kernel)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (const char *p = kernel; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    for (size_t i = 0; i < 4 && (i + 1) * GPUSIM_INSTRUCTION_BYTES <= bytes; i++) {
        unsigned char *high = code + i * GPUSIM_INSTRUCTION_BYTES + 8;
        uint64_t word;

        memcpy(&word, high, sizeof(word));
        word = (word & ~(UINT64_C(0x3ff) << 52)) | (hash >> 10 * i & 0x3ff) << 52;
        memcpy(high, &word, sizeof(word));
    }
}

void *gpusim_kernel_code(const char *kernel, size_t *bytes)
{
    const struct gpusim_kernel *k = gpusim_kernel_find(kernel);
    unsigned char *code;

    *bytes = 0;
    if (!k || !k->file)
        return NULL;
    for (const struct gpusim_site *const *s = __start_gpusim_sites; s < __stop_gpusim_sites; s++)
        if ((*s)->file == k->file || strcmp((*s)->file, k->file) == 0)
            *bytes += (*s)->count * GPUSIM_INSTRUCTION_BYTES;
    code = *bytes ? malloc(*bytes) : NULL;
    if (!code)
        return NULL;
    for (const struct gpusim_site *const *s = __start_gpusim_sites; s < __stop_gpusim_sites; s++)
        if ((*s)->file == k->file || strcmp((*s)->file, k->file) == 0)
            write_site(code + gpusim_code_offset(*s), *s);
    mark_kernel(code, *bytes, k->name);
    return code;
}
