#include "memory/surfaces.h"

#include "memory/buffers.h"
#include "memory/inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

/* A surface of an array; the first one stands for the array. */
struct surface {
    CUsurfObject handle;
    CUarray array;
    CUcontext context;
    struct surface *prev, *next;
};

struct level {
    CUmipmappedArray whole;
    CUarray array;
    CUcontext context;
    struct level *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct surface *surfaces;
static struct level *levels;

void gp_surface_made(CUsurfObject handle, const CUDA_RESOURCE_DESC *resource)
{
    struct surface *s = malloc(sizeof(*s));
    CUcontext context = NULL;
    if (!s || resource->resType != CU_RESOURCE_TYPE_ARRAY ||
        gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS) {
        free(s);
        gp_memory_bar_replay(GP_REASON_TEXT(
            REPLAY_BARRED, "the program writes surfaces that cannot be kept track of"));
        return;
    }
    *s = (struct surface){handle, resource->res.array.hArray, context, NULL, NULL};
    pthread_mutex_lock(&lock);
    DL_APPEND(surfaces, s);
    pthread_mutex_unlock(&lock);
}

void gp_mipmap_level(CUmipmappedArray whole, CUarray array)
{
    struct level *l;
    bool known = false;
    CUcontext context = NULL;
    gp_cuda.cuCtxGetCurrent(&context);
    pthread_mutex_lock(&lock);
    DL_FOREACH(levels, l)
    {
        known = known || (l->whole == whole && l->array == array);
    }
    l = known ? NULL : malloc(sizeof(*l));
    if (l) {
        *l = (struct level){whole, array, context, NULL, NULL};
        DL_APPEND(levels, l);
    }
    pthread_mutex_unlock(&lock);
    if (!l && !known)
        gp_memory_bar_replay(
            GP_REASON_TEXT(NO_MEMORY, "out of memory: not all arrays of the program are known"));
}

/* Takes the surfaces of that handle, array or context off the list; 0 is none. Locked. */
static bool drop_surfaces(CUsurfObject handle, CUarray array, CUcontext context)
{
    bool dropped = false;
    struct surface *s, *next;
    DL_FOREACH_SAFE(surfaces, s, next)
    {
        if ((handle && s->handle == handle) || (array && s->array == array) ||
            (context && s->context == context)) {
            DL_DELETE(surfaces, s);
            free(s);
            dropped = true;
        }
    }
    return dropped;
}

/* Takes the levels of that mipmapped array or context off the list; 0 is none. True where surfaces
 * of a level of the array went, too. Locked. */
static bool drop_levels(CUmipmappedArray whole, CUcontext context)
{
    bool dropped = false;
    struct level *l, *next;
    DL_FOREACH_SAFE(levels, l, next)
    {
        bool of_array = whole && l->whole == whole;
        if (of_array)
            dropped = drop_surfaces(0, l->array, NULL) || dropped;
        if (of_array || (context && l->context == context)) {
            DL_DELETE(levels, l);
            free(l);
        }
    }
    return dropped;
}

bool gp_surface_going(CUsurfObject handle)
{
    pthread_mutex_lock(&lock);
    bool dropped = drop_surfaces(handle, NULL, NULL);
    pthread_mutex_unlock(&lock);
    return dropped;
}

bool gp_array_going(CUarray array)
{
    pthread_mutex_lock(&lock);
    bool dropped = drop_surfaces(0, array, NULL);
    pthread_mutex_unlock(&lock);
    return dropped;
}

bool gp_mipmap_going(CUmipmappedArray whole)
{
    pthread_mutex_lock(&lock);
    bool dropped = drop_levels(whole, NULL);
    pthread_mutex_unlock(&lock);
    return dropped;
}

void surfaces_forget_context(CUcontext context)
{
    pthread_mutex_lock(&lock);
    drop_surfaces(0, NULL, context);
    drop_levels(NULL, context);
    pthread_mutex_unlock(&lock);
}

/* Locked. */
static bool is_first_of_its_array(const struct surface *surface)
{
    const struct surface *s;
    DL_FOREACH(surfaces, s)
    {
        if (s->array == surface->array && s->context == surface->context)
            return s == surface;
    }
    return false;
}

void surfaces_each(CUcontext context, gp_array_visit *visit, void *data)
{
    struct surface *s;
    pthread_mutex_lock(&lock);
    DL_FOREACH(surfaces, s)
    {
        if (s->context == context && is_first_of_its_array(s))
            visit(s->array, data);
    }
    pthread_mutex_unlock(&lock);
}
