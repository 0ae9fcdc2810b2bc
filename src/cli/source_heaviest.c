#include "cli/source_heaviest.h"

#include "report/layout.h"

#include <stdbool.h>
#include <string.h>

#define MOST_LINES 4
#define LEAST_SHARE 0.01
#define TITLE_COLUMNS 20

static const struct {
    enum gp_weight weight;
    const char *title;
} counts[] = {
    {GP_WEIGHT_WASTED_SECTORS, "wasted sectors"}, {GP_WEIGHT_BANK_CONFLICTS, "bank conflicts"},
    {GP_WEIGHT_DIVERGENCE, "divergent branches"}, {GP_WEIGHT_IDLE_LANES, "idle lanes"},
    {GP_WEIGHT_OFF_LANES, "lanes off"},           {GP_WEIGHT_WARPS, "instructions"},
};

/* The lines with most of it, the heaviest first. Returns how many. */
static size_t choose(const struct gp_lines *lines, const struct gp_by_line *by_line,
                     enum gp_weight weight, double least,
                     const struct gp_line_counts *chosen[MOST_LINES])
{
    size_t count = 0;
    for (size_t i = 0; i < by_line->count; i++) {
        const struct gp_line_counts *line = &by_line->list[i];
        double own = gp_line_weight(line, weight, lines->source.launches);
        if (!*line->file || own <= 0 || own < least)
            continue;
        size_t rank = count < MOST_LINES ? count++ : count;
        for (; rank > 0 && gp_line_weight(chosen[rank - 1], weight, lines->source.launches) < own;
             rank--)
            if (rank < MOST_LINES)
                chosen[rank] = chosen[rank - 1];
        if (rank < MOST_LINES)
            chosen[rank] = line;
    }
    return count;
}

void cli_add_heaviest(const struct gp_lines *lines, const struct gp_by_line *by_line,
                      struct gp_text *out)
{
    bool any = false;
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        const struct gp_line_counts *chosen[MOST_LINES];
        double total = gp_lines_total(lines, counts[c].weight);
        if (!(total > 0))
            continue;
        size_t count = choose(lines, by_line, counts[c].weight, LEAST_SHARE * total, chosen);
        struct gp_text text = {0};
        for (size_t i = 0; i < count; i++) {
            const char *slash = strrchr(chosen[i]->file, '/');
            double own = gp_line_weight(chosen[i], counts[c].weight, lines->source.launches);
            gp_text_addf(&text, "%s%.0f %% %s:%u", i ? ", " : "", 100 * own / total,
                         slash ? slash + 1 : chosen[i]->file, chosen[i]->line);
        }
        if (count > 0) {
            gp_text_addf(out, "%s   %-20s", any ? "" : "\nthe lines with most of it\n",
                         counts[c].title);
            gp_wrap(out, TITLE_COLUMNS + 3, gp_text_string(&text));
        }
        any = any || count > 0;
        out->failed |= text.failed;
        gp_text_free(&text);
    }
}
