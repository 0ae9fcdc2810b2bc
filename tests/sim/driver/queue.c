#include "driver/queue.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/capture.h"
#include "driver/faults.h"
#include "driver/times.h"
#include "model/clock.h"

static unsigned long long last_stream_id;
static double latest_done_ms; /* of all that is done */

/* Broadcast when an operation ends that blocks others. Threads wake only for a reason of theirs:
 * most of the time that the simulated GPU takes goes into waking them. */
static pthread_cond_t unblocked = PTHREAD_COND_INITIALIZER;

void gpusim_task_release(struct gpusim_task *task)
{
    if (!task || --task->references > 0)
        return;
    for (size_t i = 0; i < task->after_count; i++)
        gpusim_task_release(task->after[i]);
    free(task->after);
    gpusim_work_clear(&task->work);
    free(task);
}

void gpusim_task_wait(struct gpusim_task *task)
{
    while (!task->done)
        pthread_cond_wait(&gpusim_changed, &gpusim_lock);
}

static bool may_start(const struct gpusim_task *task)
{
    for (size_t i = 0; i < task->after_count; i++)
        if (!task->after[i]->done)
            return false;
    return true;
}

/* The end of the last piece of work that it waited for, or the host can have waited for. */
static double start_ms(CUstream stream, const struct gpusim_task *task)
{
    double start = fmax(stream->done_ms, task->submitted_ms);

    for (size_t i = 0; i < task->after_count; i++)
        start = fmax(start, task->after[i]->done_ms);
    return start;
}

static void free_stream(CUstream stream)
{
    gpusim_task_release(stream->last);
    free(stream->capture_tail);
    (void)pthread_cond_destroy(&stream->work);
    stream->kind = GPUSIM_DEAD;
    free(stream);
}

/* The first task of the stream has ended. */
static void end_first(CUstream stream)
{
    struct gpusim_task *task = stream->head;

    task->done = true;
    task->done_ms = start_ms(stream, task) + gpusim_work_ms;
    stream->done_ms = task->done_ms;
    latest_done_ms = fmax(latest_done_ms, task->done_ms);
    for (size_t i = 0; i < task->after_count; i++)
        gpusim_task_release(task->after[i]);
    task->after_count = 0;
    pthread_cond_broadcast(&gpusim_changed);
    if (task->blocks)
        pthread_cond_broadcast(&unblocked);
    stream->head = task->next;
    stream->length--;
    if (!stream->head)
        stream->tail = NULL;
    gpusim_task_release(task);
}

static void run_first(CUstream stream)
{
    struct gpusim_task *task = stream->head;
    CUcontext context = task->context;
    CUresult result = CUDA_SUCCESS;

    gpusim_work_ms = 0;
    /* A broken context does nothing more; queued work ends without effect. */
    if (context->sticky == CUDA_SUCCESS) {
        pthread_mutex_unlock(&gpusim_lock);
        result = gpusim_work_run(context, &task->work);
        pthread_mutex_lock(&gpusim_lock);
    }
    if (result != CUDA_SUCCESS && context->sticky == CUDA_SUCCESS)
        context->sticky = result;
    end_first(stream);
}

static void *work_on_stream(void *argument)
{
    CUstream stream = argument;

    pthread_mutex_lock(&gpusim_lock);
    for (;;) {
        struct gpusim_task *task = stream->head;
        if (!task && stream->closing)
            break;
        if (!task || !may_start(task)) {
            pthread_cond_wait(task ? &unblocked : &stream->work, &gpusim_lock);
            continue;
        }
        run_first(stream);
    }
    free_stream(stream);
    pthread_mutex_unlock(&gpusim_lock);
    return NULL;
}

