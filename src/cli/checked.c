#include "cli/checked.h"

#include "base/log.h"
#include "base/text.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNTIME "libasan.so"
#define MOST_ENTRIES 4096

static bool has_bytes(int fd, void *bytes, size_t size, Elf64_Off at)
{
    return pread(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* The first part of the program of that type that has the address; any, where that is 0. */
static bool find_part(int fd, const Elf64_Ehdr *header, uint32_t type, Elf64_Addr address,
                      Elf64_Phdr *part)
{
    for (int i = 0; i < header->e_phnum; i++) {
        if (!has_bytes(fd, part, sizeof(*part),
                       header->e_phoff + (Elf64_Off)i * header->e_phentsize))
            return false;
        if (part->p_type == type &&
            (!address || (address >= part->p_vaddr && address - part->p_vaddr < part->p_filesz)))
            return true;
    }
    return false;
}

/* Entry i of the dynamic section; false behind its end. */
static bool read_entry(int fd, const Elf64_Phdr *dynamic, unsigned i, Elf64_Dyn *entry)
{
    return i < MOST_ENTRIES && (i + 1) * sizeof(*entry) <= dynamic->p_filesz &&
           has_bytes(fd, entry, sizeof(*entry), dynamic->p_offset + i * sizeof(*entry)) &&
           entry->d_tag != DT_NULL;
}

static bool needs_runtime(int fd)
{
    Elf64_Ehdr header;
    Elf64_Phdr dynamic, strings;
    Elf64_Dyn entry;
    Elf64_Addr names = 0;
    if (!has_bytes(fd, &header, sizeof(header), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        !find_part(fd, &header, PT_DYNAMIC, 0, &dynamic))
        return false;
    for (unsigned i = 0; read_entry(fd, &dynamic, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            names = entry.d_un.d_ptr;
    if (!names || !find_part(fd, &header, PT_LOAD, names, &strings))
        return false;
    const Elf64_Off at = strings.p_offset + (names - strings.p_vaddr);
    for (unsigned i = 0; read_entry(fd, &dynamic, i, &entry); i++) {
        char name[sizeof(RUNTIME) - 1];
        if (entry.d_tag == DT_NEEDED && has_bytes(fd, name, sizeof(name), at + entry.d_un.d_val) &&
            memcmp(name, RUNTIME, sizeof(name)) == 0)
            return true;
    }
    return false;
}

bool cli_is_linked_with_checker(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool answer = fd >= 0 && needs_runtime(fd);
    if (fd >= 0)
        close(fd);
    return answer;
}

void cli_let_preload(void)
{
    struct gp_text options = {0};
    const char *before = secure_getenv("ASAN_OPTIONS");
    gp_text_addf(&options, "%s%sverify_asan_link_order=0", before ? before : "",
                 before && *before ? ":" : "");
    if (options.failed || setenv("ASAN_OPTIONS", options.data, 1) != 0)
        gp_say("out of memory");
    gp_text_free(&options);
}
