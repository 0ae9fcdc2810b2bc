#include "code/image.h"

#include "code/cubin.h"
#include "code/printing.h"
#include "code/ptx.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct gp_image_visitor *visitor;
    void *data;
    const char *runs_once;        /* all kernels */
    unsigned parts;               /* cubins and PTX read */
    bool prints;                  /* some function of them */
    bool part_prints;             /* of the cubin that is read */
    uint64_t symbols, name_bytes; /* of the cubin */
};

/* Functions of the driver's that kernels call, with effects that no snapshot undoes; a call is an
 * undefined symbol of the image. Memory that one kernel allocates another one may write. */
static const struct {
    const char *name, *why;
} device_calls[] = {
    {"malloc", "the kernel's module allocates memory on the device"},
    {"free", "the kernel's module allocates memory on the device"},
};

/* Where it is not known which of its kernels do: where the image does not tell, and where functions
 * of one part may call those of another. */
#define ANY_PRINTS "the kernel's module prints"

/* `known`: its visitor has the functions of the part that print. */
static void note_part(struct reader *r, bool prints, bool known)
{
    r->prints = r->prints || prints;
    r->parts++;
    if (r->prints && (!known || r->parts > 1))
        r->runs_once = ANY_PRINTS;
}

static void note_call(struct reader *r, const char *name)
{
    r->part_prints = r->part_prints || strcmp(name, GP_PRINTS) == 0;
    for (size_t i = 0; i < sizeof(device_calls) / sizeof(device_calls[0]); i++)
        if (strcmp(name, device_calls[i].name) == 0)
            r->runs_once = device_calls[i].why;
}

/* ---- cubin ----------------------------------------------------------------------------------- */

/* The names of all variables together have so many bytes at most. In a damaged cubin thousands of
 * symbols may share one endless name. */
#define MOST_NAME_BYTES ((uint64_t)1 << 26)

/* In a symbol's st_other, as nvcc writes it for __managed__. */
#define SYMBOL_MANAGED 0x04

static bool is_shared_memory(const char *section)
{
    return strncmp(section, ".nv.shared", 10) == 0;
}

/* Calls visit for the symbols that are variables of a section in device memory. */
static bool read_symbols(struct reader *r, const struct gp_cubin *cubin, const Elf64_Shdr *section)
{
    struct gp_cubin_symbols table;
    if (!gp_cubin_symbols(cubin, section, &table))
        return false;
    r->symbols += table.count;
    if (r->symbols > cubin->size / sizeof(Elf64_Sym))
        return false; /* tables that lie over each other */
    for (size_t i = 0; i < table.count; i++) {
        Elf64_Sym s = gp_cubin_symbol(&table, i);
        const char *name = gp_cubin_symbol_name(&table, &s);
        if (!name)
            continue;
        if (s.st_shndx == SHN_UNDEF)
            note_call(r, name);
        const char *section_name = gp_cubin_section_name(cubin, s.st_shndx);
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF ||
            s.st_shndx >= cubin->count || is_shared_memory(section_name))
            continue;
        size_t length = strlen(name);
        r->name_bytes += length;
        if (r->name_bytes > MOST_NAME_BYTES)
            return false;
        const struct gp_position position = {.alone = s.st_other & SYMBOL_MANAGED,
                                             .part = r->parts,
                                             .section = s.st_shndx,
                                             .offset = s.st_value,
                                             .bytes = s.st_size};
        if (length)
            r->visitor->variable(name, length, &position, r->data);
    }
    return true;
}

static bool read_cubin(struct reader *r, const struct gp_part *part)
{
    struct gp_cubin cubin;
    r->symbols = r->name_bytes = 0;
    r->part_prints = false;
    if (!gp_cubin_open(&cubin, part->bytes, part->size))
        return false;
    for (unsigned i = 0; i < cubin.count; i++) {
        Elf64_Shdr section = gp_cubin_section(&cubin, i);
        if (section.sh_type == SHT_SYMTAB && !read_symbols(r, &cubin, &section))
            return false;
    }
    bool known = !r->part_prints || gp_cubin_printing(&cubin, r->visitor->printing, r->data);
    note_part(r, r->part_prints, known);
    return true;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

static void note_variable(const char *name, size_t length, void *reader)
{
    const struct reader *r = reader;
    r->visitor->variable(name, length, &(struct gp_position){.alone = true}, r->data);
}

static void read_ptx(struct reader *r, const struct gp_part *part)
{
    const char *text = part->bytes, *end = text + part->size;
    for (size_t i = 0; i < sizeof(device_calls) / sizeof(device_calls[0]); i++)
        if (memmem(text, part->size, device_calls[i].name, strlen(device_calls[i].name)))
            r->runs_once = device_calls[i].why;
    const bool prints = memmem(text, part->size, GP_PRINTS, strlen(GP_PRINTS));
    note_part(r, prints, !prints || gp_ptx_printing(text, end, r->visitor->printing, r->data));
    gp_ptx_variables(text, end, note_variable, r);
    if (r->visitor->waits)
        gp_ptx_waits(text, end, r->visitor->waits, r->data);
}

/* ---- any image ------------------------------------------------------------------------------- */

static bool read_part(struct gp_part *part, void *reader, const char **why)
{
    if (!part->is_cubin) {
        read_ptx(reader, part);
        return true;
    }
    *why = "its cubin is damaged";
    return read_cubin(reader, part);
}

bool gp_image_read(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                   const struct gp_image_visitor *visitor, void *data, const char **runs_once,
                   const char **why)
{
    static const struct gp_part_visitor reads = {.part = read_part};
    struct reader r = {.visitor = visitor, .data = data};
    bool ok = gp_unpacked_parts(unpacked, image, size, cc, NULL, &reads, &r, why);
    *runs_once = r.runs_once;
    return ok;
}
