#include "cli/source_columns.h"

static const struct column {
    enum gp_weight weight;
    unsigned kinds;
    const char *heading;
} columns[] = {
    {GP_WEIGHT_WASTED_SECTORS, 1u << GP_COUNT_SECTORS | 1u << GP_COUNT_SECTORS_IDEAL, "wasted"},
    {GP_WEIGHT_SECTORS, 1u << GP_COUNT_SECTORS, "sectors"},
    {GP_WEIGHT_BANK_CONFLICTS, 1u << GP_COUNT_WAVEFRONTS | 1u << GP_COUNT_WAVEFRONTS_IDEAL,
     "conflicts"},
    {GP_WEIGHT_WAVEFRONTS, 1u << GP_COUNT_WAVEFRONTS, "wavefronts"},
    {GP_WEIGHT_DIVERGENCE, 1u << GP_COUNT_DIVERGENT, "divergent"},
    {GP_WEIGHT_BRANCHES, 1u << GP_COUNT_BRANCHES, "branches"},
    {GP_WEIGHT_WARPS, 1u << GP_COUNT_WARPS, "warps"},
    {GP_WEIGHT_IDLE_LANES, 1u << GP_COUNT_WARPS | 1u << GP_COUNT_THREADS_ON, "idle lanes"},
    {GP_WEIGHT_OFF_LANES, 1u << GP_COUNT_THREADS | 1u << GP_COUNT_THREADS_ON, "off lanes"},
    /* In the code, not counted: by the line alone. */
    {GP_WEIGHT_LOCAL, 0, "local [i]"},
    {GP_WEIGHT_FP64, 0, "fp64 [i]"},
    {GP_WEIGHT_CONVERSIONS, 0, "convert [i]"},
    {GP_WEIGHT_MATRIX, 0, "matrix [i]"},
    {GP_WEIGHT_BARRIERS, 0, "barrier [i]"},
    {GP_WEIGHT_FENCES, 0, "fences [i]"},
    {GP_WEIGHT_TWO_SIDES, 0, "sides [i]"},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct cli_source_columns cli_source_columns_choose(const struct gp_lines *lines,
                                                    const struct gp_stalls *stalls,
                                                    bool by_instruction)
{
    struct cli_source_columns chosen = {.lines = lines, .samples = stalls->samples};
    for (size_t c = 0; c < COLUMNS; c++) {
        const bool in_code = gp_lines_in_code(columns[c].weight);
        const double total = gp_lines_total(lines, columns[c].weight);
        if ((by_instruction || !lines->table) && in_code)
            continue;
        if ((lines->source.kinds & columns[c].kinds) == columns[c].kinds && total > 0) {
            chosen.shown |= 1u << c;
            chosen.has_code = chosen.has_code || in_code;
        }
    }
    return chosen;
}

void cli_source_columns_heads(const struct cli_source_columns *chosen, struct gp_text *out)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (chosen->shown & 1u << c)
            gp_text_addf(out, "%12s", columns[c].heading);
    if (chosen->samples > 0)
        gp_text_addf(out, "%10s  %-18s", "samples", "most of them");
}

static double weigh(const struct cli_source_columns *chosen, enum gp_weight weight,
                    const uint64_t counts[GP_COUNT_KINDS], const struct gp_line_counts *line)
{
    if (line)
        return gp_line_weight(line, weight, chosen->lines->source.launches);
    if (counts && !gp_lines_in_code(weight))
        return gp_weigh_counts(counts, weight, chosen->lines->source.launches);
    return 0;
}

/* Their share of all samples of the kernel, and the reason that most of them have. */
static void add_samples(const struct cli_source_columns *chosen,
                        const uint64_t counts[GP_COUNT_KINDS], struct gp_text *out)
{
    const uint64_t samples = counts ? gp_samples_of(counts) : 0;
    size_t order[GP_STALL_COUNT];
    if (samples == 0) {
        gp_text_addf(out, "%30s", "");
        return;
    }
    const size_t reasons = gp_stalls_order(counts, order);
    gp_text_addf(out, "%8.2f %%  %-18s", 100 * (double)samples / (double)chosen->samples,
                 reasons > 0 ? gp_stall_reasons[order[0]].name : "");
}

static void add_cells(const struct cli_source_columns *chosen, const struct gp_line_counts *line,
                      const uint64_t counts[GP_COUNT_KINDS], struct gp_text *out)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        if (!(chosen->shown & 1u << c))
            continue;
        const double value = weigh(chosen, columns[c].weight, counts, line);
        if (value > 0)
            gp_text_addf(out, "%12.0f", value);
        else
            gp_text_addf(out, "%12s", "");
    }
    if (chosen->samples > 0)
        add_samples(chosen, counts, out);
}

void cli_source_columns_line(const struct cli_source_columns *c, const struct gp_line_counts *line,
                             struct gp_text *out)
{
    add_cells(c, line, line ? line->own : NULL, out);
}

void cli_source_columns_counts(const struct cli_source_columns *c,
                               const uint64_t counts[GP_COUNT_KINDS], struct gp_text *out)
{
    add_cells(c, NULL, counts, out);
}
