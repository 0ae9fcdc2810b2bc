/* For the command of the tarball (tools/make-tarball): the archive of SQLite there calls functions of a later
 * glibc than the tarball may need. These call the earlier ones; linked with -Wl,--wrap=NAME. */
#include <fcntl.h>
#include <stdarg.h>

/* The log of glibc 2.29 differs from the earlier one in how it reports errors. */
#if defined(__x86_64__)
__asm__(".symver earlier_log, log@GLIBC_2.2.5");
#else
__asm__(".symver earlier_log, log@GLIBC_2.17");
#endif
double earlier_log(double x);
double __wrap_log(double x);
int __wrap_fcntl64(int file, int command, ...);

double __wrap_log(double x)
{
    return earlier_log(x);
}

/* glibc 2.28 gave a second name to one function: the two are the same where a file's offset has 64 bits. */
int __wrap_fcntl64(int file, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return fcntl(file, command, argument);
}
