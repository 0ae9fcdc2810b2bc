// The parts that kernels.cu and causes.cu share: memory, and the list of their cases.
#ifndef GPUPROF_ADVICE_COMMON_H
#define GPUPROF_ADVICE_COMMON_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <sys/time.h>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

static int sms;
static const int LAUNCHES = 4;

template <class T> static T *allocate(size_t count)
{
    T *p;
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    CHECK(cudaMemset(p, 0, count * sizeof(T)));
    return p;
}

struct Case {
    const char *name, *rule; // of a control: rules that it must not get, "*": any
    bool pair;
    void (*run)(bool before);
    const char *metrics;   // that it takes beyond the default
    const char *diagnosis; // "full": with samples; nullptr: without
};

template <size_t COUNT> static int run_cases(const Case (&cases)[COUNT], int argc, char **argv)
{
    if (argc > 1 && !std::strcmp(argv[1], "--list")) {
        for (auto &c : cases)
            std::printf("%s %s %s default%s %s\n", c.pair ? "pair" : "control", c.name, c.rule,
                        c.metrics ? c.metrics : "", c.diagnosis ? c.diagnosis : "off");
        return 0;
    }
    int device;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    for (auto &c : cases) {
        if (argc < 2 || std::strcmp(argv[1], c.name))
            continue;
        c.run(argc > 2 && !std::strcmp(argv[2], "before"));
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        return 0;
    }
    std::fprintf(stderr, "%s NAME before|after, or --list\n", argv[0]);
    return 2;
}

#endif
