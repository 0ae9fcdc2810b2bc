#include "base/checker.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define CHECKS_US
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECKS_US
#endif

/* Our own work is to be checked where it is built so. */
#ifdef CHECKS_US
bool gp_checker_is_here(void)
{
    return true;
}

void gp_checker_begins(void)
{
}

void gp_checker_rests(void)
{
}

void gp_checker_goes_on(void)
{
}
#else
/* The runtimes' functions are in the program's own file or in a library; NULL where a runtime is
 * not there. */
#define WEAK __attribute__((weak))
WEAK void __asan_init(void);
WEAK void __hwasan_init(void);
WEAK void __tsan_init(void);
WEAK void __msan_init(void);
WEAK void __lsan_disable(void);
WEAK void __lsan_enable(void);
WEAK void __msan_scoped_disable_interceptor_checks(void);
WEAK void __msan_scoped_enable_interceptor_checks(void);
WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);

bool gp_checker_is_here(void)
{
    return __asan_init || __hwasan_init || __tsan_init || __msan_init;
}

void gp_checker_begins(void)
{
    if (__msan_init)
        __msan_init();
}

void gp_checker_rests(void)
{
    if (__lsan_disable && __lsan_enable)
        __lsan_disable();
    if (__msan_scoped_disable_interceptor_checks && __msan_scoped_enable_interceptor_checks)
        __msan_scoped_disable_interceptor_checks();
    if (__tsan_init && AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
}

void gp_checker_goes_on(void)
{
    if (__tsan_init && AnnotateIgnoreReadsEnd && AnnotateIgnoreWritesEnd) {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
    if (__msan_scoped_disable_interceptor_checks && __msan_scoped_enable_interceptor_checks)
        __msan_scoped_enable_interceptor_checks();
    if (__lsan_disable && __lsan_enable)
        __lsan_enable();
}
#endif
