#include "base/cancel.h"

#include <pthread.h>
#include <stddef.h>

static __thread int depth __attribute__((tls_model("initial-exec")));
static __thread int outside __attribute__((tls_model("initial-exec"))); /* as it was before */

/* A signal's handler may do the same between any two lines. */
void gp_cancel_hold(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (depth++ == 0)
        outside = before;
}

void gp_cancel_release(void)
{
    int before = outside;
    if (--depth == 0)
        pthread_setcancelstate(before, NULL);
}
