#include "hook/table.h"

#include <dlfcn.h>
#include <string.h>

/* Each wrapper has the prototype that cudaTypedefs.h gives for its ABI, or this does not compile.
 */
#define HOOK(base, version, suffix, symbol)                                                   \
    _Static_assert(                                                                           \
        __builtin_types_compatible_p(__typeof__(&symbol), PFN_cu##base##_v##version##suffix), \
        "prototype of " #symbol);
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    HOOK(base, version, suffix, symbol)
#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    HOOK(base, version, suffix, symbol)
#define RAW(base, version, suffix, symbol) HOOK(base, version, suffix, symbol)
#include "cuda/functions.def"

/* "" is the legacy default stream, "_ptsz" and "_ptds" the per-thread one. */
#define HOOK(base, version, suffix, symbol)                                         \
    {#symbol,        "cu" #base,                                                    \
     version,        sizeof(#suffix) > 1 ? GP_PER_THREAD_STREAM : GP_LEGACY_STREAM, \
     (void *)symbol, (void *const *)&gp_cuda.symbol},
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    HOOK(base, version, suffix, symbol)
#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    HOOK(base, version, suffix, symbol)
static const struct gp_hook hooks[] = {
#include "cuda/functions.def"
};
static const size_t hook_count = sizeof(hooks) / sizeof(hooks[0]);

const struct gp_hook *gp_hook_by_symbol(const char *symbol)
{
    if (symbol[0] != 'c' || symbol[1] != 'u')
        return NULL;
    for (size_t i = 0; i < hook_count; i++)
        if (strcmp(hooks[i].symbol, symbol) == 0)
            return &hooks[i];
    return NULL;
}

const struct gp_hook *gp_hook_by_real(const void *address)
{
    for (size_t i = 0; i < hook_count && address; i++)
        if (*hooks[i].real == address)
            return &hooks[i];
    return NULL;
}

static const struct gp_hook *newest_of_base(const char *base, int version, enum gp_stream_kind kind)
{
    const struct gp_hook *best = NULL;
    for (size_t i = 0; i < hook_count; i++) {
        const struct gp_hook *h = &hooks[i];
        if (h->kind == kind && h->version <= version && strcmp(h->base, base) == 0 && *h->real &&
            (!best || h->version > best->version))
            best = h;
    }
    return best;
}

const struct gp_hook *gp_hook_for_answer(const char *base, const void *answer, int version,
                                         unsigned long long flags)
{
    const struct gp_hook *same = gp_hook_by_real(answer);
    if (same)
        return same;
    /* An exported function of the driver's says its own name; it may be newer than any we know. */
    Dl_info info;
    if (dladdr(answer, &info) && info.dli_sname && info.dli_saddr == answer &&
        gp_is_driver_address(answer))
        return gp_hook_by_symbol(info.dli_sname);
    if (!base)
        return NULL;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        const struct gp_hook *h = newest_of_base(base, version, GP_PER_THREAD_STREAM);
        if (h)
            return h; /* functions without a stream exist in one kind only */
    }
    return newest_of_base(base, version, GP_LEGACY_STREAM);
}
