#include "report/filter.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "base/kernel_filter.h"
#include "base/launch_choice.h"
#include "base/nearest.h"
#include "base/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels among which one with a similar name is searched. */
#define MOST_NEAREST 256

/* A kernel with a name that was matched. */
struct named {
    UT_hash_handle hh;
    bool matches;
    uint64_t launches; /* that were asked for */
    char name[];
};

struct gp_filter {
    struct gp_kernel_filter kernels;
    struct gp_regex *regex; /* NULL: every name */
    uint64_t devices;
    struct gp_launch_choice launches;
    uint64_t seen;    /* launches that all else speaks for */
    uint64_t asked;   /* launches that were asked for */
    uint64_t counted; /* launches of counts that were */
    bool taken;       /* some was */
    struct named *names;
};

static bool read_whole(const char *option, const char *text, uint64_t *number, char *why,
                       size_t why_size)
{
    if (!text || gp_whole_parse(text, number))
        return true;
    snprintf(why, why_size, "%s: '%s' is no number of launches", option, text);
    return false;
}

static bool read_kernels(struct gp_filter *f, const char *text, char *why, size_t why_size)
{
    char reason[256];
    if (!text)
        return true;
    if (!gp_kernel_filter_parse(text, &f->kernels, reason, sizeof(reason))) {
        snprintf(why, why_size, "--kernels: %s", reason);
        return false;
    }
    if (f->kernels.context != GP_ANY || f->kernels.stream != GP_ANY) {
        snprintf(why, why_size,
                 "--kernels: '%s': launches of a profile are chosen by name and "
                 "number, not by context or stream",
                 text);
        return false;
    }
    if (*f->kernels.name)
        f->regex = gp_regex_new(f->kernels.name, reason, sizeof(reason));
    return true;
}

struct gp_filter *gp_filter_new(const char *kernels, const char *devices, const char *skip,
                                const char *count, char *why, size_t why_size)
{
    struct gp_filter *f = calloc(1, sizeof(*f));
    if (!f) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    f->kernels.context = f->kernels.stream = f->kernels.invocation = GP_ANY;
    f->devices = f->launches.count = UINT64_MAX;
    bool good = read_whole("--launch-skip", skip, &f->launches.skip, why, why_size) &&
                read_whole("--launch-count", count, &f->launches.count, why, why_size) &&
                read_kernels(f, kernels, why, why_size);
    if (good && devices && !gp_devices_parse(devices, &f->devices)) {
        snprintf(why, why_size, "--devices: '%s' is no list; " GP_DEVICES_SYNTAX, devices);
        good = false;
    }
    if (good)
        return f;
    gp_filter_free(f);
    return NULL;
}

void gp_filter_free(struct gp_filter *f)
{
    struct named *n, *next;
    if (!f)
        return;
    HASH_ITER(hh, f->names, n, next)
    {
        HASH_DEL(f->names, n);
        free(n);
    }
    gp_regex_free(f->regex);
    gp_kernel_filter_free(&f->kernels);
    free(f);
}

static bool matches(const struct gp_filter *f, const char *kernel)
{
    bool too_hard = false;
    if (!f->regex || gp_regex_matches(f->regex, kernel, &too_hard))
        return true;
    char *demangled = gp_demangle(kernel, GP_NAME_FULL);
    bool answer = demangled && gp_regex_matches(f->regex, demangled, &too_hard);
    free(demangled);
    return answer;
}

/* NULL when out of memory. */
static struct named *find(struct gp_filter *f, const char *kernel)
{
    size_t length = strlen(kernel);
    struct named *n = NULL;
    HASH_FIND(hh, f->names, kernel, length, n);
    if (n || !(n = calloc(1, sizeof(*n) + length + 1)))
        return n;
    memcpy(n->name, kernel, length);
    n->matches = matches(f, kernel);
    HASH_ADD_KEYPTR(hh, f->names, n->name, length, n);
    if (n->hh.tbl)
        return n;
    free(n);
    return NULL;
}

