#include "hook/imports.h"

#include "base/checker.h"
#include "base/imports.h"
#include "hook/cupti.h"
#include "hook/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Libraries, in one search, whose data is gone through; the others' are not. */
#define MOST_MENDED 64

/* Before our own constructor others are at work that the linker has begun with: the search waits.
 */
static atomic_bool begun;
static atomic_ullong seen;   /* the linker's count of objects that it has ever added */
static atomic_int searching; /* the process that is at it; a forked child is another */

struct search {
    unsigned long long added;
    bool every_data;   /* the data of each library is gone through */
    bool whole;        /* no entry is still to be filled in */
    bool needs_driver; /* there are imports that may be the driver's */
    ElfW(Addr) driver; /* where it begins */
    const char *low, *high;
    ElfW(Addr) mended[MOST_MENDED];
    size_t mended_count;
};

__attribute__((constructor)) static void begin(void)
{
    gp_checker_begins();
    atomic_store(&begun, true);
}

/* A sanitizer's own, which may not be ready yet, would come first. */
static int for_each_object(int (*see)(struct dl_phdr_info *, size_t, void *), void *data)
{
    static _Atomic(void *) found;
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    if (!atomic_load(&found))
        atomic_store(&found, gp_real_dlsym(RTLD_NEXT, "dl_iterate_phdr"));
    *(void **)&iterate = atomic_load(&found);
    return iterate ? iterate(see, data) : 0;
}

static int read_count(struct dl_phdr_info *object, size_t size, void *added)
{
    (void)size;
    *(unsigned long long *)added = object->dlpi_adds;
    return 1;
}

static void *for_import(void *data, const char *symbol, void *address)
{
    struct search *s = data;
    if (strcmp(symbol, "dlsym") == 0)
        return !address || address == (void *)gp_real_dlsym ? (void *)&dlsym : NULL;
    void *cupti = gp_cupti_export(symbol);
    if (cupti)
        return cupti;
    const struct gp_hook *hook = gp_hook_by_symbol(symbol);
    if (!hook || address == hook->wrapper)
        return NULL;
    if (!address || address == *hook->real)
        return hook->wrapper;
    s->needs_driver = s->needs_driver || !*hook->real;
    return NULL;
}

static void *for_address(void *data, const char *symbol, void *address)
{
    (void)data;
    (void)symbol;
    const struct gp_hook *hook = gp_hook_by_real(address);
    return hook ? hook->wrapper : NULL;
}

static bool is_others(const struct dl_phdr_info *object)
{
    return !gp_object_has(object, &begun) && !gp_is_nvidia_file(object->dlpi_name);
}

static int mend_imports(struct dl_phdr_info *object, size_t size, void *search)
{
    struct search *s = search;
    size_t changed = 0;
    (void)size;
    if (!is_others(object))
        return 0;
    s->whole = gp_imports_change(object, for_import, s, &changed) && s->whole;
    if (changed > 0 && s->mended_count < MOST_MENDED)
        s->mended[s->mended_count++] = object->dlpi_addr;
    return 0;
}

static int find_driver(struct dl_phdr_info *object, size_t size, void *search)
{
    struct search *s = search;
    (void)size;
    if (!gp_object_has(object, (void *)gp_cuda.cuInit))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const char *at = (const char *)(object->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD)
            continue;
        s->low = !s->low || at < s->low ? at : s->low;
        s->high = at + part->p_memsz > s->high ? at + part->p_memsz : s->high;
    }
    return 1;
}

static int mend_addresses(struct dl_phdr_info *object, size_t size, void *search)
{
    struct search *s = search;
    bool wanted = s->every_data;
    size_t changed = 0;
    (void)size;
    for (size_t i = 0; i < s->mended_count && !wanted; i++)
        wanted = s->mended[i] == object->dlpi_addr;
    if (wanted && is_others(object))
        gp_addresses_change(object, s->low, s->high, for_address, s, &changed);
    return 0;
}

/* Where the driver is there, a library may have asked for its functions before it was seen. */
static void search(struct search *s)
{
    s->whole = true;
    for_each_object(mend_imports, s);
    if (!s->every_data && !s->mended_count && !s->needs_driver)
        return;
    if (!gp_driver_find() || !gp_cuda.cuInit)
        return;
    if (s->needs_driver)
        for_each_object(mend_imports, s);
    for_each_object(find_driver, s);
    if (s->low && (s->every_data || s->mended_count))
        for_each_object(mend_addresses, s);
}

static bool may_search(void)
{
    int nobody = 0;
    const int own = (int)getpid();
    return atomic_compare_exchange_strong(&searching, &nobody, own) ||
           (nobody != own && atomic_compare_exchange_strong(&searching, &nobody, own));
}

static void mend(bool every_data)
{
    struct search s = {.every_data = every_data};
    gp_real_dlsym_find();
    if (!atomic_load(&begun) || !gp_real_dlsym)
        return;
    for_each_object(read_count, &s.added);
    if ((s.added == atomic_load(&seen) && !every_data) || !may_search())
        return;
    const int saved_errno = errno;
    gp_checker_rests();
    search(&s);
    gp_checker_goes_on();
    if (s.whole)
        atomic_store(&seen, s.added);
    atomic_store(&searching, 0);
    errno = saved_errno;
}

void gp_imports_mend(void)
{
    mend(false);
}

void gp_imports_mend_all(void)
{
    mend(true);
}
