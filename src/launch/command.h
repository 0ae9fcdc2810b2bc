/* The command `gpuprof` that started the program and waits for its end, if it did. It has a folder
 * for the time of the run (GPUPROF_FOLDER). */
#ifndef GPUPROF_LAUNCH_COMMAND_H
#define GPUPROF_LAUNCH_COMMAND_H

#include "base/text.h"

#include <stdbool.h>

/* Adds the name of the profile that the command reads where this process is killed, and the user
 * asked for none; false where it wants none. */
bool command_profile(struct gp_text *path);

/* Tells the command that a profile was asked for and could not be written. */
void command_note_unwritten(void);

/* Tells the command that this process has come to its end, and reported, where its profile cannot
 * say so. */
void command_note_ended(void);

#endif
