#include "report/row_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_SIZE 160
#define DEVICE_SIZE 16

/* Rows of one kernel with the same blocks, on one device, that differ in dynamic shared memory or
 * in their cluster. */
static void find_differences(const struct gp_rows *rows, const struct gp_row *row, bool *shared,
                             bool *cluster)
{
    const struct gp_record *l = row->launch;
    *shared = *cluster = false;
    for (size_t i = 0; i < gp_rows_all(rows); i++) {
        const struct gp_record *other = rows->rows[i].launch;
        if (other == l || other->device != l->device ||
            memcmp(other->block, l->block, sizeof(l->block)) != 0 ||
            strcmp(other->kernel, l->kernel) != 0)
            continue;
        *shared |= other->shared_dynamic != l->shared_dynamic;
        *cluster |= memcmp(other->cluster, l->cluster, sizeof(l->cluster)) != 0;
    }
}

/* " GPU 1", where there are several. */
static void format_device(const struct gp_rows *rows, const struct gp_row *row,
                          char device[DEVICE_SIZE])
{
    device[0] = '\0';
    if (rows->devices > 1)
        snprintf(device, DEVICE_SIZE, " GPU %d", row->launch->device);
}

/* " [128]", " [16x16] GPU 1", " [128, 4096 B shared, cluster 2]" */
static void format_tail(const struct gp_rows *rows, const struct gp_row *row, char tail[TAIL_SIZE])
{
    char block[36], cluster[36], shared_text[24] = "", cluster_text[48] = "", device[DEVICE_SIZE];
    bool by_shared, by_cluster;
    find_differences(rows, row, &by_shared, &by_cluster);
    gp_extent(row->launch->block, block, sizeof(block));
    gp_extent(row->launch->cluster, cluster, sizeof(cluster));
    if (by_shared)
        snprintf(shared_text, sizeof(shared_text), ", %u B shared", row->launch->shared_dynamic);
    if (by_cluster)
        snprintf(cluster_text, sizeof(cluster_text),
                 row->launch->cluster[0] ? ", cluster %s" : ", no cluster", cluster);
    format_device(rows, row, device);
    snprintf(tail, TAIL_SIZE, " [%s%s%s]%s", block, shared_text, cluster_text, device);
}

struct gp_kernel_spelling gp_row_spelling(const struct gp_row *row)
{
    return (struct gp_kernel_spelling){
        .kernel = row->launch->kernel, .full = row->full_name, .brief = row->brief_name};
}

static size_t name_room(size_t width, size_t tail)
{
    size_t room = width > tail ? width - tail : 0;
    return room < GP_ROW_NAME_SIZE - TAIL_SIZE ? room : GP_ROW_NAME_SIZE - TAIL_SIZE;
}

bool gp_row_names_make(struct gp_row_names *n, const struct gp_rows *rows, size_t most,
                       size_t width)
{
    size_t tail_width = 0;
    *n = (struct gp_row_names){
        .rows = rows, .count = rows->count < most ? rows->count : most, .width = width};
    struct gp_kernel_spelling *kernels = calloc(n->count + 1, sizeof(*kernels));
    n->names = calloc(n->count + 1, sizeof(*n->names));
    for (size_t i = 0; kernels && i < n->count; i++) {
        char tail[TAIL_SIZE];
        kernels[i] = gp_row_spelling(&rows->rows[i]);
        format_tail(rows, &rows->rows[i], tail);
        tail_width = strlen(tail) > tail_width ? strlen(tail) : tail_width;
    }
    bool named = kernels && n->names && gp_names_distinct(kernels, n->count, n->names) &&
                 gp_names_fit(n->names, n->count, name_room(width, tail_width));
    free(kernels);
    return named;
}

void gp_row_names_free(struct gp_row_names *n)
{
    for (size_t i = 0; n->names && i < n->count; i++)
        free(n->names[i]);
    free(n->names);
    *n = (struct gp_row_names){0};
}

static void format_name(const struct gp_row_names *n, const struct gp_row *row, const char *tail,
                        char out[GP_ROW_NAME_SIZE])
{
    size_t index = (size_t)(row - n->rows->rows);
    if (index < n->count)
        snprintf(out, GP_ROW_NAME_SIZE, "%s", n->names[index]);
    else
        gp_shorten(row->brief_name, out, name_room(n->width, strlen(tail)));
    strncat(out, tail, GP_ROW_NAME_SIZE - 1 - strlen(out));
}

void gp_row_names_format(const struct gp_row_names *n, const struct gp_row *row,
                         char out[GP_ROW_NAME_SIZE])
{
    char tail[TAIL_SIZE];
    format_tail(n->rows, row, tail);
    format_name(n, row, tail, out);
}

void gp_row_names_format_kernel(const struct gp_row_names *n, const struct gp_row *row,
                                char out[GP_ROW_NAME_SIZE])
{
    char device[DEVICE_SIZE];
    format_device(n->rows, row, device);
    format_name(n, row, device, out);
}

void gp_rows_add_rest(const struct gp_rows *r, size_t count, struct gp_text *out)
{
    double rest = 0;
    for (size_t i = count; i < r->count; i++)
        rest += r->rows[i].seconds;
    if (count < r->count) {
        gp_text_addf(out, "   and %zu more kernel%s", r->count - count,
                     r->count - count == 1 ? "" : "s");
        if (r->timed)
            gp_text_addf(out, " with %.1f%% of the time", 100 * rest / r->seconds);
        gp_text_add(out, "\n");
    }
    if (gp_summary_ungrouped(r->summary) > 0)
        gp_text_addf(out,
                     "   and %" PRIu64 " launches of further kernels or grids than the %d kept\n",
                     gp_summary_ungrouped(r->summary), GP_SUMMARY_MAX_GROUPS);
}
