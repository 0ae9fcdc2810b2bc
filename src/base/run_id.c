#include "base/run_id.h"

#include "base/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define VARIABLE "GPUPROF_RUN"

/* Nanoseconds since 1970 when the run began, a dash, a random number: "18a3f2c41b2d7e00-5f3a9c1d".
 */
#define TIME_DIGITS 16
#define LENGTH (TIME_DIGITS + 1 + 8)

/* Generations of ancestors whose environments are searched. */
#define MOST_GENERATIONS 16

/* Empty: none is known. Written once, before there is more than one thread that reads it. */
static char known[LENGTH + 1];

static bool is_id(const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    return length == LENGTH && strspn(text, digits) == TIME_DIGITS && text[TIME_DIGITS] == '-' &&
           strspn(text + TIME_DIGITS + 1, digits) >= LENGTH - TIME_DIGITS - 1;
}

static bool keep(const char *text, size_t length)
{
    if (!is_id(text, length))
        return false;
    memcpy(known, text, length);
    return true;
}

/* ---- ancestors ------------------------------------------------------------------------------- */

static void read_file(const char *path, struct gp_text *text)
{
    char part[4096];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, part, sizeof(part))) > 0)
        gp_text_add_bytes(text, part, (size_t)n);
    if (fd >= 0)
        close(fd);
}

/* 0 where it is not known. */
static long parent_of(long process)
{
    char path[64];
    struct gp_text text = {0};
    long parent = 0;
    snprintf(path, sizeof(path), "/proc/%ld/stat", process);
    read_file(path, &text);
    /* "PID (NAME) STATE PARENT": the name may have anything in it. */
    const char *behind_name = strrchr(gp_text_string(&text), ')');
    if (!behind_name || sscanf(behind_name, ") %*c %ld", &parent) != 1)
        parent = 0;
    gp_text_free(&text);
    return parent;
}

/* The environment that it began with. */
static bool keep_id_of(long process)
{
    static const char name[] = VARIABLE "=";
    char path[64];
    struct gp_text text = {0};
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%ld/environ", process);
    read_file(path, &text);
    for (size_t at = 0; !text.failed && !found && at < text.length;
         at += strlen(text.data + at) + 1)
        found = strncmp(text.data + at, name, sizeof(name) - 1) == 0 &&
                keep(text.data + at + sizeof(name) - 1, strlen(text.data + at) - sizeof(name) + 1);
    gp_text_free(&text);
    return found;
}

/* A program may start others with an environment that it makes for them. */
static void ask_ancestors(void)
{
    long process = getppid();
    for (int i = 0; i < MOST_GENERATIONS && process > 1 && !keep_id_of(process); i++)
        process = parent_of(process);
}

/* ---- */

const char *gp_run_id(void)
{
    const char *inherited = known[0] ? NULL : secure_getenv(VARIABLE);
    if (inherited)
        keep(inherited, strlen(inherited));
    if (!known[0])
        ask_ancestors();
    return known[0] ? known : NULL;
}

static uint32_t random_number(const struct timespec *now)
{
    uint32_t number;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number))
        return number;
    return (uint32_t)getpid() ^ (uint32_t)now->tv_nsec << 8; /* at the start of the system */
}

bool gp_run_begin(void)
{
    char id[LENGTH + 1];
    struct timespec now;
    /* The clock that file systems have. */
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const uint64_t time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    snprintf(id, sizeof(id), "%016" PRIx64 "-%08" PRIx32, time, random_number(&now));
    memcpy(known, id, sizeof(known));
    return setenv(VARIABLE, id, 1) == 0;
}

bool gp_run_had_begun(const char *id, struct timespec time)
{
    const uint64_t began = strtoull(id, NULL, 16);
    return began <= (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
