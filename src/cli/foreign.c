#include "cli/foreign.h"

#include <stdbool.h>
#include <string.h>

#define KERNELS_ONLY "gpuprof measures kernels; Nsight Systems (nsys) shows the work of the host"
#define REPORT "read a profile with 'gpuprof report FILE'"
#define FIXED_FORM "the report's form is fixed; 'gpuprof report --columns LIST' chooses columns"
#define ONE_PROCESS "gpuprof runs in the program's own process"

const struct cli_foreign cli_foreign_options[] = {
    {"--analysis-metrics", "nvprof", "use --metrics all, then 'gpuprof report'"},
    {"--annotate-mpi", "nvprof", KERNELS_ONLY},
    {"--concurrent-kernels", "nvprof", "kernels are measured one at a time, always"},
    {"--continuous-sampling-interval", "nvprof", "counters are read for whole launches"},
    {"--context-name", "nvprof", "contexts have numbers: 1 is the first that is used"},
    {"--cpu-profiling", "nvprof", KERNELS_ONLY},
    {"--cpu-profiling-*", "nvprof", KERNELS_ONLY},
    {"--cpu-thread-tracing", "nvprof", KERNELS_ONLY},
    {"--dependency-analysis", "nvprof", KERNELS_ONLY},
    {"--device-buffer-size", "nvprof", "no buffer needs a size here"},
    {"--device-cdp-buffer-size", "nvprof", "no buffer needs a size here"},
    {"--event-collection-mode", "nvprof", "counters are read for whole launches"},
    {"--import-profile", "nvprof", REPORT},
    {"-i", "nvprof", REPORT},
    {"--import", "ncu", REPORT},
    {"--kernel-latency-timestamps", "nvprof", KERNELS_ONLY},
    {"--openacc-profiling", "nvprof", KERNELS_ONLY},
    {"--openacc-summary-mode", "nvprof", KERNELS_ONLY},
    {"--openmp-profiling", "nvprof", KERNELS_ONLY},
    {"--pc-sampling-period", "nvprof", "use --metrics stalls for the waits of warps"},
    {"--print-api-summary", "nvprof", KERNELS_ONLY},
    {"--print-api-trace", "nvprof", KERNELS_ONLY},
    {"--print-dependency-analysis-trace", "nvprof", KERNELS_ONLY},
    {"--print-nvlink-topology", "nvprof", "'nvidia-smi topo -m' shows it"},
    {"--print-openacc-constructs", "nvprof", KERNELS_ONLY},
    {"--print-openacc-summary", "nvprof", KERNELS_ONLY},
    {"--print-openacc-trace", "nvprof", KERNELS_ONLY},
    {"--print-openmp-summary", "nvprof", KERNELS_ONLY},
    {"--print-summary-per-gpu", "nvprof", "the summary names the GPU of each kernel"},
    {"--process-name", "nvprof", "name the profile after the process: -o 'run.%p.jsonl'"},
    {"--profile-all-processes", "nvprof", "start each program with gpuprof, or set LD_PRELOAD"},
    {"--profile-api-trace", "nvprof", KERNELS_ONLY},
    {"--profiling-semaphore-pool-size", "nvprof", "no buffer needs a size here"},
    {"--skip-kernel-replay-save-restore", "nvprof", "use --replay off, which replays nothing"},
    {"--source-level-analysis", "nvprof", "use 'gpuprof source' on a profile"},
    {"-a", "nvprof", "use 'gpuprof source' on a profile"},
    {"--stream-name", "nvprof", "streams have numbers: 0 is the default stream"},
    {"--system-profiling", "nvprof", "'nvidia-smi dmon' shows power, clocks and temperature"},
    {"--thread-name", "nvprof", "threads of the host have no names here; " KERNELS_ONLY},
    {"--trace", "nvprof", "use --print-gpu-trace; " KERNELS_ONLY},
    {"--track-memory-allocations", "nvprof", KERNELS_ONLY},
    {"--unified-memory-profiling", "nvprof", KERNELS_ONLY},
    {"-s", "nvprof and ncu", "write --print-gpu-summary or --launch-skip"},
    {"--app-replay-buffer", "ncu", "the program runs once"},
    {"--app-replay-match", "ncu", "the program runs once"},
    {"--app-replay-mode", "ncu", "the program runs once"},
    {"--apply-rules", "ncu", "the report has the advice"},
    {"--call-stack", "ncu", KERNELS_ONLY},
    {"--capture-range-end", "nsys",
     "each range from cudaProfilerStart to cudaProfilerStop is measured, and the program runs on; "
     "--duration and --launches end it sooner"},
    {"--check-exit-code", "ncu", "the exit status is the program's own"},
    {"--chips", "ncu", "use 'gpuprof metrics --cc X.Y'"},
    {"--clock-control", "ncu", "clocks stay as they are; fix them with 'nvidia-smi -lgc'"},
    {"--config-file", "ncu", "options are read from the command line and from GPUPROF_ variables"},
    {"--disable-extra-suffixes", "ncu", "a counter is asked for with its end: dram__bytes.sum"},
    {"--disable-profiler-start-stop", "ncu",
     "cudaProfilerStart and cudaProfilerStop change nothing without --profile-from-start"},
    {"--filter-mode", "ncu",
     "launches count over all GPUs; use --devices for one GPU, --sample first:N for each kernel "
     "and "
     "launch configuration"},
    {"--graph-profiling", "ncu", "kernels of graphs are measured one by one, always"},
    {"--import-source", "ncu", "use 'gpuprof source' on a profile"},
    {"--hostname", "ncu", ONE_PROCESS},
    {"--kernel-name-base", "ncu", "a name matches mangled or demangled"},
    {"--kill", "ncu",
     "the program runs on behind the last launch of --launch-count; --timeout ends it"},
    {"--launch-skip-before-match", "ncu", "use --launch-skip, which counts launches that match"},
    {"--list-rules", "ncu", "docs/advice.md lists the rules; the report has the advice"},
    {"--list-sections", "ncu", "'gpuprof metrics' lists metrics and sets"},
    {"--list-sets", "ncu", "'gpuprof metrics' lists metrics and sets"},
    {"--mode", "ncu", ONE_PROCESS},
    {"--nvtx", "ncu", "choose launches with --kernels, --launch-skip and --launch-count"},
    {"--nvtx-include", "ncu", "choose launches with --kernels, --launch-skip and --launch-count"},
    {"--nvtx-exclude", "ncu", "choose launches with --kernels, --launch-skip and --launch-count"},
    {"--page", "ncu", "use 'gpuprof report --print VIEW'"},
    {"--print-details", "ncu", "use 'gpuprof report'"},
    {"--print-fp", "ncu", FIXED_FORM},
    {"--print-kernel-base", "ncu", "use --demangling off for the names that the compiler made"},
    {"--print-metric-*", "ncu", FIXED_FORM},
    {"--print-nvtx-rename", "ncu", "a kernel has its own name"},
    {"--print-rule-details", "ncu", "the report has the advice with its figures"},
    {"--print-units", "ncu",
     "units fit the values; use --normalized-time-unit for times, and "
     "'gpuprof report --print json' for base units"},
    {"--pm-sampling-*", "ncu", "counters are read for whole launches"},
    {"--query-metrics-*", "ncu",
     "--query-metrics lists metrics, a pattern as --metrics 'dram__*' asks for counters"},
    {"--range-filter", "ncu", "choose launches with --launch-skip and --launch-count"},
    {"--rule", "ncu", "the report has the advice"},
    {"--sampling-*", "ncu", "use --metrics stalls for the waits of warps"},
    {"--section", "ncu", "use --metrics with the names of metrics or sets"},
    {"--section-folder", "ncu", "define metrics in a file: GPUPROF_METRICS_PATH"},
    {"--set", "ncu", "use --metrics with the name of a set"},
    {"--source-folders", "ncu", "use 'gpuprof source --source-path DIR' on a profile"},
    {"--target-processes-filter", "ncu",
     "start the process that matters with gpuprof, or say --target-processes application-only"},
    {"--verbose", "ncu", "messages are on standard error, or in the file of --log"},
    {"--warp-sampling-*", "ncu", "use --metrics stalls for the waits of warps"},
};
const size_t cli_foreign_count = sizeof(cli_foreign_options) / sizeof(cli_foreign_options[0]);

