#include "base/added_time.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "launch/inside.h"
#include "launch/timed.h"

#include <stdlib.h>

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; /* for a kernel's facts */
static atomic_ulong changed;                               /* attributes of functions, so often */

void gp_timed_function_changes(void)
{
    atomic_fetch_add(&changed, 1);
}

void timed_facts_forget(struct gp_timed_context *c)
{
    struct gp_timed_facts *f, *next;
    HASH_ITER(hh, c->facts, f, next)
    {
        HASH_DEL(c->facts, f);
        free(f->kernel.name);
        free(f);
    }
}

/* Locked. NULL where they are not known. */
static struct gp_timed_facts *find_facts(struct gp_timed_context *c, CUfunction handle)
{
    struct gp_timed_facts *f = NULL;
    unsigned long forgotten = kernels_forgotten();
    if (c->forgotten != forgotten)
        timed_facts_forget(c);
    c->forgotten = forgotten;
    HASH_FIND_PTR(c->facts, &handle, f);
    return f;
}

/* The driver loads its code now: at the launch it would do so between the events. False where it
 * does not. */
static bool load_code(CUfunction function)
{
    if (!gp_cuda.cuFuncLoad)
        return false;
    gp_added_pauses();
    bool loaded = gp_cuda.cuFuncLoad(function) == CUDA_SUCCESS;
    gp_added_resumes();
    return loaded;
}

/* Unlocked. */
static struct gp_timed_facts *ask_facts(const struct gp_timed_context *c, CUfunction handle)
{
    struct gp_timed_facts *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->handle = handle;
    pthread_mutex_lock(&asking);
    gp_gate_enter();
    bool known = kernel_ask_facts(handle, &c->device, &f->kernel);
    gp_gate_leave();
    pthread_mutex_unlock(&asking);
    if (known) {
        f->may_load = !load_code(f->kernel.function);
        function_describe(f->kernel.function, &f->described);
        f->changes = atomic_load(&changed);
        return f;
    }
    free(f);
    return NULL;
}

struct gp_timed_facts *timed_facts_of(struct gp_timed_context *c, CUfunction handle)
{
    struct gp_timed_facts *f = find_facts(c, handle), *new = NULL;
    unsigned long changes = atomic_load(&changed);
    /* In a series the gate is locked, and a thread that asks may wait for it. */
    if (!f && gp_captures() == 0 && !launch_is_in_series()) {
        pthread_mutex_unlock(&c->lock);
        new = ask_facts(c, handle);
        pthread_mutex_lock(&c->lock);
        f = find_facts(c, handle);
    }
    if (!f && new) {
        HASH_ADD_PTR(c->facts, handle, new);
        f = new->hh.tbl ? new : NULL;
    }
    if (new &&new != f) {
        free(new->kernel.name);
        free(new);
    }
    if (f && f->changes != changes) {
        function_describe(f->kernel.function, &f->described);
        f->changes = changes;
    }
    return f;
}
