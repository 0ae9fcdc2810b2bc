#include "driver/faults.h"

#include "model/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Finds the next word called name from *at on; its value (or an empty one) and length. */
static bool next_fault(const char **at, const char *name, const char **value, size_t *length)
{
    size_t want = strlen(name);

    while (**at) {
        const char *word = *at;
        size_t whole = strcspn(word, ",");
        *at = word + whole + (word[whole] == ',');
        if (whole < want || strncmp(word, name, want) != 0)
            continue;
        if (whole != want && word[want] != '=')
            continue;
        *value = word + want + (whole != want);
        *length = whole - want - (whole != want);
        return true;
    }
    return false;
}

static const char *all_faults(void)
{
    const char *faults = getenv("GPUSIM_FAULTS");

    return faults ? faults : "";
}

bool gpusim_fault(const char *name)
{
    const char *at = all_faults();
    const char *value;
    size_t length;

    return next_fault(&at, name, &value, &length);
}

bool gpusim_fault_is(const char *name, const char *wanted)
{
    const char *at = all_faults();
    const char *value;
    size_t length;

    while (next_fault(&at, name, &value, &length))
        if (length == strlen(wanted) && strncmp(value, wanted, length) == 0)
            return true;
    return false;
}

double gpusim_fault_number(const char *name)
{
    const char *at = all_faults();
    const char *value;
    size_t length;

    return next_fault(&at, name, &value, &length) ? strtod(value, NULL) : 0;
}

/* Is name=N, or name=M+ with M up to N, there? */
static bool counted_fault(const char *name, atomic_ulong *count)
{
    unsigned long now = atomic_fetch_add(count, 1) + 1;
    const char *at = all_faults();
    const char *value;
    size_t length;

    while (next_fault(&at, name, &value, &length)) {
        char *end;
        unsigned long n = strtoul(value, &end, 10);
        if (now == n || (*end == '+' && now > n))
            return true;
    }
    return false;
}

bool gpusim_fault_allocation(void)
{
    static atomic_ulong allocations;

    return counted_fault("alloc", &allocations);
}

double gpusim_fault_launch_ms(void)
{
    static atomic_ulong launches, longer;

    return (counted_fault("heldup", &launches) ? 0.008 : 0) +
           (counted_fault("heldlong", &longer) ? 0.1 : 0);
}

bool gpusim_fault_run_traps(void)
{
    static atomic_ulong runs;

    return counted_fault("trapped", &runs);
}

bool gpusim_fault_run_is_stuck(void)
{
    static atomic_ulong runs;

    return counted_fault("stuck", &runs);
}

bool gpusim_fault_event_held_up(void)
{
    static atomic_ulong events;

    return counted_fault("heldevent", &events);
}

bool gpusim_fault_mark_waits(void)
{
    static atomic_uint marks;

    return gpusim_fault("capturefirst") && atomic_fetch_add(&marks, 1) < 10;
}

void gpusim_sleep_ms(double ms)
{
    const char *path = getenv("GPUSIM_SLEEPS");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (file) {
        (void)fprintf(file, "%g\n", ms);
        (void)fclose(file);
    }
    const long whole = (long)(ms / 1e3);
    (void)nanosleep(&(struct timespec){whole, (long)((ms - 1e3 * (double)whole) * 1e6)}, NULL);
    gpusim_work_ms += ms;
}
