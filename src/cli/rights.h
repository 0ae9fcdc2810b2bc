/* Programs that get other rights than their caller's: into these the dynamic linker takes no
 * library from the caller. */
#ifndef GPUPROF_CLI_RIGHTS_H
#define GPUPROF_CLI_RIGHTS_H

/* The program at this path, or the interpreter that it names ("#!"), whose path is kept in `room`,
 * of CLI_LONGEST_PATH bytes. */
#define CLI_LONGEST_PATH 256
const char *cli_interpreter_of(const char *path, char *room);

/* How the program at this path, or the interpreter that it names, gets them: "as a set-user-ID
 * program"; NULL where it gets none. */
const char *cli_gets_rights(const char *path);

#endif
