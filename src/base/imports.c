#include "base/imports.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_AT_CALL(type) ((type) == R_X86_64_JUMP_SLOT)
#define IS_ADDRESS(type) ((type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_AT_CALL(type) ((type) == R_AARCH64_JUMP_SLOT)
#define IS_ADDRESS(type) ((type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#else
#error "the relocations of this processor are not known"
#endif

#define LEAST_ADDRESS 4096 /* no function lies below */

/* Words of other libraries are read and written here, which no tool can know of. */
#define UNCHECKED __attribute__((no_sanitize("address", "thread")))

/* An object as its dynamic section has it. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations, *at_calls;
    size_t count, at_call_count, relative;
};

bool gp_object_has(const struct dl_phdr_info *object, const void *address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)address >= begin &&
            (uintptr_t)address < begin + part->p_memsz)
            return true;
    }
    return false;
}

/* The linker makes addresses of offsets as it begins with an object. */
static const void *table_at(const struct dl_phdr_info *object, ElfW(Addr) at)
{
    return (const void *)(at < object->dlpi_addr ? at + object->dlpi_addr : at);
}

UNCHECKED static bool find_tables(const struct dl_phdr_info *object, struct tables *t)
{
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < object->dlpi_phnum && !d; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    *t = (struct tables){.relative = 0};
    size_t bytes = 0, at_call_bytes = 0;
    bool has_addends = true;
    for (; d && d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = table_at(object, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            t->strings = table_at(object, d->d_un.d_ptr);
            break;
        case DT_RELA:
            t->relocations = table_at(object, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            bytes = d->d_un.d_val;
            break;
        case DT_RELACOUNT:
            t->relative = d->d_un.d_val;
            break;
        case DT_JMPREL:
            t->at_calls = table_at(object, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            at_call_bytes = d->d_un.d_val;
            break;
        case DT_PLTREL:
            has_addends = d->d_un.d_val == DT_RELA;
            break;
        default:
            break;
        }
    }
    t->count = t->relocations ? bytes / sizeof(*t->relocations) : 0;
    t->at_call_count = t->at_calls && has_addends ? at_call_bytes / sizeof(*t->at_calls) : 0;
    return t->symbols && t->strings;
}

/* ---- a change -------------------------------------------------------------------------------- */

/* The rights to the page of an address, by the kernel's list; -1 where it is not to be had. Lines
 * may be cut in two by the end of the buffer: a path is never of interest. */
static int rights_at(const void *address)
{
    char text[1024];
    size_t kept = 0;
    int rights = -1, fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool in_line = true; /* at its beginning, not in the rest of one that was cut */
    ssize_t got = 0;
    while (fd >= 0 && rights < 0 && (got = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept + (size_t)got] = '\0';
        while (rights < 0 && (end = strchr(line, '\n'))) {
            char *after;
            const uintptr_t begin = strtoul(line, &after, 16);
            const uintptr_t stop = *after == '-' ? strtoul(after + 1, &after, 16) : 0;
            if (in_line && (uintptr_t)address >= begin && (uintptr_t)address < stop)
                rights = (after[1] == 'r' ? PROT_READ : 0) | (after[2] == 'w' ? PROT_WRITE : 0) |
                         (after[3] == 'x' ? PROT_EXEC : 0);
            in_line = true;
            line = end + 1;
        }
        kept = strlen(line);
        if (kept > sizeof(text) / 2) { /* its beginning was in the buffer: the rest is a path */
            in_line = false;
            kept = 0;
        }
        memmove(text, line, kept);
    }
    if (fd >= 0)
        close(fd);
    return rights;
}

/* The page becomes writable for that moment, and no other entry of it changes its rights. */
UNCHECKED static bool put(void **entry, void *address)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = (void *)((uintptr_t)entry & ~(page - 1));
    const int rights = rights_at(entry);
    if (rights < 0)
        return false;
    if (!(rights & PROT_WRITE) && mprotect(at, page, rights | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(entry, address, __ATOMIC_RELEASE);
    if (!(rights & PROT_WRITE))
        mprotect(at, page, rights);
    return true;
}

/* ---- imports --------------------------------------------------------------------------------- */

/* An entry for calls leads into its own object until the linker finds the function, at the first of
 * them. Before the linker has begun with an object it is an offset there, and others are 0. */
UNCHECKED static bool is_unfilled(const struct dl_phdr_info *object, const void *now)
{
    return (uintptr_t)now < LEAST_ADDRESS ||
           (object->dlpi_addr && (uintptr_t)now < object->dlpi_addr &&
            gp_object_has(object, (const char *)now + object->dlpi_addr));
}

/* False where the entry is to be changed, and cannot be yet. */
UNCHECKED static bool change(const struct dl_phdr_info *object, const struct tables *t,
                             const ElfW(Rela) * r, gp_import_becomes *becomes, void *data,
                             size_t *changed)
{
    const unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &t->symbols[ELF64_R_SYM(r->r_info)];
    if (!ELF64_R_SYM(r->r_info) || symbol->st_shndx != SHN_UNDEF ||
        !(IS_AT_CALL(type) || (IS_ADDRESS(type) && r->r_addend == 0)))
        return true;
    void **entry = (void **)(object->dlpi_addr + r->r_offset);
    void *now = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    if (!now && ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
        return true; /* there is no such function, which the library can bear */
    const bool unbound = IS_AT_CALL(type) && gp_object_has(object, now);
    const bool unfilled = !unbound && is_unfilled(object, now);
    void *answer = becomes(data, t->strings + symbol->st_name, unbound || unfilled ? NULL : now);
    if (!answer || answer == now)
        return true;
    if (!unfilled)
        *changed += put(entry, answer);
    return !unfilled;
}

bool gp_imports_change(const struct dl_phdr_info *object, gp_import_becomes *becomes, void *data,
                       size_t *changed)
{
    struct tables t;
    bool whole = true;
    if (!find_tables(object, &t))
        return true;
    for (size_t i = t.relative < t.count ? t.relative : t.count; i < t.count; i++)
        whole = change(object, &t, &t.relocations[i], becomes, data, changed) && whole;
    for (size_t i = 0; i < t.at_call_count; i++)
        whole = change(object, &t, &t.at_calls[i], becomes, data, changed) && whole;
    return whole;
}

/* ---- addresses that a library keeps ------------------------------------------------------------
 */

UNCHECKED void gp_addresses_change(const struct dl_phdr_info *object, const void *low,
                                   const void *high, gp_import_becomes *becomes, void *data,
                                   size_t *changed)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        void **word = (void **)((begin + sizeof(*word) - 1) & ~(sizeof(*word) - 1));
        for (; (uintptr_t)(word + 1) <= end; word++) {
            void *now = __atomic_load_n(word, __ATOMIC_RELAXED);
            void *answer = now >= low && now < high ? becomes(data, NULL, now) : NULL;
            if (answer && answer != now)
                *changed += put(word, answer);
        }
    }
}
