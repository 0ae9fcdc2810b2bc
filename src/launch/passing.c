/* The host's time that launches take which pass unmeasured. There may be millions, so few of them
 * are timed, each on its whole way but for the driver's, and stand for those since the last one.
 *
 * They are timed where the program makes them: its own work has taken our code and data out of the
 * caches by then, so a way that is gone twice in a row is several times as quick. From any thread.
 */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"

/* One launch of so many is timed. A prime: launches come in rounds, and each of a round is to have
 * its turn. */
#define EACH_TIMED 61
/* One that took more times longer than usual was interrupted. */
#define MOST_TIMES 4
/* The mean moves to a new time by one part of so many. */
#define PARTS 8
/* Readings of the clock that lie between the first and the last one, with one of these. Launches
 * that are not timed read none. */
#define READINGS 3
/* The nanoseconds that the first one of a thread takes at most. */
#define FIRST_NS 2000

/* Initial-exec: a hook allocates nothing. */
static __thread struct {
    unsigned passed; /* since the last one that was timed */
    uint64_t began;  /* 0: this one is not timed */
    uint64_t driver; /* nanoseconds of it that were the driver's */
    uint64_t usual;  /* nanoseconds of one */
} own __attribute__((tls_model("initial-exec")));

void passing_begins(void)
{
    own.driver = 0;
    own.began = own.passed + 1 >= EACH_TIMED ? gp_clock_ns() : 0;
}

bool passing_is_timed(void)
{
    return own.began > 0;
}

void passing_driver_took(uint64_t ns)
{
    own.driver += ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void passing_ends(void)
{
    own.passed++;
    if (!own.began)
        return;
    const uint64_t all = gp_clock_ns() - own.began;
    const uint64_t others = own.driver + READINGS * gp_clock_cost_ns();
    const uint64_t ns = all > others ? all - others : 0;
    if (own.usual > 0)
        own.usual = ((PARTS - 1) * own.usual + least(ns, MOST_TIMES * own.usual)) / PARTS;
    else
        own.usual = least(ns, FIRST_NS);
    gp_added_beside_ns(own.usual * own.passed);
    own.passed = 0;
}
