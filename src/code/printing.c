#include "code/printing.h"

#include <stdlib.h>
#include <string.h>

/* Calls of calls; each round finds one more, or many. */
#define MOST_ROUNDS 200

bool gp_mark_callers(const struct gp_call *calls, size_t count, bool *marks)
{
    bool more = true;
    for (unsigned round = 0; more && round < MOST_ROUNDS; round++) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            if (!marks[calls[i].callee] || marks[calls[i].caller])
                continue;
            marks[calls[i].caller] = more = true;
        }
    }
    return !more;
}

/* The section is pairs of numbers of symbols. A pair of symbol 0 and a negative number begins a
 * list, as seen in the output of nvcc 13: */
enum list {
    NO_LIST,
    CALLS = -1,          /* caller, callee */
    TARGETS = -2,        /* function whose address is taken, its prototype */
    CALLS_BY_PTR = -3,   /* caller, prototype */
    TAKEN_ADDRESSES = -4 /* function that takes an address, of which */
};

/* Fills `calls`, which has room for all pairs, and marks callers through pointers. */
static bool read_calls(const char *pairs, size_t pair_count, size_t symbol_count,
                       struct gp_call *calls, size_t *count, bool *marks)
{
    int list = NO_LIST;
    *count = 0;
    for (size_t i = 0; i < pair_count; i++) {
        uint32_t pair[2];
        memcpy(pair, pairs + i * sizeof(pair), sizeof(pair));
        if (pair[0] == 0 && (int32_t)pair[1] < 0) {
            list = (int32_t)pair[1];
            if (list < TAKEN_ADDRESSES)
                return false;
            continue;
        }
        if (list == NO_LIST || pair[0] >= symbol_count ||
            (list == CALLS && pair[1] >= symbol_count))
            return false;
        if (list == CALLS)
            calls[(*count)++] = (struct gp_call){.caller = pair[0], .callee = pair[1]};
        else if (list == CALLS_BY_PTR)
            marks[pair[0]] = true;
    }
    return true;
}

static bool is_undefined(const struct gp_cubin_symbols *table, const Elf64_Sym *symbol,
                         const char *of_name)
{
    const char *name = gp_cubin_symbol_name(table, symbol);
    return symbol->st_shndx == SHN_UNDEF && name && strcmp(name, of_name) == 0;
}

static void visit_marked(const struct gp_cubin_symbols *table, const bool *marks,
                         gp_printing_visit *visit, void *data)
{
    for (size_t i = 0; i < table->count; i++) {
        Elf64_Sym symbol = gp_cubin_symbol(table, i);
        const char *name = gp_cubin_symbol_name(table, &symbol);
        if (marks[i] && name && symbol.st_shndx != SHN_UNDEF)
            visit(name, strlen(name), data);
    }
}

bool gp_cubin_printing(const struct gp_cubin *cubin, gp_printing_visit *visit, void *data)
{
    Elf64_Shdr graph;
    struct gp_cubin_symbols table;
    if (!gp_cubin_find(cubin, ".nv.callgraph", &graph) || graph.sh_link >= cubin->count)
        return false;
    Elf64_Shdr symbols = gp_cubin_section(cubin, graph.sh_link);
    if (symbols.sh_type != SHT_SYMTAB || !gp_cubin_symbols(cubin, &symbols, &table))
        return false;
    const size_t pairs = graph.sh_size / (2 * sizeof(uint32_t));
    bool *marks = calloc(table.count + 1, sizeof(*marks));
    struct gp_call *calls = calloc(pairs + 1, sizeof(*calls));
    size_t count;
    bool known =
        marks && calls &&
        read_calls(cubin->base + graph.sh_offset, pairs, table.count, calls, &count, marks);
    for (size_t i = 0; known && i < table.count; i++) {
        Elf64_Sym symbol = gp_cubin_symbol(&table, i);
        marks[i] = marks[i] || is_undefined(&table, &symbol, GP_PRINTS);
    }
    known = known && gp_mark_callers(calls, count, marks);
    if (known)
        visit_marked(&table, marks, visit, data);
    free(calls);
    free(marks);
    return known;
}
