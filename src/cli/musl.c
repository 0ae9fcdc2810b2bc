#include "cli/musl.h"

#include "cli/rights.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKER "ld-musl-"

/* The dynamic linker of an open program goes to `linker`; false where it has none. */
static bool find_linker(int fd, char linker[CLI_LONGEST_PATH])
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (int i = 0; i < header.e_phnum; i++) {
        off_t at = (off_t)(header.e_phoff + (Elf64_Off)i * header.e_phentsize);
        if (pread(fd, &part, sizeof(part), at) != sizeof(part))
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        ssize_t length = pread(fd, linker, CLI_LONGEST_PATH - 1, (off_t)part.p_offset);
        linker[length > 0 ? length : 0] = '\0';
        return length > 0;
    }
    return false;
}

bool cli_is_for_musl(const char *path)
{
    char room[CLI_LONGEST_PATH], linker[CLI_LONGEST_PATH];
    int fd = open(cli_interpreter_of(path, room), O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && find_linker(fd, linker);
    if (fd >= 0)
        close(fd);
    const char *name = found ? strrchr(linker, '/') : NULL;
    return name && strncmp(name + 1, LINKER, strlen(LINKER)) == 0;
}

void cli_preload_less(void)
{
    const char *all = secure_getenv("LD_PRELOAD"), *rest = all ? strchr(all, ':') : NULL;
    if (rest)
        setenv("LD_PRELOAD", rest + 1, 1);
    else
        unsetenv("LD_PRELOAD");
}
