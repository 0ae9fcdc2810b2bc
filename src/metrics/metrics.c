#include "metrics/metrics.h"

#include "base/hash.h"
#include "base/nearest.h"
#include "metrics/definitions.h"
#include "metrics/formula.h"
#include "metrics/shipped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (1 << 20)
#define LONGEST_UNIT 12
#define MOST_METRICS 2000 /* names are looked up one by one; a program waits for it */
#define MOST_NESTING 16   /* of metrics that use metrics */
#define MOST_STEPS 100000 /* operands looked up for one value */

/* One section: a formula and the devices it is for. */
struct variant {
    struct gp_condition when;
    struct gp_node *formula;
    struct gp_node *needs; /* where this is 0 the metric does not apply; NULL: it always does */
    char *when_text;       /* NULL: all devices */
    char *source;          /* of this formula; NULL: the metric's */
    int line;
    struct variant *next;
};

struct entry {
    struct gp_metric metric; /* first: a struct gp_metric * is a struct entry * */
    char *strings;           /* what metric's strings point into */
    char *file;
    int line;
    struct variant *variants;
    struct entry *replaced; /* the shipped definition that this one stands in for */
    unsigned height;        /* metrics below each other, this one included; 0: not yet known */
};

struct counter_name {
    UT_hash_handle hh;
    char name[];
};

struct gp_metrics {
    struct entry **entries;
    size_t count, capacity;
    struct entry **selected;
    size_t selected_count;
    struct counter_name *counters; /* every name once, so that pointers can be compared */
};

static const struct entry *entry_of(const struct gp_metric *metric)
{
    return (const struct entry *)metric;
}

/* ---- building ---- */

static void free_variant(struct variant *v)
{
    if (!v)
        return;
    gp_formula_free(v->formula);
    gp_formula_free(v->needs);
    free(v->when_text);
    free(v->source);
    free(v);
}

/* Visits the operands of everything that is computed for a variant. */
static int walk_variant(const struct variant *v, int (*visit)(void *, struct gp_node *), void *user)
{
    int answer = gp_formula_walk(v->formula, visit, user);
    return answer == 0 && v->needs ? gp_formula_walk(v->needs, visit, user) : answer;
}

static void free_entry(struct entry *e)
{
    while (e) {
        struct entry *replaced = e->replaced;
        while (e->variants) {
            struct variant *v = e->variants;
            e->variants = v->next;
            free_variant(v);
        }
        free(e->strings);
        free(e->file);
        free(e);
        e = replaced;
    }
}

static struct entry **slot_of(const struct gp_metrics *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->entries[i]->metric.name, name) == 0)
            return &m->entries[i];
    return NULL;
}

static const char *metric_name(const void *user, size_t i)
{
    const struct gp_metrics *m = user;
    return m->entries[i]->metric.name;
}

static void add_nearest(const struct gp_metrics *m, const char *name, struct gp_text *out)
{
    const char *nearest = gp_nearest(name, m->count, metric_name, m);
    if (nearest)
        gp_text_addf(out, "; did you mean %s?", nearest);
}

static int intern_counter(void *user, struct gp_node *operand)
{
    struct gp_metrics *m = user;
    if (operand->kind != GP_NODE_COUNTER)
        return 0;
    size_t length = strlen(operand->name);
    struct counter_name *c = NULL;
    HASH_FIND(hh, m->counters, operand->name, length, c);
    if (!c) {
        c = calloc(1, sizeof(*c) + length + 1);
        if (!c)
            return -1;
        memcpy(c->name, operand->name, length);
        HASH_ADD_KEYPTR(hh, m->counters, c->name, length, c);
        if (!c->hh.tbl) {
            free(c);
            return -1;
        }
    }
    operand->bound = c->name;
    return 0;
}

struct loading {
    struct gp_metrics *m;
    struct gp_text *problems;
    int user_defined;
};

static void complain(const struct loading *l, const struct gp_definition *d, int line,
                     const char *what)
{
    gp_text_addf(l->problems, "%s:%d: metric %s: %s\n", d->file, line ? line : d->line, d->name,
                 what);
}

