#include "profile/said.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (4u << 20)

struct gp_said_entry {
    UT_hash_handle hh;
    unsigned number;
    char text[];
};

unsigned gp_said_find(const struct gp_said *said, const char *text, size_t length)
{
    struct gp_said_entry *entry = NULL;
    HASH_FIND(hh, said->entries, text, length, entry);
    return entry ? entry->number : 0;
}

unsigned gp_said_add(struct gp_said *said, const char *text, size_t length)
{
    struct gp_said_entry *entry = calloc(1, sizeof(*entry) + length);
    if (!entry)
        return 0;
    memcpy(entry->text, text, length);
    HASH_ADD_KEYPTR(hh, said->entries, entry->text, length, entry);
    if (!entry->hh.tbl) {
        free(entry);
        return 0;
    }
    said->bytes += sizeof(*entry) + length;
    return entry->number = ++said->count;
}

bool gp_said_is_full(const struct gp_said *said, unsigned more)
{
    return said->count + more > GP_MOST_SAID || said->bytes > MOST_BYTES;
}

void gp_said_forget(struct gp_said *said)
{
    struct gp_said_entry *entry, *next;
    HASH_ITER(hh, said->entries, entry, next)
    {
        HASH_DEL(said->entries, entry);
        free(entry);
    }
    memset(said, 0, sizeof(*said));
}
