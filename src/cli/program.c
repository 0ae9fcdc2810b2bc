#include "cli/program.h"

#include "base/log.h"
#include "base/text.h"
#include "cli/checked.h"
#include "cli/cli.h"
#include "cli/musl.h"
#include "cli/rights.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the program as execvp will. Returns 0 with its path. */
static int find_program(const char *name, struct gp_text *path)
{
    if (strchr(name, '/')) {
        gp_text_add(path, name);
        return access(gp_text_string(path), X_OK);
    }
    const char *at = secure_getenv("PATH");
    for (at = at ? at : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        gp_text_clear(path);
        gp_text_addf(path, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (access(gp_text_string(path), X_OK) == 0)
            return 0;
        at += length + (at[length] == ':');
    }
    return -1;
}

/* A program without a dynamic linker never loads the library; it runs, and nothing is measured. */
static bool is_static(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool answer = false;
    Elf64_Ehdr header;
    if (fd >= 0 && read(fd, &header, sizeof(header)) == sizeof(header) &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
        int dynamic = 0;
        for (int i = 0; i < header.e_phnum; i++) {
            Elf64_Phdr part;
            off_t at = (off_t)(header.e_phoff + (Elf64_Off)i * header.e_phentsize);
            if (pread(fd, &part, sizeof(part), at) != sizeof(part))
                break;
            dynamic |= part.p_type == PT_INTERP;
        }
        answer = !dynamic;
    }
    if (fd >= 0)
        close(fd);
    return answer;
}

void cli_warn_of_program(const char *name)
{
    struct gp_text path = {0};
    int found = find_program(name, &path) == 0;
    const char *how = found ? cli_gets_rights(gp_text_string(&path)) : NULL;
    if (how)
        gp_say("%s gets other rights than yours when it starts, %s: it cannot be profiled",
               path.data, how);
    else if (found && is_static(gp_text_string(&path)))
        gp_say("%s is linked statically: it cannot be profiled", path.data);
    if (found && cli_is_for_musl(gp_text_string(&path))) {
        gp_say("%s is linked with musl: it cannot be profiled, as CUDA needs glibc", path.data);
        cli_preload_less();
    }
    if (found && cli_is_linked_with_checker(gp_text_string(&path)))
        cli_let_preload();
    gp_text_free(&path);
}

int cli_say_not_started(const char *name, int error)
{
    struct gp_text path = {0};
    const char *command = error == ENOENT ? cli_nearest_command(name) : NULL;
    if (!*name)
        gp_say("the program's name is empty");
    else if (error == ENOENT && find_program(name, &path) == 0)
        gp_say("%s: the interpreter or dynamic linker that it names is not there", name);
    else
        gp_say("%s: %s%s%s%s", name, strerror(error), command ? "; did you mean 'gpuprof " : "",
               command ? command : "", command ? "'?" : "");
    gp_text_free(&path);
    return error == ENOENT ? 127 : 126;
}
