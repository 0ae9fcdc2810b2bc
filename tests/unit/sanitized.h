/* Whether this program is built with the address sanitizer. CUPTI loads its parts with
 * RTLD_DEEPBIND, with which that does not work. */
#ifndef GPUPROF_TESTS_SANITIZED_H
#define GPUPROF_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
