#include "code/line_table.h"

#include "code/cubin.h"
#include "code/line_rows.h"

#include <stdlib.h>
#include <string.h>

struct gp_line_table {
    struct gp_cubin cubin;
    struct gp_line_rows lines;
};

struct gp_line_table *gp_line_table_open(const void *cubin, size_t size, const char **why)
{
    struct gp_line_table *t = calloc(1, sizeof(*t));
    *why = "out of memory";
    if (!t)
        return NULL;
    bool opened = gp_cubin_open(&t->cubin, cubin, size);
    *why = opened ? "it was built without -lineinfo" : "its cubin is damaged";
    if (opened)
        gp_line_rows_read(&t->lines, &t->cubin);
    if (t->lines.sequence_count > 0)
        return t;
    gp_line_table_close(t);
    return NULL;
}

void gp_line_table_close(struct gp_line_table *t)
{
    if (!t)
        return;
    gp_line_rows_free(&t->lines);
    free(t);
}

/* ---- finding --------------------------------------------------------------------------------- */

/* The section and address at which the function begins. */
static bool find_function(const struct gp_line_table *t, const char *function, unsigned *section,
                          uint64_t *address)
{
    static const char prefix[] = ".text.";
    for (unsigned i = 0; i < t->cubin.count; i++) {
        const char *name = gp_cubin_section_name(&t->cubin, i);
        if (strncmp(name, prefix, strlen(prefix)) == 0 &&
            strcmp(name + strlen(prefix), function) == 0) {
            *section = i;
            *address = 0;
            return true;
        }
    }
    for (unsigned i = 0; i < t->cubin.count; i++) {
        struct gp_cubin_symbols table;
        const Elf64_Shdr symbols = gp_cubin_section(&t->cubin, i);
        if (symbols.sh_type != SHT_SYMTAB || !gp_cubin_symbols(&t->cubin, &symbols, &table))
            continue;
        for (size_t s = 0; s < table.count; s++) {
            const Elf64_Sym symbol = gp_cubin_symbol(&table, s);
            const char *name = gp_cubin_symbol_name(&table, &symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !name || strcmp(name, function) != 0)
                continue;
            *section = symbol.st_shndx;
            *address = symbol.st_value;
            return true;
        }
    }
    return false;
}

static const struct gp_line_sequence *find_sequence(const struct gp_line_table *t, unsigned section,
                                                    uint64_t address)
{
    for (size_t i = 0; i < t->lines.sequence_count; i++) {
        const struct gp_line_sequence *s = &t->lines.sequences[i];
        if (s->section == section && s->begin <= address && address < s->end)
            return s;
    }
    return NULL;
}

/* The last row at or before the address: rows of one address follow each other, the last wins. In
 * the tables that compilers write addresses only grow; where they do not, any row may be found. */
static const struct gp_line_row *find_row(const struct gp_line_table *t,
                                          const struct gp_line_sequence *s, uint64_t address)
{
    const struct gp_line_row *rows = &t->lines.rows[s->first];
    size_t low = 0, high = s->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    return &rows[low];
}

size_t gp_line_table_find(const struct gp_line_table *t, const char *function, uint64_t offset,
                          struct gp_frame *frames, size_t most)
{
    unsigned section;
    uint64_t address;
    size_t count = 0;
    if (!find_function(t, function, &section, &address))
        return 0;
    const struct gp_line_sequence *s = find_sequence(t, section, address + offset);
    const struct gp_line_row *row = s ? find_row(t, s, address + offset) : NULL;
    while (row && count < most && count < GP_MOST_FRAMES) {
        const struct gp_line_file none = {.directory = "", .name = ""};
        const struct gp_line_file *file = row->file ? &t->lines.files[row->file - 1] : &none;
        bool inlined = row->context > 0;
        if (row->line == 0 && count == 0)
            return 0;
        frames[count++] = (struct gp_frame){.directory = file->directory,
                                            .file = file->name,
                                            .line = row->line,
                                            .function = inlined && row->function != UINT32_MAX
                                                            ? t->lines.strings + row->function
                                                            : NULL};
        /* A chain leads back to earlier rows; anything else is damage. */
        const struct gp_line_row *call = inlined && row->context <= s->count
                                             ? &t->lines.rows[s->first + row->context - 1]
                                             : NULL;
        row = call && call < row ? call : NULL;
    }
    return count;
}
