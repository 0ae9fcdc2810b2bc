/* The functions that loaded libraries call by way of their tables, which the dynamic linker has
 * filled in: of imports, and of addresses that a library has asked for itself and keeps. Owns the
 * change of an entry. */
#ifndef GPUPROF_BASE_IMPORTS_H
#define GPUPROF_BASE_IMPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* Asked of each import of a function: its name, and its address, NULL where the linker has yet to
 * find it, at the first call. The answer takes the entry; NULL: it stays. */
typedef void *gp_import_becomes(void *data, const char *symbol, void *address);

/* Goes through the imports of an object. *changed counts entries that were changed. False where the
 * linker is still at work on it, so that it is to be asked again. No memory, no locks; to be called
 * by dl_iterate_phdr, while the object cannot go. */
bool gp_imports_change(const struct dl_phdr_info *object, gp_import_becomes *becomes, void *data,
                       size_t *changed);

/* Goes through an object's writable data: each word from `low` up to `high` is asked of, without a
 * name. The same. */
void gp_addresses_change(const struct dl_phdr_info *object, const void *low, const void *high,
                         gp_import_becomes *becomes, void *data, size_t *changed);

/* True where the object's memory has the address. */
bool gp_object_has(const struct dl_phdr_info *object, const void *address);

#endif
