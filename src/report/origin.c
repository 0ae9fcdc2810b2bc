#include "report/origin.h"

#include "report/advice.h"
#include "report/lines.h"

#include <stdlib.h>
#include <string.h>

/* Parts of the names, in the order in which they are searched for: PyTorch has kernels of CUTLASS
 * and CUB in namespaces of its own. */
static const struct {
    const char *part;
    enum gp_origin origin;
    bool in_own_name; /* the program's own kernels have such types among their arguments */
} parts[] = {
    {"ncclDevKernel", GP_OF_NCCL, false},
    {"ncclKernel", GP_OF_NCCL, false},
    {"nvshmem", GP_OF_NCCL, false},
    {"at::native", GP_OF_PYTORCH, false},
    {"at::cuda", GP_OF_PYTORCH, false},
    {"at_cuda_detail", GP_OF_PYTORCH, false},
    {"c10::", GP_OF_PYTORCH, true},
    {"softmax_warp_", GP_OF_PYTORCH, true},
    {"pytorch_flash", GP_OF_PYTORCH, false},
    {"fmha_cutlass", GP_OF_PYTORCH, false},
    {"stream_executor", GP_OF_XLA, false},
    {"xla::", GP_OF_XLA, false},
    {"cupy_", GP_OF_CUPY, false},
    {"cudapy", GP_OF_NUMBA, false},
    {"cub::", GP_OF_CUB, true},
    {"thrust::", GP_OF_CUB, true},
};

/* At the begin of the name alone. */
static const struct {
    const char *part;
    enum gp_origin origin;
} begins[] = {
    {"triton_", GP_OF_TRITON}, /* of PyTorch's compiler */
    {"wrapped_", GP_OF_XLA},
};

/* "fusion", "fusion_12", "loop_add_fusion_3": no name of C++, whose symbols are mangled. */
static bool is_fusion(const char *kernel)
{
    static const char fusion[] = "fusion";
    const char *found = strstr(kernel, fusion);
    if (strncmp(kernel, "_Z", 2) == 0 || strchr(kernel, '(') || !found)
        return false;
    char before = found > kernel ? found[-1] : '_', behind = found[strlen(fusion)];
    return before == '_' && (behind == '_' || behind == '\0');
}

/* The length of "void space::(anonymous namespace)::kernel", without its arguments. */
static size_t own_length(const char *full_name)
{
    static const char unnamed[] = "(anonymous namespace)";
    size_t length = 0;
    for (;;) {
        length += strcspn(full_name + length, "<(");
        if (strncmp(full_name + length, unnamed, strlen(unnamed)) != 0)
            return length;
        length += strlen(unnamed);
    }
}

static bool has_part(const char *kernel, const char *full_name, size_t i)
{
    const char *found = strstr(full_name, parts[i].part);
    if (parts[i].in_own_name)
        return found && (size_t)(found - full_name) < own_length(full_name);
    return found || strstr(kernel, parts[i].part);
}

/* A kernel whose source is Python was compiled by Triton, where no name says otherwise. */
static int is_of_python(const struct gp_lines *lines)
{
    unsigned line;
    char *path = lines ? gp_lines_begin(lines, &line) : NULL;
    size_t length = path ? strlen(path) : 0;
    int is_python = length > 3 && strcmp(path + length - 3, ".py") == 0;
    free(path);
    return is_python;
}

enum gp_origin gp_origin_of(const char *kernel, const char *full_name, const struct gp_lines *lines)
{
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (strncmp(kernel, begins[i].part, strlen(begins[i].part)) == 0)
            return begins[i].origin;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (has_part(kernel, full_name, i))
            return parts[i].origin;
    if (is_fusion(kernel))
        return GP_OF_XLA;
    if (gp_is_library_kernel(full_name))
        return GP_OF_LIBRARIES;
    return is_of_python(lines) ? GP_OF_TRITON : GP_OF_PROGRAM;
}

bool gp_origin_is_ready_made(enum gp_origin origin)
{
    return origin == GP_OF_LIBRARIES || origin == GP_OF_NCCL || origin == GP_OF_PYTORCH ||
           origin == GP_OF_XLA || origin == GP_OF_CUPY;
}

const char *gp_origin_title(enum gp_origin origin)
{
    static const char *const titles[GP_ORIGINS] = {
        [GP_OF_PROGRAM] = "the program's own",
        [GP_OF_LIBRARIES] = "libraries",
        [GP_OF_NCCL] = "NCCL",
        [GP_OF_PYTORCH] = "PyTorch",
        [GP_OF_TRITON] = "Triton",
        [GP_OF_XLA] = "XLA",
        [GP_OF_CUPY] = "CuPy",
        [GP_OF_NUMBA] = "Numba",
        [GP_OF_CUB] = "CUB and Thrust",
    };
    return titles[origin];
}
