#include "profile/said.h"

#include "base/hash.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (4u << 20)

struct gp_said_entry {
    UT_hash_handle hh;
    unsigned number;
    char text[];
};

void gp_said_key_add(struct gp_said_key *key, const void *bytes, size_t size)
{
    const char *at = bytes;
    for (size_t left = size;; left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, at, left < sizeof(word) ? left : sizeof(word));
        key->words[0] = gp_mix(key->words[0], word);
        key->words[1] = gp_mix(key->words[1] + size, ~word);
        if (left <= sizeof(word))
            return;
    }
}

void gp_said_key_add_text(struct gp_said_key *key, const char *text)
{
    gp_said_key_add(key, text, strlen(text) + 1);
}

static size_t index_of(const struct gp_said_key *key)
{
    return key->words[0] >> 32 & (GP_SAID_KEYS - 1);
}

unsigned gp_said_find_key(const struct gp_said *said, const struct gp_said_key *key)
{
    const size_t i = index_of(key);
    bool found = said->keys && memcmp(&said->keys[i].key, key, sizeof(*key)) == 0;
    return found ? said->keys[i].number : 0;
}

void gp_said_note_key(struct gp_said *said, const struct gp_said_key *key, unsigned number)
{
    if (!said->keys)
        said->keys = calloc(GP_SAID_KEYS, sizeof(*said->keys));
    if (!said->keys || !number)
        return;
    said->keys[index_of(key)].key = *key;
    said->keys[index_of(key)].number = number;
}

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
    free(said->keys);
    memset(said, 0, sizeof(*said));
}
