/* The command `gpuprof` that started the program and waits for its end, if it did. It has a folder
 * for the time of the run (GPUPROF_FOLDER). */
#include "launch/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Files of the folder. The second is there from the start, so that a full disk has room for it; the
 * third, with the number of a process behind it, is empty. */
#define PROFILE "launches.jsonl"
#define UNWRITTEN "unwritten"
#define ENDED "ended."

static bool add_path(const char *file, struct gp_text *path)
{
    const char *folder = secure_getenv("GPUPROF_FOLDER");
    if (!folder || !*folder)
        return false;
    gp_text_addf(path, "%s/%s", folder, file);
    return !path->failed;
}

bool command_profile(struct gp_text *path)
{
    return add_path(PROFILE, path);
}

void command_note_unwritten(void)
{
    static bool noted;
    struct gp_text path = {0};
    const int saved = errno;
    if (!noted && add_path(UNWRITTEN, &path)) {
        int fd = open(path.data, O_WRONLY | O_CLOEXEC);
        /* Where the folder is gone nobody asks any more. */
        noted = fd >= 0 && write(fd, "1", 1) == 1;
        if (fd >= 0)
            close(fd);
    }
    gp_text_free(&path);
    errno = saved;
}

void command_note_ended(void)
{
    char name[32];
    struct gp_text path = {0};
    const int saved = errno;
    snprintf(name, sizeof(name), ENDED "%ld", (long)getpid());
    if (add_path(name, &path)) {
        int fd = open(path.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
    }
    gp_text_free(&path);
    errno = saved;
}
