/* A part of the simulated CUPTI that is a library of its own, as the real one has: it is opened by
 * its name, with RTLD_DEEPBIND, and holds nothing. */
int gpusim_nvperf_host(void);

int gpusim_nvperf_host(void)
{
    return 0;
}
