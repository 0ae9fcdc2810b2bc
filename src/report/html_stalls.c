#include "report/html_stalls.h"

#include "base/demangle.h"
#include "report/flame.h"
#include "report/json.h"
#include "report/own_line.h"
#include "report/stalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Nodes of the tree of one kernel; few where there is no room. */
#define MOST_NODES 400
#define FEW_NODES 20
#define LEAST_SHARE 0.005 /* of a node; more where there are many */
#define MOST_REASONS 4    /* of a node */

static double share_of(const struct gp_stalls *s, uint64_t samples)
{
    return (double)samples / (double)s->samples;
}

static void add_reasons(const struct gp_stalls *s, struct gp_text *out)
{
    gp_json_key(out, "reasons");
    gp_text_add(out, "[");
    for (size_t i = 0; i < s->order_count; i++) {
        const struct gp_stall_reason *r = &gp_stall_reasons[s->order[i]];
        struct gp_text where = {0};
        const double part = gp_stalls_where(s, s->order[i], &where);
        gp_json_next(out);
        gp_text_addf(out, "{\"waits\":%s", r->waits ? "true" : "false");
        gp_json_member(out, "name", r->name);
        gp_json_member(out, "meaning", r->meaning);
        gp_json_key(out, "share");
        gp_json_number(out, share_of(s, gp_samples_by(s->counts, s->order[i])));
        gp_json_member(out, "where", gp_text_string(&where));
        gp_json_key(out, "part");
        gp_json_number(out, part);
        gp_text_add(out, "}");
        out->failed |= where.failed;
        gp_text_free(&where);
    }
    gp_text_add(out, "]");
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool is_shown(const struct gp_stalls *s, const struct gp_flame_node *node, double least)
{
    return share_of(s, gp_samples_of(node->counts)) >= least;
}

/* A node with a share has parents with as much, so that no node of a shown one is missing. */
static double least_share(const struct gp_stalls *s, const struct gp_flame *f, size_t most)
{
    for (double least = LEAST_SHARE;; least *= 1.5) {
        size_t count = 0;
        for (size_t i = 1; i < f->count; i++)
            count += is_shown(s, &f->nodes[i], least);
        if (count <= most)
            return least;
    }
}

/* The reasons by their names, each with its share of all samples. */
static void add_shares(const struct gp_stalls *s, const struct gp_flame_node *node,
                       struct gp_text *out)
{
    size_t order[GP_STALL_COUNT], count = gp_stalls_order(node->counts, order);
    gp_json_key(out, "reasons");
    gp_text_add(out, "[");
    for (size_t i = 0; i < count && i < MOST_REASONS; i++) {
        gp_json_next(out);
        gp_text_addf(out, "[\"%s\",", gp_stall_reasons[order[i]].name);
        gp_json_number(out, share_of(s, gp_samples_by(node->counts, order[i])));
        gp_text_add(out, "]");
    }
    gp_text_add(out, "]");
}

static void add_name(const struct gp_stalls *s, const struct gp_flame_node *node,
                     struct gp_text *out)
{
    struct gp_text name = {0};
    const char *in = node->frame.function;
    if (node->frame.file)
        gp_text_addf(&name, "%s:%u", gp_base_name(node->frame.file), node->frame.line);
    else if (node->function)
        gp_text_addf(&name, "+0x%" PRIx64, node->offset);
    if (!node->frame.file && node->function && strcmp(node->function, s->lines->source.kernel) != 0)
        in = node->function;
    char *brief = in ? gp_demangle(in, GP_NAME_BRIEF) : NULL;
    gp_json_member(out, "name", gp_text_string(&name));
    if (in)
        gp_json_member(out, "in", brief ? brief : in);
    free(brief);
    out->failed |= name.failed;
    gp_text_free(&name);
}

/* As deep as calls are inlined, GP_MOST_FRAMES at most. */
static void add_node(const struct gp_stalls *s, const struct gp_flame *f, size_t index,
                     double least, struct gp_text *out)
{
    const struct gp_flame_node *node = &f->nodes[index];
    gp_text_add(out, "{\"share\":");
    gp_json_number(out, share_of(s, gp_samples_of(node->counts)));
    add_name(s, node, out);
    add_shares(s, node, out);
    gp_json_key(out, "children");
    gp_text_add(out, "[");
    for (size_t i = node->first; i; i = f->nodes[i].next) {
        if (!is_shown(s, &f->nodes[i], least))
            break;
        gp_json_next(out);
        add_node(s, f, i, least, out);
    }
    gp_text_add(out, "]}");
}

static void add_tree(const struct gp_stalls *s, size_t most, struct gp_text *out)
{
    struct gp_flame f;
    out->failed |= !gp_flame_make(&f, s->lines);
    gp_json_key(out, "tree");
    if (f.count > 0) {
        const double least = least_share(s, &f, most);
        add_node(s, &f, 0, least, out);
        gp_json_key(out, "least");
        gp_json_number(out, least);
    } else {
        gp_text_add(out, "null");
    }
    gp_flame_free(&f);
}

void gp_html_stalls(const struct gp_lines *lines, size_t *room, struct gp_text *out)
{
    const size_t begin = out->length;
    struct gp_stalls s;
    out->failed |= !gp_stalls_make(&s, lines);
    gp_json_key(out, "stalls");
    if (s.samples > 0) {
        gp_text_addf(out, "{\"runs\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"error\":",
                     lines->source.sampled, s.samples);
        gp_json_number(out, gp_stalls_error(s.samples));
        add_reasons(&s, out);
        add_tree(&s, *room > 0 ? MOST_NODES : FEW_NODES, out);
        gp_text_add(out, "}");
    } else {
        gp_text_add(out, "null");
    }
    gp_stalls_free(&s);
    const size_t used = out->length - begin;
    *room -= used < *room ? used : *room;
}
