/* How fast gpuprof's own kernels are, beside the driver's copy from device to device in the same run. No
 * test: run by hand, without gpuprof.
 *
 *   bandwidth_drv build/obj/device.fatbin [MB]
 *
 * Prints for each kernel its time and the bytes it moves a second (read and written), absolutely and as
 * a share of the copy's; the best of several runs. */
#include "driver.h"
#include "../../../src/memory/work.h"
#include <vector>

static CUmodule module;
static CUstream stream;
static double copy_speed;

template <typename Start> static double best_ms(Start start)
{
    CUevent from, to;
    float best = 1e9f, ms;
    DRIVER(cuEventCreate(&from, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&to, CU_EVENT_DEFAULT));
    for (int i = 0; i < 10; i++) {
        DRIVER(cuEventRecord(from, stream));
        start();
        DRIVER(cuEventRecord(to, stream));
        DRIVER(cuEventSynchronize(to));
        DRIVER(cuEventElapsedTime(&ms, from, to));
        best = ms < best ? ms : best;
    }
    DRIVER(cuEventDestroy(from));
    DRIVER(cuEventDestroy(to));
    return best;
}

static double report(const char *what, double ms, double bytes)
{
    double speed = bytes / ms * 1e-6;
    printf("%-34s %9.3f ms %8.0f GB/s", what, ms, speed);
    if (copy_speed)
        printf(" %5.0f %% of the copy", 100 * speed / copy_speed);
    printf("\n");
    return speed;
}

static void start(const char *name, unsigned long long units, void **arguments)
{
    CUfunction f;
    int per_sm, sms;
    DRIVER(cuModuleGetFunction(&f, module, name));
    DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, GP_UNIT_THREADS, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    unsigned long long blocks = (unsigned long long)per_sm * sms;
    DRIVER(cuLaunchKernel(f, (unsigned)(units < blocks ? units : blocks), 1, 1, GP_UNIT_THREADS, 1,
                          1, 0, stream, arguments, NULL));
}

template <typename T> static CUdeviceptr upload(const std::vector<T> &values)
{
    CUdeviceptr p;
    DRIVER(cuMemAlloc(&p, values.size() * sizeof(T)));
    DRIVER(cuMemcpyHtoD(p, values.data(), values.size() * sizeof(T)));
    return p;
}

int main(int argc, char **argv)
{
    REQUIRE(argc > 1, "usage: bandwidth_drv build/obj/device.fatbin [MB]");
    size_t bytes = (size_t)argument(argc, argv, 2, 4096, 1, 60000) << 20;
    use_primary_context();
    DRIVER(cuModuleLoad(&module, argv[1]));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr live, saved, answer, marks, list, hashes;
    DRIVER(cuMemAlloc(&live, bytes));
    DRIVER(cuMemAlloc(&saved, bytes));
    DRIVER(cuMemAlloc(&answer, sizeof(gp_answer)));
    DRIVER(cuMemAlloc(&marks, 4096));
    DRIVER(cuMemAlloc(&list, 4096));
    DRIVER(cuMemAlloc(&hashes, 4096));
    DRIVER(cuMemsetD8(live, 1, bytes));
    DRIVER(cuMemsetD8(answer, 0, sizeof(gp_answer)));
    DRIVER(cuMemsetD8(marks, 0, 4096));

    gp_segment segment = {live, saved, bytes, live, 0};
    std::vector<gp_range> ranges = {{live, live + bytes}, {saved, saved + bytes}};
    if (saved < live)
        std::swap(ranges[0], ranges[1]);
    std::vector<uint32_t> high(GP_HIGH_HALVES / 32, 0);
    for (const gp_range &r : ranges)
        for (uint64_t h = r.start >> 32; h <= r.end >> 32; h++)
            high[h / 32] |= 1u << h % 32;
    gp_table table = {upload(ranges),   marks,         list, upload(high),
                      ranges[0].start, ranges[1].end, ranges.size()};
    CUdeviceptr segments = upload(std::vector<gp_segment>{segment});
    CUdeviceptr tables = upload(std::vector<gp_table>{table});
    uint32_t count = 1, round = 1;
    uint64_t begin = 0, units = (bytes + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES;

    printf("%zu MB\n", bytes >> 20);
    copy_speed = report("cuMemcpyDtoDAsync",
                        best_ms([&] { DRIVER(cuMemcpyDtoDAsync(saved, live, bytes, stream)); }),
                        2.0 * bytes);
    void *copy[] = {&segments, &count, &begin, &units, &tables, &answer, &round};
    report("gp_copy", best_ms([&] { start("gp_copy", units, copy); }), 2.0 * bytes);
    report("gp_copy_and_follow, no pointers",
           best_ms([&] { start("gp_copy_and_follow", units, copy); }), 2.0 * bytes);
    void *rewind[] = {&segments, &count, &units, &answer};
    report("gp_compare", best_ms([&] { start("gp_compare", units, rewind); }), 2.0 * bytes);
    report("gp_rewind, nothing changed", best_ms([&] { start("gp_rewind", units, rewind); }),
           2.0 * bytes);
    report("gp_rewind, all changed", best_ms([&] {
               DRIVER(cuMemsetD8Async(live, 2, bytes, stream));
               start("gp_rewind", units, rewind);
           }) - best_ms([&] { DRIVER(cuMemsetD8Async(live, 2, bytes, stream)); }),
           3.0 * bytes);
    void *hash[] = {&segments, &count, &units, &hashes};
    report("gp_hash", best_ms([&] { start("gp_hash", units, hash); }), 1.0 * bytes);
    uint64_t all = bytes;
    void *read[] = {&live, &all, &answer};
    report("gp_read_all", best_ms([&] { start("gp_read_all", units, read); }), 1.0 * bytes);

    /* Floats between 1 and 2; small numbers; pointers into one buffer; pointers into either. */
    static const char *const names[] = {"floats", "small numbers", "pointers here",
                                        "pointers everywhere"};
    size_t some = bytes < ((size_t)1 << 30) ? bytes : (size_t)1 << 30;
    std::vector<uint64_t> words(some / 8);
    uint64_t part = some / GP_UNIT_BYTES, random = 1;
    for (int kind = 0; kind < 4; kind++) {
        for (uint64_t &w : words) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t r = random >> 20;
            w = kind == 0   ? 0x3f8000003f800000 | (r & 0x007fffff007fffff)
                : kind == 1 ? r & 0x0000ffff0000ffff
                            : (kind == 3 && r & 1 ? saved : live) + r % bytes;
        }
        DRIVER(cuMemcpyHtoD(live, words.data(), some));
        void *arguments[] = {&segments, &count, &begin, &part, &tables, &answer, &round};
        char text[64];
        snprintf(text, sizeof(text), "gp_copy_and_follow, %s", names[kind]);
        report(text, best_ms([&] { start("gp_copy_and_follow", part, arguments); }), 2.0 * some);
    }
    return 0;
}
