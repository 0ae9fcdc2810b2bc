/* Files that make has put beside the tests. */
#ifndef GPUPROF_TESTS_BESIDE_H
#define GPUPROF_TESTS_BESIDE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A file with a '\0' behind it, to be freed; NULL where it is not there. */
static inline char *read_if_there(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    bytes[*size] = '\0';
    fclose(f);
    return bytes;
}

/* A file in ../tests, seen from the program, with a '\0' behind it, to be freed; NULL where it is
 * not there. */
static inline char *read_beside(const char *name, size_t *size)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
    assert_true(length > 0);
    path[length] = '\0';
    snprintf(strrchr(path, '/'), 64, "/../tests/%s", name);
    return read_if_there(path, size);
}

#endif