static CUresult start_worker(CUstream stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int failed;

    if (pthread_attr_init(&attributes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* The program's signals are the program's. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    failed = pthread_create(&thread, &attributes, work_on_stream, stream);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (failed)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->worker = true;
    return CUDA_SUCCESS;
}

CUstream gpusim_stream_new(CUcontext context, unsigned flags, int priority)
{
    CUstream stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    (void)pthread_cond_init(&stream->work, NULL);
    stream->kind = GPUSIM_STREAM;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++last_stream_id;
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

static void close_stream(CUstream stream)
{
    stream->closing = true;
    if (stream->worker)
        pthread_cond_signal(&stream->work); /* the worker frees it when it has done its work */
    else
        free_stream(stream);
}

void gpusim_streams_free(CUcontext context)
{
    while (context->streams) {
        CUstream stream = context->streams;
        context->streams = stream->next;
        close_stream(stream);
    }
    context->legacy_stream = NULL;
    context->watching = NULL;
}

static CUstream find_thread_default(CUcontext context)
{
    for (CUstream s = context->streams; s; s = s->next)
        if (s->is_thread_default && pthread_equal(s->thread_default_of, pthread_self()))
            return s;
    return NULL;
}

CUstream gpusim_stream(CUcontext context, CUstream handle, bool per_thread, CUresult *why)
{
    CUstream stream = NULL;

    *why = CUDA_ERROR_INVALID_HANDLE;
    if (!handle)
        handle = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (handle == CU_STREAM_LEGACY) {
        stream = context->legacy_stream;
    } else if (handle == CU_STREAM_PER_THREAD) {
        stream = find_thread_default(context);
        if (!stream) {
            stream = gpusim_stream_new(context, CU_STREAM_DEFAULT, 0);
            if (!stream) {
                *why = CUDA_ERROR_OUT_OF_MEMORY;
                return NULL;
            }
            stream->is_thread_default = true;
            stream->thread_default_of = pthread_self();
        }
    } else {
        stream = gpusim_context_stream(context, handle);
    }
    if (stream)
        *why = CUDA_SUCCESS;
    return stream;
}

static CUresult depend(struct gpusim_task *task, struct gpusim_task *on)
{
    struct gpusim_task **more;

    if (!on || on->done)
        return CUDA_SUCCESS;
    more = realloc(task->after, (task->after_count + 1) * sizeof(*more));
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    task->after = more;
    task->after[task->after_count++] = on;
    on->references++;
    on->blocks = true;
    return CUDA_SUCCESS;
}

/* Stream 0 waits for all streams that did not opt out, and they wait for it. */
static CUresult depend_on_default_stream(CUstream stream, struct gpusim_task *task)
{
    CUresult result = CUDA_SUCCESS;

    if (stream->legacy) {
        for (CUstream s = stream->context->streams; s && result == CUDA_SUCCESS; s = s->next)
            if (s != stream && !(s->flags & CU_STREAM_NON_BLOCKING))
                result = depend(task, s->last);
        return result;
    }
    if (stream->flags & CU_STREAM_NON_BLOCKING)
        return CUDA_SUCCESS;
    return depend(task, stream->context->legacy_stream->last);
}

/* With one queue of the hardware for all streams, the last event recorded that takes the time:
 * it waits for all that was queued before it, and nothing that is queued later passes it, in any
 * stream. */
static struct gpusim_task *barrier;

void gpusim_event_stands(CUevent event)
{
    const char *queues = getenv("CUDA_DEVICE_MAX_CONNECTIONS");

    if (!queues || strcmp(queues, "1") != 0 || event->flags & CU_EVENT_DISABLE_TIMING)
        return;
    for (CUstream s = event->task->context->streams; s; s = s->next)
        if (s->last != event->task)
            (void)depend(event->task, s->last);
    gpusim_task_release(barrier);
    barrier = event->task;
    barrier->references++;
}

void gpusim_time_passes(double ms)
{
    latest_done_ms += ms;
}

CUresult gpusim_submit(CUstream stream, const struct gpusim_work *work, struct gpusim_task *after,
                       struct gpusim_task **out)
{
    struct gpusim_task *task;
    CUresult result;

    *out = NULL;
    result = gpusim_capture_interrupted_by(stream);
    if (result == CUDA_SUCCESS)
        result = gpusim_work_check(stream->context, work);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture)
        return gpusim_capture_add(stream, work);
    if (!stream->worker) {
        result = start_worker(stream);
        if (result != CUDA_SUCCESS)
            return result;
    }
    task = calloc(1, sizeof(*task));
    if (!task)
        return CUDA_ERROR_OUT_OF_MEMORY;
    task->references = 1;
    task->context = stream->context;
    /* Behind work that has not ended it stands in line already: other streams do not matter. */
    task->submitted_ms = stream->head ? 0 : latest_done_ms;
    result = depend_on_default_stream(stream, task);
    if (result == CUDA_SUCCESS)
        result = depend(task, after);
    if (result == CUDA_SUCCESS)
        result = depend(task, barrier);
    if (result != CUDA_SUCCESS) {
        gpusim_task_release(task);
        return result;
    }
    task->work = *work;
    if (stream->tail)
        stream->tail->next = task;
    else
        stream->head = task;
    stream->tail = task;
    stream->length++;
    gpusim_task_release(stream->last);
    stream->last = task;
    task->references += 2; /* the stream's memory of its last task, and the caller */
    pthread_cond_signal(&stream->work);
    *out = task;
    return CUDA_SUCCESS;
}

/* Some task of the context, or of its streams that stream 0 waits for, that is not done. */
static struct gpusim_task *unfinished(CUcontext context, unsigned ignored_flags)
{
    for (CUstream s = context->streams; s; s = s->next)
        if (!(s->flags & ignored_flags) && s->last && !s->last->done)
            return s->last;
    return NULL;
}

static void wait_and_release(struct gpusim_task *task)
{
    task->references++;
    gpusim_task_wait(task);
    gpusim_task_release(task);
}

void gpusim_stream_wait_for_room(CUstream stream)
{
    while (stream->length >= GPUSIM_MOST_QUEUED)
        pthread_cond_wait(&gpusim_changed, &gpusim_lock);
}

void gpusim_stream_wait(CUstream stream)
{
    CUcontext context = stream->context;
    struct gpusim_task *task;

    if (!stream->legacy) {
        if (stream->last)
            wait_and_release(stream->last);
        return;
    }
    while ((task = unfinished(context, CU_STREAM_NON_BLOCKING)) != NULL)
        wait_and_release(task);
}

bool gpusim_stream_idle(CUstream stream)
{
    if (stream->legacy)
        return !unfinished(stream->context, CU_STREAM_NON_BLOCKING);
    return !stream->last || stream->last->done;
}

void gpusim_context_wait(CUcontext context)
{
    struct gpusim_task *task;

    while ((task = unfinished(context, 0)) != NULL)
        wait_and_release(task);
}

CUresult gpusim_do(CUstream handle, bool per_thread, const struct gpusim_work *work,
                   enum gpusim_wait wait)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_task *task = NULL;
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && wait == GPUSIM_WAIT && stream->capture) {
        gpusim_capture_invalidate(stream->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (stream) {
        result = gpusim_submit(stream, work, NULL, &task);
        if (task && wait != GPUSIM_RETURN_AT_ONCE) {
            gpusim_task_wait(task);
            result = context->sticky;
        }
        gpusim_task_release(task);
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

/* ---- the calls about streams that do not depend on which default stream is meant ---- */

static CUresult create(CUstream *out, unsigned flags, int priority)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream_new(context, flags, priority);
    pthread_mutex_unlock(&gpusim_lock);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(phStream, Flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    return create(phStream, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
}

CUresult cuStreamDestroy_v2(CUstream hStream)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    result = CUDA_ERROR_INVALID_HANDLE;
    if (gpusim_context_stream(context, hStream))
        context = hStream->context;
    for (CUstream *link = &context->streams; *link; link = &(*link)->next)
        if (*link == hStream && !hStream->legacy && !hStream->is_thread_default) {
            *link = hStream->next;
            if (hStream->capture)
                gpusim_capture_invalidate(hStream->capture);
            close_stream(hStream);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

/* ---- events ---- */

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUevent event;

    if (result != CUDA_SUCCESS)
        return result;
    if (!phEvent || Flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                                        CU_EVENT_INTERPROCESS))
        return CUDA_ERROR_INVALID_VALUE;
    event = calloc(1, sizeof(*event));
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->kind = GPUSIM_EVENT;
    event->context = context;
    event->flags = Flags;
    *phEvent = event;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent hEvent)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!hEvent || hEvent->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    gpusim_task_release(hEvent->task);
    free(hEvent->capture_nodes);
    hEvent->kind = GPUSIM_DEAD;
    free(hEvent);
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent hEvent)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!hEvent || hEvent->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    result = hEvent->task && !hEvent->task->done ? CUDA_ERROR_NOT_READY : context->sticky;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuEventSynchronize(CUevent hEvent)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!hEvent || hEvent->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    if (hEvent->task)
        wait_and_release(hEvent->task);
    result = context->sticky;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUstream captured_stream(CUcontext context)
{
    CUstream s = context->streams;

    while (s && !s->capture)
        s = s->next;
    return s;
}

/* A thread that is about to begin a capture has the time for it. */
static void let_capture_begin(CUcontext context)
{
    const struct timespec nap = {.tv_nsec = 1000000};

    for (int naps = 0; naps < 20 && !captured_stream(context); naps++) {
        pthread_mutex_unlock(&gpusim_lock);
        (void)nanosleep(&nap, NULL);
        pthread_mutex_lock(&gpusim_lock);
    }
}

/* Behind everything in every stream of the context. */
static CUresult record_everything(CUcontext context, CUevent event)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    struct gpusim_task *task;
    CUresult result;
    CUstream captured;

    if (gpusim_fault_mark_waits())
        let_capture_begin(context);
    captured = captured_stream(context);
    if (captured) {
        gpusim_capture_invalidate(captured->capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (!context->watching)
        context->watching = gpusim_stream_new(context, CU_STREAM_NON_BLOCKING, 0);
    if (!context->watching)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = gpusim_submit(context->watching, &work, NULL, &task);
    for (CUstream s = context->streams; s && result == CUDA_SUCCESS; s = s->next)
        if (s != context->watching)
            result = depend(task, s->last);
    /* A GPU that has nothing to do says so at once, however busy the host is. */
    if (task && result == CUDA_SUCCESS && context->watching->head == task && may_start(task) &&
        !gpusim_fault("slow") && !gpusim_fault("slowmarks")) {
        gpusim_work_ms = 0;
        end_first(context->watching);
    }
    if (task) {
        gpusim_task_release(event->task);
        event->task = task; /* the reference goes with it */
        event->capture = NULL;
        gpusim_event_stands(event);
    }
    return result;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!hEvent || hEvent->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_context_alive(hCtx))
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (hEvent->context != hCtx)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (hCtx->sticky != CUDA_SUCCESS)
        result = hCtx->sticky;
    else
        result = record_everything(hCtx, hEvent);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!ms)
        return CUDA_ERROR_INVALID_VALUE;
    if (!start || start->kind != GPUSIM_EVENT || !end || end->kind != GPUSIM_EVENT ||
        (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    if (!start->task || !end->task)
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!start->task->done || !end->task->done)
        result = CUDA_ERROR_NOT_READY;
    else
        *ms = (float)(gpusim_times_shown(end->task->done_ms) -
                      gpusim_times_shown(start->task->done_ms));
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}

CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed(pMilliseconds, hStart, hEnd);
}