#define COMPARE "did you mean 'gpuprof compare A B'?"
#define SHOW "did you mean 'gpuprof report FILE'?"
#define PAGE "did you mean 'gpuprof report --html PAGE FILE'?"
#define LINES "did you mean 'gpuprof source FILE KERNEL'?"
#define RUN "did you mean 'gpuprof [-o FILE] PROGRAM'?"
#define LIST "did you mean 'gpuprof metrics'?"
#define WHOLE_PROGRAM "a program is measured from its start to its end, without a session"
#define NO_SEARCH "gpuprof counts work; compute-sanitizer and valgrind search for mistakes"

/* Programs of these names are run by `gpuprof run NAME`. */
static const struct cli_foreign_word words[] = {
    {"diff", "perf, uftrace and go tool pprof", COMPARE},
    {"cmp comparison", "other profilers", COMPARE},
    {"open show view display print import load", "other profilers", SHOW},
    {"stats summary analyze analyse", "nsys and rocprof-compute", SHOW},
    {"replay info dump", "uftrace", SHOW},
    {"evlist", "perf", SHOW},
    {"export", "nsys", "use 'gpuprof report --print json FILE', --print launches or --csv"},
    {"script", "perf", "use 'gpuprof report --print launches FILE', --print json or --csv"},
    {"merge", "other profilers", "use 'gpuprof report --merge FILE...'"},
    {"gui ui tui web browse timeline timechart", "other profilers", PAGE},
    {"annotate", "perf and callgrind", LINES},
    {"disasm weblist", "go tool pprof", "use 'gpuprof source --sass FILE KERNEL'"},
    {"stat record", "perf", RUN},
    {"profile", "nsys and rocprof-compute", RUN},
    {"collect", "vtune and gprofng", RUN},
    {"instrument sample causal", "rocprof-sys", RUN},
    {"top live trace", "perf and uftrace", RUN},
    {"list", "perf", LIST},
    {"avail query", "rocprof-sys and other profilers", LIST},
    {"launch start stop cancel status sessions shutdown", "nsys", WHOLE_PROGRAM},
    {"recipe", "nsys", "use 'gpuprof report --merge' or --side-by-side for several profiles"},
    {"cachegrind callgrind massif dhat", "valgrind", KERNELS_ONLY},
    {"memcheck helgrind drd", "valgrind and compute-sanitizer", NO_SEARCH},
    {"racecheck initcheck synccheck", "compute-sanitizer", NO_SEARCH},
    {"version", "perf", "did you mean 'gpuprof --version'?"},
};

/* Whether `word` is one of those with blanks between them. */
static bool is_one_of(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (size_t size; *words; words += size + strspn(words + size, " ")) {
        size = strcspn(words, " ");
        if (size == length && strncmp(words, word, length) == 0)
            return true;
    }
    return false;
}

const struct cli_foreign_word *cli_foreign_find_word(const char *word)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is_one_of(words[i].words, word))
            return &words[i];
    return NULL;
}

/* Whether the first `length` letters of the word are the option; one that ends in * stands for all
 * that begin like it. A value may stick to a single letter. */
static bool is_option(const char *option, const char *word, size_t length)
{
    const size_t size = strlen(option);
    if (option[size - 1] == '*')
        return length >= size && strncmp(option, word, size - 1) == 0;
    return (size == length || (size == 2 && option[1] != '-' && length > 2)) &&
           strncmp(option, word, size) == 0;
}

const struct cli_foreign *cli_foreign_find(const char *word)
{
    const size_t length = strcspn(word, "=");
    for (size_t i = 0; i < cli_foreign_count; i++)
        if (is_option(cli_foreign_options[i].option, word, length))
            return &cli_foreign_options[i];
    return NULL;
}
