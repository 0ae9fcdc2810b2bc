#include "memory/budget.h"

#include "base/size.h"
#include "memory/inside.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The device's memory gives a larger share: the program gets it back when it runs short. */
#define DEFAULT_DEVICE_PERCENT 25
#define DEFAULT_HOST_PERCENT 10
/* Page-locked host memory taken at the most unless the user names a size: making it takes a second
 * for a few gigabytes, and each copy there as long as the bus takes. */
#define MOST_ON_HOST ((uint64_t)4 << 30)
/* Different texts kept. */
#define MOST_REASONS 32

/* The user's; one of them is 0 then. */
static uint64_t limit;
static unsigned percent;

bool gp_budget_set(const char *text)
{
    return gp_size_read(text, &limit, &percent);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct gp_room memory_budget(uint64_t free_on_device, uint64_t free_on_host)
{
    uint64_t spare = free_on_device > GP_DEVICE_RESERVE ? free_on_device - GP_DEVICE_RESERVE : 0;
    struct gp_room room;
    if (limit) {
        room.device = least(limit, spare);
        room.host = least(limit - room.device, free_on_host / 2);
    } else {
        unsigned of_device = percent ? percent : DEFAULT_DEVICE_PERCENT;
        unsigned of_host = percent ? percent : DEFAULT_HOST_PERCENT;
        room.device = least(free_on_device / 100 * of_device, spare);
        room.host = least(free_on_host / 100 * of_host, MOST_ON_HOST);
    }
    return room;
}

static void write_size(char *text, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    unsigned unit = 0;
    double value = (double)bytes;
    while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1000;
        unit++;
    }
    snprintf(text, size, "%.*f %s", unit && value < 9.95 ? 1 : 0, value, units[unit]);
}

struct gp_reason memory_budget_exceeded(uint64_t needed, uint64_t allowed)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *reasons[MOST_REASONS];
    static unsigned count;
    struct gp_reason reason = GP_REASON(OVER_LIMIT);
    char text[128], its[32], ours[32];
    write_size(its, sizeof(its), needed);
    write_size(ours, sizeof(ours), allowed);
    snprintf(text, sizeof(text), "the launch's memory (%s) is more than GPUPROF_MEMORY allows (%s)",
             its, ours);
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < count && strcmp(reasons[i], text) != 0)
        i++;
    if (i == count && count < MOST_REASONS) {
        reasons[i] = strdup(text);
        count += reasons[i] != NULL;
    }
    if (i < count)
        reason.text = reasons[i];
    pthread_mutex_unlock(&lock);
    return reason;
}
