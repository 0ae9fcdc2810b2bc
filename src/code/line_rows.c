#include "code/line_rows.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS ((size_t)8 << 20)
#define MOST_FILES 65536

/* Opcodes of DWARF 2. */
enum {
    EXTENDED = 0,
    COPY = 1,
    ADVANCE_PC = 2,
    ADVANCE_LINE = 3,
    SET_FILE = 4,
    SET_COLUMN = 5,
    NEGATE_STATEMENT = 6,
    BASIC_BLOCK = 7,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC = 9,
    END_SEQUENCE = 1,
    SET_ADDRESS = 2,
    DEFINE_FILE = 3,
    INLINED_CALL = 0x90,
};

/* ---- bytes ----------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *at, *end;
    bool failed; /* something reaches beyond the end */
};

static uint64_t take_fixed(struct reader *r, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < size) {
        r->failed = true;
        r->at = r->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += size;
    return value;
}

static uint64_t take_uleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->failed = true;
    return 0;
}

static int64_t take_sleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; r->at < r->end;) {
        unsigned char byte = *r->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40))
                value |= ~UINT64_C(0) << shift;
            return (int64_t)value;
        }
    }
    r->failed = true;
    return 0;
}

/* "" at the end of the bytes. */
static const char *take_string(struct reader *r)
{
    const char *string = (const char *)r->at;
    const unsigned char *nul = memchr(r->at, 0, (size_t)(r->end - r->at));
    if (!nul) {
        r->failed = true;
        r->at = r->end;
        return "";
    }
    r->at = nul + 1;
    return string;
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool make_room(void **array, size_t count, size_t *capacity, size_t size, size_t most)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 64;
    void *grown = count < most ? realloc(*array, more * size) : NULL;
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

static bool add_file(struct gp_line_rows *t, const char *directory, const char *name)
{
    if (!make_room((void **)&t->files, t->file_count, &t->file_capacity, sizeof(*t->files),
                   MOST_FILES))
        return false;
    t->files[t->file_count++] = (struct gp_line_file){.directory = directory, .name = name};
    return true;
}

/* ---- one unit of .debug_line ----------------------------------------------------------------- */

struct unit {
    const unsigned char *section; /* where .debug_line begins */
    struct reader program;
    unsigned minimum, opcode_base, line_range;
    int line_base;
    const unsigned char *lengths; /* of standard opcodes, from 1 */
    uint64_t names;               /* base of the names in .debug_str */
    size_t first_file;            /* of its files in the table's; they count from 1 */
    const struct gp_cubin_relocations *relocations;
};

/* Directories and files of the header. */
static bool read_files(struct gp_line_rows *t, struct reader *r, struct unit *unit)
{
    const char *directories[256] = {""};
    size_t count = 1;
    for (const char *name = take_string(r); *name; name = take_string(r))
        if (count < sizeof(directories) / sizeof(directories[0]))
            directories[count++] = name;
    unit->first_file = t->file_count;
    while (!r->failed) {
        const char *name = take_string(r);
        if (!*name)
            break;
        uint64_t directory = take_uleb(r);
        take_uleb(r); /* time */
        take_uleb(r); /* size */
        if (!add_file(t, directory < count ? directories[directory] : "", name))
            return false;
    }
    return !r->failed;
}

/* Reads the header; r is then behind the unit. */
static bool read_header(struct gp_line_rows *t, struct reader *r, struct unit *unit)
{
    uint64_t length = take_fixed(r, 4);
    if (r->failed || length > (uint64_t)(r->end - r->at))
        return false;
    struct reader u = {.at = r->at, .end = r->at + length};
    r->at = u.end;
    uint64_t version = take_fixed(&u, 2), header_length = take_fixed(&u, 4);
    if (u.failed || version != 2 || header_length > (uint64_t)(u.end - u.at))
        return false;
    unit->program = (struct reader){.at = u.at + header_length, .end = u.end};
    struct reader h = {.at = u.at, .end = u.at + header_length};
    unit->minimum = (unsigned)take_fixed(&h, 1);
    take_fixed(&h, 1); /* default_is_stmt */
    unit->line_base = (int8_t)take_fixed(&h, 1);
    unit->line_range = (unsigned)take_fixed(&h, 1);
    unit->opcode_base = (unsigned)take_fixed(&h, 1);
    unit->lengths = h.at - 1;
    if (!unit->opcode_base || !unit->line_range || unit->opcode_base - 1 > (size_t)(h.end - h.at))
        return false;
    h.at += unit->opcode_base - 1;
    if (!read_files(t, &h, unit))
        return false;
    unit->names = h.end - h.at >= 4 ? take_fixed(&h, 4) : 0;
    return !h.failed;
}

/* ---- the program of a unit ------------------------------------------------------------------- */

struct machine {
    uint64_t address;
    int64_t line;
    uint64_t file, context, function;
    unsigned section; /* 0: not known, the sequence is left out */
    size_t first_row;
};

static void reset(struct machine *m, const struct gp_line_rows *t)
{
    *m =
        (struct machine){.line = 1, .file = 1, .function = ~UINT64_C(0), .first_row = t->row_count};
}

static bool add_row(struct gp_line_rows *t, const struct unit *unit, const struct machine *m)
{
    if (!make_room((void **)&t->rows, t->row_count, &t->row_capacity, sizeof(*t->rows), MOST_ROWS))
        return false;
    uint64_t file = m->file ? unit->first_file + m->file : 0;
    bool named = m->function < t->strings_size;
    t->rows[t->row_count++] =
        (struct gp_line_row){.address = m->address,
                             .line = m->line > 0 && m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
                             .file = file <= t->file_count ? (uint32_t)file : 0,
                             .context = m->context <= UINT32_MAX ? (uint32_t)m->context : 0,
                             .function = named ? (uint32_t)m->function : UINT32_MAX};
    return true;
}

static int compare_sequences(const void *x, const void *y)
{
    const struct gp_line_sequence *a = x, *b = y;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool end_sequence(struct gp_line_rows *t, const struct machine *m)
{
    size_t count = t->row_count - m->first_row;
    if (count == 0 || m->section == 0) {
        t->row_count = m->first_row;
        return true;
    }
    if (!make_room((void **)&t->sequences, t->sequence_count, &t->sequence_capacity,
                   sizeof(*t->sequences), MOST_ROWS))
        return false;
    t->sequences[t->sequence_count++] =
        (struct gp_line_sequence){.begin = t->rows[m->first_row].address,
                                  .end = m->address,
                                  .section = m->section,
                                  .first = m->first_row,
                                  .count = count};
    return true;
}

/* The operand of set_address is 0 in the file; a relocation names the function. */
static void set_address(const struct unit *unit, struct machine *m, const unsigned char *operand,
                        uint64_t value)
{
    const struct gp_cubin_relocations *p = unit->relocations;
    const uint64_t offset = (uint64_t)(operand - unit->section);
    m->address = value;
    m->section = 0;
    for (size_t i = 0; i < p->count; i++) {
        const Elf64_Rela relocation = gp_cubin_relocation(p, i);
        size_t symbol = ELF64_R_SYM(relocation.r_info);
        if (relocation.r_offset != offset || symbol >= p->symbols.count)
            continue;
        Elf64_Sym s = gp_cubin_symbol(&p->symbols, symbol);
        m->section = s.st_shndx;
        m->address = s.st_value + (uint64_t)relocation.r_addend;
        return;
    }
}

static bool run_extended(struct gp_line_rows *t, struct unit *unit, struct machine *m)
{
    struct reader *r = &unit->program;
    uint64_t length = take_uleb(r);
    if (r->failed || length == 0 || length > (uint64_t)(r->end - r->at))
        return !r->failed && length == 0;
    struct reader o = {.at = r->at, .end = r->at + length};
    r->at = o.end;
    switch (take_fixed(&o, 1)) {
    case END_SEQUENCE: {
        bool added = end_sequence(t, m);
        reset(m, t);
        return added;
    }
    case SET_ADDRESS: {
        const unsigned char *operand = o.at;
        size_t size = (size_t)(o.end - o.at);
        set_address(unit, m, operand, take_fixed(&o, size < 8 ? size : 8));
        return true;
    }
    case INLINED_CALL:
        m->context = take_uleb(&o);
        m->function = take_uleb(&o) + unit->names;
        return !o.failed;
    default:
        return true;
    }
}

static bool run_standard(struct gp_line_rows *t, struct unit *unit, struct machine *m,
                         unsigned opcode)
{
    struct reader *r = &unit->program;
    switch (opcode) {
    case COPY:
        return add_row(t, unit, m);
    case ADVANCE_PC:
        m->address += take_uleb(r) * unit->minimum;
        return true;
    case ADVANCE_LINE:
        m->line += (int32_t)take_sleb(r);
        return true;
    case SET_FILE:
        m->file = take_uleb(r);
        return true;
    case SET_COLUMN:
        take_uleb(r);
        return true;
    case NEGATE_STATEMENT:
    case BASIC_BLOCK:
        return true;
    case CONST_ADD_PC:
        m->address += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->minimum;
        return true;
    case FIXED_ADVANCE_PC:
        m->address += take_fixed(r, 2);
        return true;
    default: /* its operands are numbers, and the header says how many */
        for (unsigned i = 0; i < unit->lengths[opcode]; i++)
            take_uleb(r);
        return true;
    }
}

static bool run(struct gp_line_rows *t, struct unit *unit)
{
    struct machine m;
    struct reader *r = &unit->program;
    bool ok = true;
    reset(&m, t);
    while (ok && r->at < r->end && !r->failed) {
        unsigned opcode = *r->at++;
        if (opcode >= unit->opcode_base) {
            unsigned adjusted = opcode - unit->opcode_base;
            m.address += (uint64_t)(adjusted / unit->line_range) * unit->minimum;
            m.line += unit->line_base + (int)(adjusted % unit->line_range);
            ok = add_row(t, unit, &m);
        } else if (opcode == EXTENDED) {
            ok = run_extended(t, unit, &m);
        } else {
            ok = run_standard(t, unit, &m, opcode);
        }
    }
    t->row_count = m.first_row; /* a sequence without an end */
    return ok;
}

/* ---- sections ------------------------------------------------------------------------------- */

static void decode(struct gp_line_rows *t, const struct gp_cubin *cubin, const Elf64_Shdr *lines,
                   const struct gp_cubin_relocations *relocations)
{
    const unsigned char *begin = (const void *)(cubin->base + lines->sh_offset);
    struct reader r = {.at = begin, .end = begin + lines->sh_size};
    while (r.at < r.end && !r.failed) {
        struct unit unit = {.section = begin, .relocations = relocations};
        if (!read_header(t, &r, &unit) || !run(t, &unit))
            break;
    }
    if (t->sequence_count > 0)
        qsort(t->sequences, t->sequence_count, sizeof(*t->sequences), compare_sequences);
}

void gp_line_rows_read(struct gp_line_rows *t, const struct gp_cubin *cubin)
{
    Elf64_Shdr lines, strings;
    struct gp_cubin_relocations relocations;
    if (!gp_cubin_find(cubin, ".debug_line", &lines))
        return;
    if (gp_cubin_find(cubin, ".debug_str", &strings) && strings.sh_size &&
        !cubin->base[strings.sh_offset + strings.sh_size - 1]) {
        t->strings = cubin->base + strings.sh_offset;
        t->strings_size = strings.sh_size;
    }
    if (!gp_cubin_relocations(cubin, ".debug_line", &relocations))
        relocations.count = 0;
    decode(t, cubin, &lines, &relocations);
}

void gp_line_rows_free(struct gp_line_rows *t)
{
    free(t->files);
    free(t->rows);
    free(t->sequences);
}
