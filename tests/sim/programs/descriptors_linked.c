/* descriptors_linked CASE FILE: a program that closes descriptors which it has not opened, and
 * gets their numbers for a file of its own, which holds its own text and nothing else. In the
 * case "error" that is descriptor 2, before the driver is used; in the case "error_later"
 * afterwards; in the case "high" all from 3 on, whose numbers FILE then has; in the case
 * "closed" they only are closed. */
#include <fcntl.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

enum { FIRST = 3, LAST = 300 };

static int open_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0 || write(fd, "mine\n", 5) != 5)
        exit(2);
    return fd;
}

static void reuse_error(const char *name)
{
    (void)close(STDERR_FILENO);
    if (open_file(name) != STDERR_FILENO)
        exit(2);
}

static void reuse_high(const char *name)
{
    int fd;

    for (fd = FIRST; fd <= LAST; fd++)
        (void)close(fd);
    fd = open_file(name);
    for (int other = fd + 1; other <= LAST; other++)
        if (dup2(fd, other) != other)
            exit(2);
}

int main(int argc, char **argv)
{
    const char *how = argc == 3 ? argv[1] : "";
    struct gpu gpu;
    struct work w = {.gpu = &gpu};

    if (strcmp(how, "error") == 0)
        reuse_error(argv[2]);
    gpu_from_linker(&gpu);
    snippets_open(&w);
    run_snippet(&w, "in_place");
    if (strcmp(how, "error_later") == 0)
        reuse_error(argv[2]);
    if (strcmp(how, "high") == 0)
        reuse_high(argv[2]);
    for (int fd = FIRST; strcmp(how, "closed") == 0 && fd <= LAST; fd++)
        (void)close(fd);
    run_snippet(&w, "vector_add");
    snippets_close(&w);
    return 0;
}
