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

static void free_facts(struct gp_timed_facts *f)
{
    free(f->kernel.name);
    free(f);
}

void timed_facts_forget(struct gp_timed_context *c)
{
    struct gp_timed_facts *f, *next;
    HASH_ITER(hh, c->facts, f, next)
    {
        HASH_DEL(c->facts, f);
        free_facts(f);
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

/* Unlocked. The code is read where the limit permits it; NULL where it was not, and all else is
 * known. */
static struct gp_timed_facts *ask_facts(const struct gp_timed_context *c, CUfunction handle,
                                        bool only_code, bool needs_code)
{
    const bool reads =
        needs_code ? within_limit_permits_code(handle) : within_limit_permits_code_for_time(handle);
    struct gp_timed_facts *f = reads || !only_code ? calloc(1, sizeof(*f)) : NULL;
    if (!f)
        return NULL;
    f->handle = handle;
    pthread_mutex_lock(&asking);
    gp_gate_enter();
    bool known = kernel_ask_facts(handle, &c->device, reads, &f->kernel);
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

/* Locked. Takes `new` over. NULL where they cannot be kept. */
static struct gp_timed_facts *take(struct gp_timed_context *c, struct gp_timed_facts *new)
{
    struct gp_timed_facts *f = find_facts(c, new->handle);
    if (!f) {
        HASH_ADD_PTR(c->facts, handle, new);
        if (new->hh.tbl)
            return new;
    } else if (new->kernel.code_read) {
        f->kernel.code_read = true;
        f->kernel.may_wait = new->kernel.may_wait;
        f->kernel.may_poll = new->kernel.may_poll;
    }
    free_facts(new);
    return f;
}

struct gp_timed_facts *timed_facts_of(struct gp_timed_context *c, CUfunction handle,
                                      bool needs_code)
{
    struct gp_timed_facts *f = find_facts(c, handle), *new;
    unsigned long changes = atomic_load(&changed);
    /* In a series the gate is locked, and a thread that asks may wait for it. */
    if ((!f || !f->kernel.code_read) && gp_captures() == 0 && !launch_is_in_series()) {
        const bool only_code = f != NULL;
        pthread_mutex_unlock(&c->lock);
        new = ask_facts(c, handle, only_code, needs_code);
        pthread_mutex_lock(&c->lock);
        f = new ? take(c, new) : find_facts(c, handle);
    }
    if (f && f->changes != changes) {
        function_describe(f->kernel.function, &f->described);
        f->changes = changes;
    }
    return f;
}
