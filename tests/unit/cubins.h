/* The kernels in cubins that nvcc made of the tests' own. */
#ifndef GPUPROF_TESTS_CUBINS_H
#define GPUPROF_TESTS_CUBINS_H

#include "beside.h"
#include "code/cubin.h"

static inline bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Returns whether the kernel is one of those that are checked. */
typedef bool check_code(const char *name, int cc, const char *code, size_t size);

static inline unsigned check_cubin(const char *image, size_t size, int cc, check_code *check)
{
    static const char text[] = ".text.";
    struct gp_cubin cubin;
    Elf64_Shdr section;
    unsigned kernels = 0;
    assert_true(gp_cubin_open(&cubin, image, size));
    for (unsigned i = 1; i < cubin.count; i++) {
        const char *name = gp_cubin_section_name(&cubin, i);
        if (begins(name, text) && gp_cubin_find(&cubin, name, &section))
            kernels += check(name + strlen(text), cc, image + section.sh_offset, section.sh_size);
    }
    return kernels;
}

/* FILE.CC.cubin of each generation whose encodings differ, if the toolkit knows it, has so many of
 * them. */
static inline void check_cubins(const char *file, check_code *check, unsigned kernels)
{
    static const int capabilities[] = {75, 80, 90, 100, 120};
    unsigned cubins = 0;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        char name[32];
        size_t size;
        snprintf(name, sizeof(name), "%s.%d.cubin", file, capabilities[i]);
        char *image = read_beside(name, &size);
        if (!image)
            continue;
        assert_int_equal(check_cubin(image, size, capabilities[i], check), kernels);
        free(image);
        cubins++;
    }
    assert_true(cubins >= 2);
}

#endif
