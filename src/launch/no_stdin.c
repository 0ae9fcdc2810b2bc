/* Jansson's parser knows standard input, for a function that nobody calls here. Its archive is not
 * made for shared libraries and cannot refer to a variable of libc's, so the linker gives it this
 * one (--wrap=stdin in the Makefile). */
#include <stddef.h>

extern void *__wrap_stdin; /* NOLINT: the linker's name */
void *__wrap_stdin = NULL;