/* Parses the value of one key; complains and returns NULL when that fails. */
static struct gp_node *parse_formula(const struct loading *l, const struct gp_definition *d,
                                     enum gp_key key)
{
    char why[GP_WHY_SIZE] = "", what[GP_WHY_SIZE + 16];
    struct gp_node *node = gp_formula_parse(gp_text_string(&d->keys[key].text), why, sizeof(why));
    if (node && gp_formula_walk(node, intern_counter, l->m) == 0)
        return node;
    if (node)
        snprintf(what, sizeof(what), "out of memory");
    else
        snprintf(what, sizeof(what), "%s, %s", key == GP_KEY_NEEDS ? "needs" : "formula", why);
    complain(l, d, d->keys[key].line, what);
    gp_formula_free(node);
    return NULL;
}

static struct variant *new_variant(const struct loading *l, const struct gp_definition *d)
{
    char why[GP_WHY_SIZE] = "out of memory";
    int line = d->keys[GP_KEY_FORMULA].line;
    if (!line) {
        complain(l, d, d->line, "there is no 'formula = ...'");
        return NULL;
    }
    struct variant *v = calloc(1, sizeof(*v));
    if (!v) {
        complain(l, d, line, why);
        return NULL;
    }
    v->line = d->line;
    if (d->keys[GP_KEY_WHEN].line) {
        const char *when = gp_text_string(&d->keys[GP_KEY_WHEN].text);
        v->when_text = strdup(when);
        if (!v->when_text || gp_condition_parse(when, &v->when, why, sizeof(why)) != 0) {
            complain(l, d, d->keys[GP_KEY_WHEN].line, why);
            free_variant(v);
            return NULL;
        }
    }
    if (d->keys[GP_KEY_SOURCE].line) {
        v->source = strdup(gp_text_string(&d->keys[GP_KEY_SOURCE].text));
        if (!v->source) {
            complain(l, d, d->keys[GP_KEY_SOURCE].line, "out of memory");
            free_variant(v);
            return NULL;
        }
    }
    v->formula = parse_formula(l, d, GP_KEY_FORMULA);
    int needs_something = d->keys[GP_KEY_NEEDS].line != 0;
    if (v->formula && needs_something)
        v->needs = parse_formula(l, d, GP_KEY_NEEDS);
    if (!v->formula || (needs_something && !v->needs)) {
        free_variant(v);
        return NULL;
    }
    return v;
}

/* Sets the metric's strings. What a user's definition leaves out is as it is in the one it
 * replaces. */
static int describe(struct entry *e, const struct gp_definition *d, const struct gp_metric *before)
{
    const char *texts[5] = {d->name};
    const char *const inherited[5] = {
        NULL,
        before ? before->unit : "",
        before ? before->metric_class : "",
        before ? before->description : "",
        before ? before->source : "",
    };
    static const enum gp_key keys[5] = {0, GP_KEY_UNIT, GP_KEY_CLASS, GP_KEY_DESCRIPTION,
                                        GP_KEY_SOURCE};
    size_t size = strlen(d->name) + 1;
    for (int i = 1; i < 5; i++) {
        int given = d->keys[keys[i]].line != 0;
        texts[i] = given ? gp_text_string(&d->keys[keys[i]].text) : inherited[i];
        size += strlen(texts[i]) + 1;
    }
    char *p = e->strings = malloc(size);
    if (!p)
        return -1;
    const char **const fields[5] = {&e->metric.name, &e->metric.unit, &e->metric.metric_class,
                                    &e->metric.description, &e->metric.source};
    for (int i = 0; i < 5; i++) {
        *fields[i] = p;
        p = stpcpy(p, texts[i]) + 1;
    }
    return 0;
}

static struct entry *new_entry(const struct loading *l, const struct gp_definition *d,
                               const struct gp_metric *before)
{
    struct entry *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->file = strdup(d->file);
    if (!e->file || describe(e, d, before) != 0) {
        free_entry(e);
        return NULL;
    }
    e->line = d->line;
    e->metric.user_defined = l->user_defined;
    e->metric.in_default_set = before ? before->in_default_set : 0;
    return e;
}

static int append_entry(struct gp_metrics *m, struct entry *e)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct entry **grown = realloc(m->entries, capacity * sizeof(struct entry *));
        if (!grown)
            return -1;
        m->entries = grown;
        m->capacity = capacity;
    }
    m->entries[m->count++] = e;
    return 0;
}