static bool has_device(const struct gp_filter *f, int device)
{
    return device < 0 || device >= 64 || (f->devices >> device & 1);
}

static bool takes(struct gp_filter *f, const struct gp_record *launch)
{
    if (!has_device(f, launch->device))
        return false;
    if (f->kernels.name) {
        struct named *n = find(f, launch->kernel);
        if (!n || !n->matches)
            return false;
        n->launches++;
        if (f->kernels.invocation != GP_ANY && f->kernels.invocation != n->launches)
            return false;
    }
    uint64_t before = f->seen++;
    return before >= f->launches.skip && before - f->launches.skip < f->launches.count;
}

bool gp_filter_takes(struct gp_filter *f, const struct gp_record *launch)
{
    bool taken = takes(f, launch);
    f->asked++;
    f->taken |= taken;
    return taken;
}

bool gp_filter_is_by_number(const struct gp_filter *f)
{
    return f->kernels.invocation != GP_ANY || f->launches.skip > 0 ||
           f->launches.count != UINT64_MAX;
}

bool gp_filter_takes_all(const struct gp_filter *f)
{
    return !f->kernels.name && f->devices == UINT64_MAX && !gp_filter_is_by_number(f);
}

bool gp_filter_counts(struct gp_filter *f, const struct gp_count *count)
{
    f->counted += count->reason.cause ? 0 : count->launches;
    if (gp_filter_is_by_number(f) || !has_device(f, count->device))
        return false;
    struct named *n = f->kernels.name ? find(f, count->kernel) : NULL;
    bool counts = !f->kernels.name || (n && n->matches);
    f->taken |= counts;
    return counts;
}

/* ---- where nothing was taken ---- */

#define MOST_NAMED 3

struct names {
    char *brief[MOST_NEAREST];
    size_t count;
};

static const char *name_at(const void *user, size_t i)
{
    return ((const struct names *)user)->brief[i];
}

/* The kernel that was perhaps meant; else the first ones. */
static void add_names(const struct gp_filter *f, struct gp_text *out)
{
    struct names names = {.count = 0};
    for (const struct named *n = f->names; n && names.count < MOST_NEAREST; n = n->hh.next) {
        char *brief = gp_demangle(n->name, GP_NAME_BRIEF);
        if (brief)
            names.brief[names.count++] = brief;
    }
    const char *nearest = gp_nearest(f->kernels.name, names.count, name_at, &names);
    size_t shown = names.count < MOST_NAMED ? names.count : MOST_NAMED;
    if (nearest)
        gp_text_addf(out, "; did you mean %s?", nearest);
    for (size_t i = 0; !nearest && i < shown; i++)
        gp_text_addf(out, "%s%s", i ? ", " : ": ", names.brief[i]);
    if (!nearest && shown < HASH_COUNT(f->names))
        gp_text_add(out, ", ...");
    for (size_t i = 0; i < names.count; i++)
        free(names.brief[i]);
}

static bool some_name_matches(const struct gp_filter *f)
{
    const struct named *n = f->names;
    while (n && !n->matches)
        n = n->hh.next;
    return n != NULL;
}

void gp_filter_explain(const struct gp_filter *f, struct gp_text *out)
{
    uint64_t launches = f->asked > f->counted ? f->asked : f->counted;
    if (f->taken || launches == 0)
        return;
    size_t kernels = HASH_COUNT(f->names);
    if (f->kernels.name && kernels > 0 && !some_name_matches(f)) {
        gp_text_addf(out, "--kernels '%s' matches none of %zu kernel%s", f->kernels.name, kernels,
                     kernels == 1 ? "" : "s");
        add_names(f, out);
    } else {
        gp_text_addf(out,
                     "none of %llu launch%s is on these GPUs and has such a number (--devices, "
                     "--kernels, --launch-skip, --launch-count)",
                     (unsigned long long)launches, launches == 1 ? "" : "es");
    }
}
