/* Databases: opened, listed, read as sides, added to. */
#include "check/baseline.h"
#include "history/store.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[128];
static struct gp_side run_side;

static const char run_text[] =
    "{\"type\": \"gpuprof baseline\", \"format\": 1, \"gpuprof\": \"0.1.0\", \"gpu\": {\"name\": "
    "\"G\", \"chip\": \"\", \"cc_major\": 9, \"cc_minor\": 0, \"event_counters\": 0, "
    "\"driver_version\": 1, \"cupti_version\": 1}, \"runs\": 1, \"kernels\": [{\"name\": \"k\", "
    "\"grid\": [8, 1, 1], \"block\": [32, 1, 1], \"shared_dynamic\": 0, \"shared_static\": 0, "
    "\"registers\": 16, \"local_bytes\": 0, \"launches\": 4, \"runs\": 1, \"metrics\": "
    "{\"duration\": 1e-6, \"gld_efficiency\": 50}}]}";

static void clean_up(void)
{
    char name[160];
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void prepare(void)
{
    char why[256];
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof(path), "%s/gpuprof-fuzz-%d.db", folder, (int)getpid());
    if (!gp_baseline_parse("run", run_text, sizeof(run_text) - 1, &run_side, why, sizeof(why)))
        abort();
    atexit(clean_up);
}

static void use(struct gp_history *h)
{
    const struct gp_history_filter any = {.branch = NULL};
    const struct gp_history_run run = {.commit = "c", .branch = "b", .host = "h", .time = "t"};
    struct gp_side side = {0};
    struct gp_text out = {0};
    char why[600] = "";
    if (!gp_history_side(h, &any, 0, 20, &side, why, sizeof(why)) && !why[0])
        abort();
    gp_history_list(h, &any, 20, &out, why, sizeof(why));
    gp_history_list_metric(h, &any, "*", "duration", "s", 20, &out, why, sizeof(why));
    why[0] = '\0';
    if (!gp_history_add(h, &run, &run_side, why, sizeof(why)) && !why[0])
        abort();
    gp_side_free(&side);
    gp_text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!path[0])
        prepare();
    clean_up();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
    char why[600] = "";
    struct gp_history *h = gp_history_open(path, true, why, sizeof(why));
    if (h)
        use(h);
    else if (!why[0])
        abort();
    gp_history_close(h);
    return 0;
}