/* A second section of the same name in the same file: the same metric on other devices. */
static int add_variant(const struct loading *l, struct entry *e, const struct gp_definition *d,
                       struct variant *v)
{
    char what[GP_WHY_SIZE];
    struct variant **end = &e->variants;
    for (; *end; end = &(*end)->next) {
        if (v->when.count == 0 && (*end)->when.count == 0) {
            snprintf(what, sizeof(what),
                     "line %d defines it already; a second formula needs 'when = cc ...'",
                     (*end)->line);
            complain(l, d, d->line, what);
            return -1;
        }
    }
    const int unit_line = d->keys[GP_KEY_UNIT].line;
    if (unit_line && strcmp(gp_text_string(&d->keys[GP_KEY_UNIT].text), e->metric.unit) != 0) {
        snprintf(what, sizeof(what), "its unit is '%s' since line %d", e->metric.unit, e->line);
        complain(l, d, unit_line, what);
        return -1;
    }
    *end = v;
    return 0;
}

static int read_default(const struct loading *l, const struct gp_definition *d, int *answer)
{
    const char *text = gp_text_string(&d->keys[GP_KEY_DEFAULT].text);
    if (!d->keys[GP_KEY_DEFAULT].line)
        return 0;
    *answer = strcmp(text, "yes") == 0;
    if (*answer || strcmp(text, "no") == 0)
        return 0;
    complain(l, d, d->keys[GP_KEY_DEFAULT].line, "'default' is yes or no");
    return -1;
}

static void take_definition(void *user, const struct gp_definition *d)
{
    const struct loading *l = user;
    struct variant *v = new_variant(l, d);
    if (!v)
        return;
    if (d->keys[GP_KEY_UNIT].text.length > LONGEST_UNIT) {
        char what[GP_WHY_SIZE];
        snprintf(what, sizeof(what), "a unit has at most %d letters", LONGEST_UNIT);
        complain(l, d, d->keys[GP_KEY_UNIT].line, what);
        free_variant(v);
        return;
    }
    struct entry **slot = slot_of(l->m, d->name);
    if (!slot && l->m->count >= MOST_METRICS) {
        char what[GP_WHY_SIZE];
        snprintf(what, sizeof(what), "left out, there are %d already", MOST_METRICS);
        complain(l, d, d->line, what);
        free_variant(v);
        return;
    }
    int in_default_set = slot ? (*slot)->metric.in_default_set : 0;
    if (read_default(l, d, &in_default_set) != 0) {
        free_variant(v);
        return;
    }
    if (slot && strcmp((*slot)->file, d->file) == 0) {
        if (add_variant(l, *slot, d, v) != 0)
            free_variant(v);
        else
            (*slot)->metric.in_default_set = in_default_set;
        return;
    }
    struct entry *e = new_entry(l, d, slot ? &(*slot)->metric : NULL);
    if (!e || (!slot && append_entry(l->m, e) != 0)) {
        complain(l, d, d->line, "out of memory");
        free_variant(v);
        free_entry(e);
        return;
    }
    e->variants = v;
    e->metric.in_default_set = in_default_set;
    if (slot) {
        e->replaced = *slot;
        *slot = e;
    }
}

/* ---- resolving names ---- */

/* Drops a definition; the one it replaced comes back. */
static void drop_entry(struct gp_metrics *m, struct entry **slot)
{
    struct entry *e = *slot;
    if (e->replaced) {
        *slot = e->replaced;
        e->replaced = NULL;
    } else {
        m->count--;
        memmove(slot, slot + 1, (size_t)(m->entries + m->count - slot) * sizeof(struct entry *));
    }
    free_entry(e);
}

static int bind_metric(void *user, struct gp_node *operand)
{
    struct gp_metrics *m = user;
    if (operand->kind != GP_NODE_METRIC)
        return 0;
    struct entry **slot = slot_of(m, operand->name);
    operand->bound = slot ? *slot : NULL;
    return slot ? 0 : -1;
}

static int find_unbound(void *user, struct gp_node *operand)
{
    const struct gp_node **found = user;
    if (operand->kind != GP_NODE_METRIC || operand->bound)
        return 0;
    *found = operand;
    return -1;
}

