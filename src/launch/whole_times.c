/* The times of graphs that are launched as they are and timed as a whole (launch/timed.h): sums of
 * each graph. Owns them, a bounded amount; they last as long as the process. From any thread. */
#include "launch/inside.h"
#include "launch/timed.h"

#include "base/hash.h"
#include "profile/fields.h"
#include "profile/object.h"
#include "profile/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GRAPHS 1024

struct entry {
    struct gp_whole_times times; /* first: a struct gp_whole_times * is a struct entry * */
    uint64_t key;
    UT_hash_handle hh;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

/* Locked. */
static struct entry *make(uint64_t key, const char *kernel)
{
    struct entry *e = HASH_COUNT(entries) < MOST_GRAPHS ? calloc(1, sizeof(*e)) : NULL;
    char *own = e ? strdup(kernel) : NULL;
    if (own) {
        e->key = key;
        e->times.kernel = own;
        HASH_ADD(hh, entries, key, sizeof(e->key), e);
        if (e->hh.tbl)
            return e;
    }
    free(own);
    free(e);
    return NULL;
}

struct gp_whole_times *gp_whole_times_of(uint64_t key, const char *kernel, unsigned kernels,
                                         int device)
{
    struct entry *e = NULL;
    pthread_mutex_lock(&lock);
    HASH_FIND(hh, entries, &key, sizeof(key), e);
    if (!e && (e = make(key, kernel))) {
        e->times.kernels = kernels;
        e->times.device = device;
    }
    pthread_mutex_unlock(&lock);
    return e ? &e->times : NULL;
}

void whole_times_add(struct gp_whole_times *t, double seconds)
{
    pthread_mutex_lock(&lock);
    t->launches++;
    if (seconds > 0) {
        if (t->timed == 0 || seconds < t->shortest)
            t->shortest = seconds;
        if (seconds > t->longest)
            t->longest = seconds;
        t->timed++;
        t->seconds += seconds;
    }
    pthread_mutex_unlock(&lock);
}

void whole_times_visit(void (*visit)(void *user, const struct gp_whole_times *times), void *user)
{
    struct entry *e, *next;
    pthread_mutex_lock(&lock);
    HASH_ITER(hh, entries, e, next)
    {
        visit(user, &e->times);
    }
    pthread_mutex_unlock(&lock);
}

void whole_times_write(const struct gp_whole_times *t, struct gp_writer *writer)
{
    struct gp_object line = gp_object_new(NULL);
    gp_object_put_fields(&line, gp_whole_fields, gp_whole_field_count, GP_FIELDS_ALL, t);
    if (!line.failed) {
        gp_writer_line(writer, "graph", line.object);
        return;
    }
    json_decref(line.object);
    gp_writer_line(writer, "graph", NULL);
}
