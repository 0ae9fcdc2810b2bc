#include "cli/disassemble.h"

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "code/instruction.h"
#include "code/mnemonic.h"

#include <ctype.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- our own names --------------------------------------------------------------------------- */

void cli_add_instruction(const void *code, int cc, struct gp_text *out)
{
    const struct gp_instruction i = gp_instruction_decode(code, cc);
    const char *name = gp_mnemonic(code, cc);
    char predicate[GP_PREDICATE_SIZE];
    gp_predicate_text(code, cc, predicate);
    if (name)
        gp_text_addf(out, "%s%s", predicate, name);
    else
        gp_text_addf(out, "%sopcode 0x%03x", predicate, i.opcode);
    if (i.bytes)
        gp_text_addf(out, ", %u bytes a thread", i.bytes);
}

static char *own_text(const unsigned char *code, int cc)
{
    struct gp_text text = {0};
    cli_add_instruction(code, cc, &text);
    return text.failed ? NULL : text.data;
}

/* ---- nvdisasm -------------------------------------------------------------------------------- */

/* Runs it with its output into `out`; false where there is none, or it fails. */
static bool run(const char *path, const char *chip, const char *file, struct gp_text *out)
{
    int ends[2];
    pid_t child;
    char *const arguments[] = {(char *)path, "-b", (char *)chip, (char *)file, NULL};
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    bool started = posix_spawnp(&child, path, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char part[4096];
    ssize_t n;
    while (started && (n = read(ends[0], part, sizeof(part))) > 0)
        gp_text_add_bytes(out, part, (size_t)n);
    close(ends[0]);
    int status = -1;
    return started && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0 && !out->failed;
}

static bool ask(const char *chip, const char *file, struct gp_text *out)
{
    const char *toolkit = secure_getenv("CUDA_HOME");
    char path[4096];
    if (run("nvdisasm", chip, file, out))
        return true;
    gp_text_clear(out);
    snprintf(path, sizeof(path), "%s/bin/nvdisasm",
             toolkit && *toolkit ? toolkit : "/usr/local/cuda");
    return run(path, chip, file, out);
}

/* Takes lines apart that begin with the offset in a comment and end in a semicolon. */
static void take_lines(char *listing, char **texts, size_t count)
{
    char *rest = NULL;
    for (char *line = strtok_r(listing, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned long offset;
        int used = 0;
        while (isspace((unsigned char)*line))
            line++;
        if (sscanf(line, "/*%lx*/ %n", &offset, &used) != 1 || !used)
            continue;
        char *text = line + used, *end = strstr(text, ";");
        size_t index = offset / GP_INSTRUCTION_BYTES;
        if (end)
            *end = '\0';
        for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
            *--end = '\0';
        if (index < count && !texts[index])
            texts[index] = strdup(text);
    }
}

static bool by_nvdisasm(const void *code, size_t size, int cc, char **texts)
{
    char chip[16];
    struct gp_text out = {0}, name = {0};
    gp_add_temporary("gpuprof-code", &name);
    char *file = name.data;
    int fd = name.failed ? -1 : mkstemp(file);
    if (fd < 0) {
        gp_text_free(&name);
        return false;
    }
    bool written = gp_write_all(fd, code, size) == 0;
    close(fd);
    snprintf(chip, sizeof(chip), "SM%d", cc);
    bool done = written && ask(chip, file, &out) && out.length > 0;
    unlink(file);
    if (done)
        take_lines(out.data, texts, size / GP_INSTRUCTION_BYTES);
    gp_text_free(&out);
    gp_text_free(&name);
    return done && texts[0];
}

char **cli_disassemble(const void *code, size_t size, int cc, const char **by)
{
    size_t count = size / GP_INSTRUCTION_BYTES;
    char **texts = calloc(count + 1, sizeof(*texts));
    if (!texts)
        return NULL;
    *by = by_nvdisasm(code, size, cc, texts) ? "nvdisasm" : "our own names: there is no nvdisasm";
    for (size_t i = 0; i < count; i++)
        if (!texts[i])
            texts[i] = own_text((const unsigned char *)code + i * GP_INSTRUCTION_BYTES, cc);
    return texts;
}

void cli_forget_texts(char **texts, size_t size)
{
    for (size_t i = 0; texts && i < size / GP_INSTRUCTION_BYTES; i++)
        free(texts[i]);
    free(texts);
}
