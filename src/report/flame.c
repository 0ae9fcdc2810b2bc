#include "report/flame.h"

#include "report/stalls.h"

#include <stdlib.h>
#include <string.h>

/* Samples of further lines count for the calls through which they were inlined. */
#define MOST_NODES 50000

static bool is_same(const struct gp_flame_node *a, const struct gp_flame_node *b)
{
    if (!a->frame.file || !b->frame.file)
        return !a->frame.file && !b->frame.file && a->offset == b->offset &&
               strcmp(a->function, b->function) == 0;
    const char *in = a->frame.function ? a->frame.function : "";
    return a->frame.line == b->frame.line && strcmp(a->frame.file, b->frame.file) == 0 &&
           strcmp(a->frame.directory, b->frame.directory) == 0 &&
           strcmp(in, b->frame.function ? b->frame.function : "") == 0;
}

static bool reserve(struct gp_flame *f)
{
    if (f->count < f->capacity)
        return true;
    const size_t capacity = f->capacity ? 2 * f->capacity : 64;
    struct gp_flame_node *nodes = realloc(f->nodes, capacity * sizeof(*nodes));
    if (!nodes)
        return false;
    f->nodes = nodes;
    f->capacity = capacity;
    return true;
}

/* The child of `parent` that is equal to `node`, which it gets where there is none. Returns its
 * index; `parent` where there are too many; 0 when out of memory. */
static size_t find_child(struct gp_flame *f, size_t parent, const struct gp_flame_node *node)
{
    for (size_t i = f->nodes[parent].first; i; i = f->nodes[i].next)
        if (is_same(&f->nodes[i], node))
            return i;
    if (f->count == MOST_NODES)
        return parent;
    if (!reserve(f))
        return 0;
    f->nodes[f->count] = *node;
    f->nodes[f->count].next = f->nodes[parent].first;
    f->nodes[parent].first = f->count;
    return f->count++;
}

static void add_samples(struct gp_flame_node *node, const struct gp_instruction_counts *c)
{
    for (size_t k = GP_COUNT_SAMPLES; k < GP_COUNT_KINDS; k++)
        node->counts[k] += c->values[k];
}

static bool add_instruction(struct gp_flame *f, const struct gp_lines *lines,
                            const struct gp_instruction_counts *c)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    const char *function = lines->source.functions[c->function];
    const size_t known =
        lines->table ? gp_line_table_find(lines->table, function, c->offset, frames, GP_MOST_FRAMES)
                     : 0;
    const size_t depth = known ? known : 1;
    size_t node = 0;
    add_samples(&f->nodes[0], c);
    for (size_t i = depth; i-- > 0;) {
        struct gp_flame_node child = {.function = function, .offset = c->offset};
        if (known)
            child.frame = frames[i];
        const size_t found = find_child(f, node, &child);
        if (found == 0 && f->count < MOST_NODES)
            return false;
        if (found == node)
            return true;
        node = found;
        add_samples(&f->nodes[node], c);
    }
    return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* A list of siblings by their samples: `next` of each is sorted by merging halves. */
static size_t sort_siblings(struct gp_flame_node *nodes, size_t list)
{
    if (!list || !nodes[list].next)
        return list;
    size_t slow = list, fast = nodes[list].next, first = 0, last = 0;
    for (; fast && nodes[fast].next; fast = nodes[nodes[fast].next].next)
        slow = nodes[slow].next;
    size_t right = nodes[slow].next;
    nodes[slow].next = 0;
    size_t left = sort_siblings(nodes, list);
    right = sort_siblings(nodes, right);
    while (left || right) {
        const bool take_left = !right || (left && gp_samples_of(nodes[left].counts) >=
                                                      gp_samples_of(nodes[right].counts));
        const size_t taken = take_left ? left : right;
        *(take_left ? &left : &right) = nodes[taken].next;
        *(last ? &nodes[last].next : &first) = taken;
        last = taken;
    }
    return first;
}

bool gp_flame_make(struct gp_flame *f, const struct gp_lines *lines)
{
    bool made = true;
    *f = (struct gp_flame){0};
    for (size_t i = 0; lines && made && i < lines->source.instruction_count; i++) {
        const struct gp_instruction_counts *c = &lines->source.instructions[i];
        if (gp_samples_of(c->values) == 0)
            continue;
        if (f->count == 0 && (made = reserve(f)))
            f->nodes[f->count++] = (struct gp_flame_node){0};
        made = made && add_instruction(f, lines, c);
    }
    for (size_t i = 0; i < f->count; i++)
        f->nodes[i].first = sort_siblings(f->nodes, f->nodes[i].first);
    return made;
}

void gp_flame_free(struct gp_flame *f)
{
    free(f->nodes);
    *f = (struct gp_flame){0};
}
