#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

static size_t whole_pages(size_t bytes)
{
    return (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

/* More is mapped than is wanted, so that a part of it begins where a large page may. */
void *gp_pages_take(size_t bytes)
{
    const size_t size = whole_pages(bytes);
    if (!bytes || size < bytes || size + LARGE_PAGE < size)
        return NULL;
    char *all =
        mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    const size_t before = whole_pages((uintptr_t)all) - (uintptr_t)all;
    if (before)
        munmap(all, before);
    munmap(all + before + size, LARGE_PAGE - before);
    madvise(all + before, size, MADV_HUGEPAGE); /* a wish: small pages do as well */
    return all + before;
}

void gp_pages_give(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, whole_pages(bytes));
}
