/* For the command of the tarball (tools/make-tarball): the archive of SQLite there calls the log of
 * glibc 2.29. This is the earlier one, which differs in how it reports errors; linked with
 * -Wl,--wrap=log. */
#if defined(__x86_64__)
__asm__(".symver earlier_log, log@GLIBC_2.2.5");
#else
__asm__(".symver earlier_log, log@GLIBC_2.17");
#endif
double earlier_log(double x);
double __wrap_log(double x);

double __wrap_log(double x)
{
    return earlier_log(x);
}