/* Drops a definition when it names a metric which is not there. Returns whether it did. */
static int drop_if_dangling(struct gp_metrics *m, size_t i, struct gp_text *problems)
{
    for (struct variant *v = m->entries[i]->variants; v; v = v->next) {
        if (walk_variant(v, bind_metric, m) == 0)
            continue;
        const struct gp_node *unbound = NULL;
        walk_variant(v, find_unbound, &unbound);
        gp_text_addf(problems, "%s:%d: metric %s: there is no metric '%s'", m->entries[i]->file,
                     v->line, m->entries[i]->metric.name, unbound ? unbound->name : "?");
        if (unbound)
            add_nearest(m, unbound->name, problems);
        gp_text_add(problems, " (a counter's name has '__' in it)\n");
        drop_entry(m, &m->entries[i]);
        return 1;
    }
    return 0;
}

/* Drops definitions that name a metric which is not there, in both directions: one that is dropped
 * leaves others without theirs, most often its neighbours. Returns whether any was. */
static int drop_dangling(struct gp_metrics *m, struct gp_text *problems)
{
    int dropped = 0;
    for (size_t i = 0; i < m->count; i++)
        while (i < m->count && drop_if_dangling(m, i, problems))
            dropped = 1;
    for (size_t i = m->count; i-- > 0;)
        while (i < m->count && drop_if_dangling(m, i, problems))
            dropped = 1;
    return dropped;
}

struct cycle_search {
    struct entry *path[MOST_NESTING + 1];
    size_t depth;
    size_t begin;     /* of the cycle in the path */
    unsigned highest; /* of the metrics seen below the last one of the path */
    int too_deep;
};

static int search_cycle(struct cycle_search *s, struct entry *e);

static int search_below(void *user, struct gp_node *operand)
{
    if (operand->kind != GP_NODE_METRIC)
        return 0;
    return search_cycle(user, (struct entry *)operand->bound);
}

/* Returns 1 with the path that came back to itself, or went too deep. */
static int search_cycle(struct cycle_search *s, struct entry *e)
{
    if (e->height == 0) {
        for (size_t i = 0; i < s->depth; i++) {
            if (s->path[i] == e) {
                s->begin = i;
                return 1;
            }
        }
        s->path[s->depth++] = e;
        unsigned highest_beside = s->highest;
        s->highest = 0;
        s->too_deep = s->depth > MOST_NESTING;
        for (struct variant *v = e->variants; v && !s->too_deep; v = v->next)
            if (walk_variant(v, search_below, s) != 0)
                return 1;
        s->too_deep |= s->highest >= MOST_NESTING;
        if (s->too_deep) {
            s->begin = s->depth - 1;
            return 1;
        }
        e->height = s->highest + 1;
        s->highest = highest_beside;
        s->depth--;
    }
    if (e->height > s->highest)
        s->highest = e->height;
    return 0;
}

/* Drops one definition that leads back to itself. Returns whether it did. The user's own is dropped
 * before a shipped one. */
static int drop_cyclic(struct gp_metrics *m, struct gp_text *problems)
{
    for (size_t i = 0; i < m->count; i++)
        m->entries[i]->height = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct cycle_search s = {.depth = 0};
        if (!search_cycle(&s, m->entries[i]))
            continue;
        struct entry *culprit = s.path[s.begin];
        for (size_t k = s.begin; k < s.depth; k++)
            if (s.path[k]->metric.user_defined)
                culprit = s.path[k];
        gp_text_addf(problems, "%s:%d: metric %s: ", culprit->file, culprit->line,
                     culprit->metric.name);
        if (s.too_deep) {
            gp_text_addf(problems, "more than %d metrics deep\n", MOST_NESTING);
        } else {
            gp_text_add(problems, "its formula leads back to itself: ");
            for (size_t k = s.begin; k < s.depth; k++)
                gp_text_addf(problems, "%s -> ", s.path[k]->metric.name);
            gp_text_addf(problems, "%s\n", s.path[s.begin]->metric.name);
        }
        drop_entry(m, slot_of(m, culprit->metric.name));
        return 1;
    }
    return 0;
}

static void resolve(struct gp_metrics *m, struct gp_text *problems)
{
    do {
        while (drop_dangling(m, problems))
            ;
    } while (drop_cyclic(m, problems));
}

/* ---- files ---- */

static void load_text(struct loading *l, const char *file, const char *text, size_t length)
{
    gp_definitions_read(file, text, length, take_definition, l, l->problems);
}

