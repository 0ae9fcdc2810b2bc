/* CUPTI is loaded ahead of the first launch, in a thread. */
#include "base/cancel.h"
#include "base/checker.h"
#include "base/stack.h"
#include "cuda/cupti.h"
#include "cuda/cupti_library.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Milliseconds that forks wait, all of them together, for libraries that are being loaded. */
#define MOST_NAPS 2000

static atomic_bool loading;
static atomic_int naps = MOST_NAPS;
/* Copies: the program may change its environment while the thread is at it. */
static char named_file[PATH_MAX], named_toolkit[PATH_MAX];

static bool copy_of_environment(const char *name, char copy[PATH_MAX])
{
    const char *value = secure_getenv(name);
    return snprintf(copy, PATH_MAX, "%s", value ? value : "") < PATH_MAX;
}

/* Takes none of our locks: a program may launch kernels while it loads a library of its own, and
 * then has the loader's, which this thread waits for. */
static void *load(void *unused)
{
    struct gp_reason ignored;
    gp_checker_rests();
    gp_cupti_open(named_file, named_toolkit, &ignored);
    atomic_store(&loading, false);
    gp_checker_goes_on();
    return unused;
}

/* A child would have the loader's lists as this thread left them, half changed. Where the program
 * forks while it loads a library itself, the thread waits for that: not for ever. */
static void wait_before_fork(void)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    const int saved_errno = errno;
    gp_cancel_hold(); /* fork is no cancellation point */
    while (atomic_load(&loading) && atomic_fetch_sub(&naps, 1) > 0)
        nanosleep(&nap, NULL);
    gp_cancel_release();
    errno = saved_errno;
}

/* The program's default size of a stack may be too small for the constructors of these libraries,
 * and its signals are the program's. Where no thread can be had, the first launch loads them. */
static void start_to_load(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_attr_setstacksize(&attributes, GP_STACK_BYTES) == 0 &&
        pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        atomic_store(&loading, true);
        if (pthread_create(&thread, &attributes, load, NULL) != 0)
            atomic_store(&loading, false);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
}

/* A program that uses the driver before its libraries have begun loads no further ones beside. */
void gp_cupti_load_ahead(void)
{
    if (gp_libraries_have_begun() && copy_of_environment("GPUPROF_CUPTI", named_file) &&
        copy_of_environment("CUDA_HOME", named_toolkit) &&
        pthread_atfork(wait_before_fork, NULL, NULL) == 0)
        start_to_load();
}
