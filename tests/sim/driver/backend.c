#include "backend.h"

#include "driver/driver.h"
#include "driver/faults.h"
#include "driver/module.h"
#include "driver/queue.h"

#include <stdatomic.h>
#include <time.h>

static bool ready(void)
{
    return gpusim_enter() == CUDA_SUCCESS;
}

static bool device_of(CUcontext context, int *device)
{
    bool alive;

    pthread_mutex_lock(&gpusim_lock);
    alive = gpusim_context_alive(context);
    if (alive)
        *device = context->device->ordinal;
    pthread_mutex_unlock(&gpusim_lock);
    return alive;
}

static bool synchronize(CUcontext context)
{
    bool sound = false;

    pthread_mutex_lock(&gpusim_lock);
    if (gpusim_context_alive(context)) {
        gpusim_context_wait(context);
        sound = context->sticky == CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return sound;
}

static void synchronize_all(void)
{
    pthread_mutex_lock(&gpusim_lock);
    gpusim_contexts_wait();
    pthread_mutex_unlock(&gpusim_lock);
}

static bool is_green(CUcontext context)
{
    bool green;

    pthread_mutex_lock(&gpusim_lock);
    green = gpusim_context_alive(context) && context->owner;
    pthread_mutex_unlock(&gpusim_lock);
    return green;
}

static bool watch(CUcontext context, struct gpusim_watcher *watcher)
{
    bool alive;

    pthread_mutex_lock(&gpusim_lock);
    alive = gpusim_context_alive(context);
    if (alive) {
        watcher->next = context->watchers;
        context->watchers = watcher;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return alive;
}

static void unwatch(CUcontext context, struct gpusim_watcher *watcher)
{
    pthread_mutex_lock(&gpusim_lock);
    if (gpusim_context_alive(context))
        for (struct gpusim_watcher **link = &context->watchers; *link; link = &(*link)->next)
            if (*link == watcher) {
                *link = watcher->next;
                context->watches += context->watchers == NULL;
                break;
            }
    pthread_mutex_unlock(&gpusim_lock);
}

static _Atomic(const void *) attached;

static bool attach(const void *tool)
{
    const void *nobody = NULL;

    return atomic_compare_exchange_strong(&attached, &nobody, tool) || nobody == tool;
}

static void detach(const void *tool)
{
    (void)atomic_compare_exchange_strong(&attached, &tool, NULL);
}

static atomic_bool serving;

static void serve(bool on)
{
    atomic_store(&serving, on);
}

void gpusim_watched_call(void)
{
    if (atomic_load(&serving) && gpusim_fault("slowlaunches"))
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

const struct gpusim_backend gpusim_backend = {
    .version = GPUSIM_BACKEND_VERSION,
    .chip = gpusim_chip,
    .device_count = gpusim_device_count,
    .ready = ready,
    .current = gpusim_context_current,
    .device_of = device_of,
    .is_green = is_green,
    .synchronize = synchronize,
    .synchronize_all = synchronize_all,
    .watch = watch,
    .unwatch = unwatch,
    .fault = gpusim_fault,
    .fault_number = gpusim_fault_number,
    .sleep_ms = gpusim_sleep_ms,
    .attach = attach,
    .detach = detach,
    .serve = serve,
    .hear_cubins = gpusim_hear_cubins,
};