/* The shipped files lie one behind the other, each under a line "; file NAME". */
static void load_shipped(struct loading *l, const char *text, const char *end)
{
    static const char mark[] = "; file ";
    const size_t mark_length = sizeof(mark) - 1;
    char file[128] = "shipped definitions";
    while (text < end && (size_t)(end - text) > mark_length &&
           memcmp(text, mark, mark_length) == 0) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return;
        snprintf(file, sizeof(file), "%.*s", (int)(newline - text - (long)mark_length),
                 text + mark_length);
        text = newline + 1;
        const char *next = text;
        while (next < end &&
               !((size_t)(end - next) > mark_length && memcmp(next, mark, mark_length) == 0)) {
            newline = memchr(next, '\n', (size_t)(end - next));
            next = newline ? newline + 1 : end;
        }
        load_text(l, file, text, (size_t)(next - text));
        text = next;
    }
}

static void load_file(struct loading *l, const char *path)
{
    /* Not to wait for the other end of a pipe somebody called x.ini. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) {
        gp_text_addf(l->problems, "%s: %s\n", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (!S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE) {
        gp_text_addf(l->problems, "%s: not a definition file (a text file of at most 1 MiB)\n",
                     path);
        close(fd);
        return;
    }
    struct gp_text text = {0};
    char part[4096];
    ssize_t n;
    while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            gp_text_add_bytes(&text, part, (size_t)n);
    if (n < 0)
        gp_text_addf(l->problems, "%s: %s\n", path, strerror(errno));
    else if (text.failed)
        gp_text_addf(l->problems, "%s: out of memory\n", path);
    else
        load_text(l, path, gp_text_string(&text), text.length);
    gp_text_free(&text);
    close(fd);
}

static int is_definition_file(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 4 && d->d_name[0] != '.' && strcmp(d->d_name + length - 4, ".ini") == 0;
}

static void load_folder(struct loading *l, const char *folder, const char *asked_by)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_definition_file, alphasort);
    if (count < 0) {
        if (asked_by)
            gp_text_addf(l->problems, "%s: %s: %s\n", asked_by, folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%s/%s", folder, names[i]->d_name);
        if (!path.failed)
            load_file(l, path.data);
        gp_text_free(&path);
        free(names[i]);
    }
    free(names);
}

static void load_users_files(struct loading *l)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct gp_text folder = {0};
    if (config && config[0] == '/')
        gp_text_addf(&folder, "%s/gpuprof", config);
    else if (home && home[0] == '/')
        gp_text_addf(&folder, "%s/.config/gpuprof", home);
    if (folder.length > 0 && !folder.failed)
        load_folder(l, folder.data, NULL);

    const char *path = getenv("GPUPROF_METRICS_PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        gp_text_clear(&folder);
        gp_text_add_bytes(&folder, path, length);
        if (length > 0 && !folder.failed)
            load_folder(l, folder.data, "GPUPROF_METRICS_PATH");
        path += length;
        if (*path == ':')
            path++;
    }
    gp_text_free(&folder);
}

struct gp_metrics *gp_metrics_parse(const char *file, const char *text, size_t length,
                                    struct gp_text *problems)
{
    struct gp_metrics *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    struct loading l = {.m = m, .problems = problems, .user_defined = 1};
    load_text(&l, file, text, length);
    resolve(m, problems);
    if (gp_metrics_select(m, NULL, problems) == 0)
        return m;
    gp_metrics_close(m);
    return NULL;
}

struct gp_metrics *gp_metrics_open(struct gp_text *problems)
{
    struct gp_metrics *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    struct loading l = {.m = m, .problems = problems};
    load_shipped(&l, gp_shipped_definitions, gp_shipped_definitions_end);
    l.user_defined = 1;
    load_users_files(&l);
    resolve(m, problems);
    if (gp_metrics_select(m, NULL, problems) == 0)
        return m;
    gp_metrics_close(m);
    return NULL;
}

void gp_metrics_close(struct gp_metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        free_entry(m->entries[i]);
    struct counter_name *c, *next;
    HASH_ITER(hh, m->counters, c, next)
    {
        HASH_DEL(m->counters, c);
        free(c);
    }
    free(m->entries);
    free(m->selected);
    free(m);
}

/* ---- selecting ---- */

size_t gp_metrics_count(const struct gp_metrics *m)
{
    return m->count;
}

const struct gp_metric *gp_metrics_at(const struct gp_metrics *m, size_t i)
{
    return &m->entries[i]->metric;
}

const struct gp_metric *gp_metrics_find(const struct gp_metrics *m, const char *name)
{
    struct entry **slot = slot_of(m, name);
    return slot ? &(*slot)->metric : NULL;
}

size_t gp_metrics_selected_count(const struct gp_metrics *m)
{
    return m->selected_count;
}

const struct gp_metric *gp_metrics_selected(const struct gp_metrics *m, size_t i)
{
    return &m->selected[i]->metric;
}

struct selection {
    struct entry **entries; /* room for every metric */
    size_t count;
};

static void select_entry(struct selection *s, struct entry *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->entries[i] == e)
            return;
    s->entries[s->count++] = e;
}

