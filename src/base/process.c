#include "base/process.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page that the kernel wipes in children; NULL where it cannot. */
static atomic_int *_Atomic page;
/* Where there is no such page. */
static atomic_int marked_pid;

static void make_page(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    /* Some emulators answer every advice with success, and do nothing. */
    if (madvise(NULL, 0, -1) == 0)
        return;
    atomic_int *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    *p = 1; /* before any other thread reads it */
    atomic_int *nothing = NULL;
    /* Another thread's will do as well. */
    if (madvise(p, size, MADV_WIPEONFORK) != 0 ||
        !atomic_compare_exchange_strong(&page, &nothing, p))
        munmap(p, size);
}

void gp_process_mark(void)
{
    atomic_store(&marked_pid, getpid());
    if (!atomic_load(&page))
        make_page();
    atomic_int *mark = atomic_load(&page);
    if (mark)
        atomic_store(mark, 1); /* a child's page is there already, wiped */
}

bool gp_process_is_marked(void)
{
    atomic_int *mark = atomic_load_explicit(&page, memory_order_acquire);
    if (mark)
        return atomic_load_explicit(mark, memory_order_relaxed) == 1;
    return atomic_load(&marked_pid) == getpid();
}

/* ---- its time -------------------------------------------------------------------------------- */

static double loaded;

__attribute__((constructor)) static void note_time(void)
{
    loaded = gp_clock_seconds();
}

double gp_process_seconds(void)
{
    return gp_clock_seconds() - loaded;
}
