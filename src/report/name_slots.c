#include "report/name_slots.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "report/layout.h"
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

/* Further kernels get a name of their own only. */
#define MOST_KERNELS 4096

struct kernel {
    UT_hash_handle hh;
    size_t number;
    char *full, *brief;
    char mangled[];
};

struct slot {
    size_t at, width;
    const struct kernel *kernel;
};

struct gp_name_slots {
    bool mangled;
    struct kernel *kernels; /* by name, in the order in which they came */
    struct slot *slots;
    size_t count, capacity;
};

struct gp_name_slots *gp_name_slots_new(bool mangled)
{
    struct gp_name_slots *s = calloc(1, sizeof(*s));
    if (s)
        s->mangled = mangled;
    return s;
}

static void free_kernel(struct kernel *k)
{
    if (k) {
        free(k->full);
        free(k->brief);
    }
    free(k);
}

void gp_name_slots_free(struct gp_name_slots *s)
{
    struct kernel *k, *next;
    if (!s)
        return;
    HASH_ITER(hh, s->kernels, k, next)
    {
        HASH_DEL(s->kernels, k);
        free_kernel(k);
    }
    free(s->slots);
    free(s);
}

static char *spell(const struct gp_name_slots *s, const char *mangled, enum gp_name form)
{
    char *name = s->mangled ? NULL : gp_demangle(mangled, form);
    return name ? name : strdup(mangled);
}

/* NULL when out of memory. */
static struct kernel *kernel_of(struct gp_name_slots *s, const char *mangled)
{
    size_t length = strlen(mangled);
    struct kernel *k = NULL;
    HASH_FIND(hh, s->kernels, mangled, length, k);
    if (k)
        return k;
    k = calloc(1, sizeof(*k) + length + 1);
    if (!k)
        return NULL;
    memcpy(k->mangled, mangled, length);
    k->number = HASH_COUNT(s->kernels);
    k->full = spell(s, mangled, GP_NAME_FULL);
    k->brief = spell(s, mangled, GP_NAME_BRIEF);
    if (k->full && k->brief)
        HASH_ADD_KEYPTR(hh, s->kernels, k->mangled, length, k);
    if (k->hh.tbl)
        return k;
    free_kernel(k);
    return NULL;
}

static bool add_slot(struct gp_name_slots *s, const struct slot *slot)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1024;
        struct slot *more = realloc(s->slots, capacity * sizeof(*more));
        if (!more)
            return false;
        s->slots = more;
        s->capacity = capacity;
    }
    s->slots[s->count++] = *slot;
    return true;
}

void gp_name_slots_add(struct gp_name_slots *s, const char *kernel, size_t width,
                       struct gp_text *lines)
{
    struct slot slot = {.at = lines->length, .width = width};
    slot.kernel = kernel_of(s, kernel);
    for (size_t i = 0; i < width; i++)
        gp_text_add(lines, " ");
    if (!slot.kernel || !add_slot(s, &slot))
        lines->failed = true;
}

/* Makes the names of the first kernels, all of one width. NULL when out of memory. */
static char **make_names(const struct gp_name_slots *s, size_t count, size_t width)
{
    struct gp_kernel_spelling *kernels = calloc(count + 1, sizeof(*kernels));
    char **names = calloc(count + 1, sizeof(*names));
    struct kernel *k, *next;
    bool made = kernels && names;
    HASH_ITER(hh, s->kernels, k, next)
    {
        if (made && k->number < count)
            kernels[k->number] = (struct gp_kernel_spelling){k->mangled, k->full, k->brief};
    }
    made = made && gp_names_distinct(kernels, count, names) && gp_names_fit(names, count, width);
    free(kernels);
    if (made)
        return names;
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
    return NULL;
}

static void write_name(const struct slot *slot, const char *name, struct gp_text *lines)
{
    size_t length = strlen(name);
    size_t shown = length < slot->width ? length : slot->width;
    memcpy(lines->data + slot->at + slot->width - shown, name, shown);
}

static void write_own_name(const struct slot *slot, struct gp_text *lines)
{
    char *name = malloc(slot->width + 1);
    if (name) {
        gp_shorten(slot->kernel->brief, name, slot->width);
        write_name(slot, name, lines);
    }
    free(name);
}

void gp_name_slots_fill(struct gp_name_slots *s, struct gp_text *lines)
{
    size_t kernels = HASH_COUNT(s->kernels), width = (size_t)-1;
    size_t named = kernels < MOST_KERNELS ? kernels : MOST_KERNELS;
    for (size_t i = 0; i < s->count; i++)
        width = s->slots[i].width < width ? s->slots[i].width : width;
    char **names = s->count > 0 && !lines->failed ? make_names(s, named, width) : NULL;
    lines->failed |= s->count > 0 && !names;
    for (size_t i = 0; names && i < s->count; i++) {
        const struct slot *slot = &s->slots[i];
        if (slot->kernel->number < named)
            write_name(slot, names[slot->kernel->number], lines);
        else
            write_own_name(slot, lines);
    }
    for (size_t i = 0; names && i < named; i++)
        free(names[i]);
    free(names);
    s->count = 0;
}