/* Returns -1 when there is no such metric. */
static int select_name(const struct gp_metrics *m, struct selection *s, const char *name)
{
    int all = strcmp(name, "all") == 0, usual = strcmp(name, "default") == 0;
    if (all || usual) {
        for (size_t i = 0; i < m->count; i++)
            if (all || m->entries[i]->metric.in_default_set)
                select_entry(s, m->entries[i]);
        return 0;
    }
    struct entry **slot = slot_of(m, name);
    if (slot)
        select_entry(s, *slot);
    return slot ? 0 : -1;
}

int gp_metrics_select(struct gp_metrics *m, const char *list, struct gp_text *problems)
{
    struct selection s = {.entries = calloc(m->count + 1, sizeof(struct entry *))};
    struct gp_text name = {0};
    int answer = s.entries ? 0 : -1;
    const char *p = list && *list ? list : "default";
    while (s.entries && *p) {
        p += strspn(p, ", \t\n");
        size_t length = strcspn(p, ", \t\n");
        if (length == 0)
            break;
        gp_text_clear(&name);
        gp_text_add_bytes(&name, p, length);
        p += length;
        if (name.failed) {
            answer = -1;
            break;
        }
        if (select_name(m, &s, name.data) != 0) {
            gp_text_addf(problems, "there is no metric '%s'", name.data);
            add_nearest(m, name.data, problems);
            gp_text_add(problems, "\n");
            answer = -1;
        }
    }
    if (answer == 0 && list && *list && s.count == 0) {
        gp_text_add(problems, "the list of metrics is empty\n");
        answer = -1;
    }
    if (name.failed || !s.entries)
        gp_text_add(problems, "out of memory while selecting metrics\n");
    gp_text_free(&name);
    if (answer != 0) {
        free(s.entries);
        return -1;
    }
    free(m->selected);
    m->selected = s.entries;
    m->selected_count = s.count;
    return 0;
}

/* ---- using ---- */

/* A formula for these devices alone comes before one for all. */
static const struct variant *variant_for(const struct entry *e, const struct gp_device *device)
{
    const struct variant *general = NULL;
    for (const struct variant *v = e->variants; v; v = v->next) {
        if (v->when.count == 0)
            general = v;
        else if (gp_condition_holds(&v->when, device))
            return v;
    }
    return general;
}

static void say_not_defined(const struct entry *e, const struct gp_device *device, char *why,
                            size_t why_size)
{
    struct gp_text conditions = {0};
    for (const struct variant *v = e->variants; v; v = v->next)
        gp_text_addf(&conditions, "%s%s", v == e->variants ? "" : ", or ",
                     v->when_text ? v->when_text : "always");
    snprintf(why, why_size, "%s is not defined for compute capability %d.%d, only when %s",
             e->metric.name, device->cc_major, device->cc_minor, gp_text_string(&conditions));
    gp_text_free(&conditions);
}

struct gathering {
    const struct gp_device *device;
    const char **names;
    size_t count, capacity;
    int depth;
};

static int gather_entry(struct gathering *g, const struct entry *e);

static int gather_operand(void *user, struct gp_node *operand)
{
    struct gathering *g = user;
    if (operand->kind == GP_NODE_METRIC)
        return gather_entry(g, operand->bound);
    if (operand->kind != GP_NODE_COUNTER)
        return 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->names[i] == operand->bound)
            return 0;
    if (g->count < g->capacity)
        g->names[g->count++] = operand->bound;
    return 0;
}

static int gather_entry(struct gathering *g, const struct entry *e)
{
    const struct variant *v = variant_for(e, g->device);
    return v ? walk_variant(v, gather_operand, g) : 0;
}

int gp_metrics_counters(const struct gp_metrics *m, const struct gp_device *device,
                        const char ***names, size_t *count)
{
    size_t capacity = HASH_COUNT(m->counters);
    struct gathering g = {
        .device = device,
        .capacity = capacity,
        .names = calloc(capacity + 1, sizeof(const char *)),
    };
    if (!g.names)
        return -1;
    for (size_t i = 0; i < m->selected_count; i++)
        gather_entry(&g, m->selected[i]);
    *names = g.names;
    *count = g.count;
    return 0;
}

struct evaluation {
    const struct gp_device *device;
    const struct gp_launch *launch;
    unsigned steps;
};

static int counter_value(const struct evaluation *e, const char *name, double *value, char *why,
                         size_t why_size)
{
    const struct gp_counter *counters = e->launch->counters, *found = NULL;
    size_t count = e->launch->counter_count;
    /* Names recorded as gp_metrics_counters gave them are found without comparing letters. */
    for (size_t i = 0; i < count && !found; i++)
        if (counters[i].name == name)
            found = &counters[i];
    for (size_t i = 0; i < count && !found; i++)
        if (strcmp(counters[i].name, name) == 0)
            found = &counters[i];
    const char *reason = "not measured";
    if (found && !found->absent) {
        *value = found->value;
        return 0;
    }
    if (found)
        reason = found->absent;
    else if (e->launch->skipped)
        reason = e->launch->skipped;
    snprintf(why, why_size, "counter %s: %s", name, reason);
    return -1;
}

static int evaluate_entry(struct evaluation *ev, const struct entry *e, double *value, char *why,
                          size_t why_size);

static int operand_value(void *user, const struct gp_node *operand, double *value, char *why,
                         size_t why_size)
{
    struct evaluation *e = user;
    if (++e->steps > MOST_STEPS) {
        snprintf(why, why_size, "the formula takes more than %d steps", MOST_STEPS);
        return -1;
    }
    switch (operand->kind) {
    case GP_NODE_COUNTER:
        return counter_value(e, operand->bound, value, why, why_size);
    case GP_NODE_FACT:
        return operand->fact->get(operand->fact, e->device, e->launch, value, why, why_size);
    default:
        return evaluate_entry(e, operand->bound, value, why, why_size);
    }
}

static int evaluate_entry(struct evaluation *ev, const struct entry *e, double *value, char *why,
                          size_t why_size)
{
    const struct variant *v = variant_for(e, ev->device);
    if (!v) {
        say_not_defined(e, ev->device, why, why_size);
        return -1;
    }
    const struct gp_operands operands = {.user = ev, .value_of = operand_value};
    double needed = 1;
    int answer = gp_formula_evaluate(v->formula, &operands, value, why, why_size);
    /* Also where there is no value: what is needed may be what is divided by. */
    char why_not[GP_WHY_SIZE];
    if (v->needs && gp_formula_evaluate(v->needs, &operands, &needed, why_not, sizeof(why_not))) {
        if (answer == 0)
            snprintf(why, why_size, "%s", why_not);
        return -1;
    }
    if (needed != 0)
        return answer;
    struct gp_text text = {0};
    gp_formula_print(v->needs, &text);
    snprintf(why, why_size, "does not apply: %s is 0", gp_text_string(&text));
    gp_text_free(&text);
    return -1;
}

int gp_metric_evaluate(const struct gp_metrics *m, const struct gp_metric *metric,
                       const struct gp_device *device, const struct gp_launch *launch,
                       double *value, char *why, size_t why_size)
{
    (void)m;
    struct evaluation ev = {.device = device, .launch = launch};
    return evaluate_entry(&ev, entry_of(metric), value, why, why_size);
}

int gp_metric_formula(const struct gp_metrics *m, const struct gp_metric *metric,
                      const struct gp_device *device, struct gp_text *out, char *why,
                      size_t why_size)
{
    (void)m;
    const struct variant *v = variant_for(entry_of(metric), device);
    if (!v) {
        say_not_defined(entry_of(metric), device, why, why_size);
        return -1;
    }
    gp_formula_print(v->formula, out);
    if (v->needs) {
        gp_text_add(out, ", where not 0: ");
        gp_formula_print(v->needs, out);
    }
    return 0;
}

const char *gp_metric_source(const struct gp_metrics *m, const struct gp_metric *metric,
                             const struct gp_device *device)
{
    (void)m;
    const struct variant *v = variant_for(entry_of(metric), device);
    return v && v->source ? v->source : metric->source;
}
