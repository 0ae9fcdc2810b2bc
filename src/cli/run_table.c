#include "cli/run_options.h"

#include "check/format.h"

#define WHAT "Metrics"
#define WHICH "Launches"
#define WINDOW "Window, outside which launches are counted only"
#define HOW "Method"
#define OUTPUT "Output"
#define VERDICT "Thresholds"

#define ONE_FILTER                                                                                 \
    "one filter holds for all metrics and events here; join names, as in --kernels 'foo|bar', or " \
    "run the program once for each"

const struct cli_option run_options[RUN_OPTION_COUNT] = {
    [RUN_METRICS] = {"metrics", 'm', "LIST",
                     "metrics, sets and counters to measure, with commas between them; 'default', "
                     "'all' ('gpuprof metrics' lists them); prints nvprof's table of them, of a "
                     "set the report",
                     WHAT, NULL, "--metrics", "--metrics", 1, NULL},
    [RUN_EVENTS] = {"events", 'e', "LIST", "nvprof's events to measure, with commas between them",
                    WHAT, NULL, "--events", NULL, 1, NULL},
    [RUN_QUERY_METRICS] = {"query-metrics", 0, NULL, "list the metrics, and run nothing", WHAT,
                           NULL, "--query-metrics", "--query-metrics", 0, NULL},
    [RUN_QUERY_EVENTS] = {"query-events", 0, NULL, "list nvprof's events, and run nothing", WHAT,
                          NULL, "--query-events", NULL, 0, NULL},
    [RUN_AGGREGATE] = {"aggregate-mode", 0, "on",
                       "values are those of the whole GPU, which is nvprof's 'on'; there are none "
                       "for each multiprocessor",
                       WHAT, NULL, "--aggregate-mode", NULL, 0, NULL},
    [RUN_CHIP] = {"chip", 0, "NAME",
                  "the chip (GH100) for which names of counters are checked and patterns (*) "
                  "resolved; else that of this machine's GPU",
                  WHAT, NULL, NULL, "--chips", 0, NULL},

    [RUN_COPIES] =
        {"copies", 0, "on|off",
         "on: time, calls, bytes and throughput of memory copies and fills as well (off)", WHAT,
         NULL, NULL, NULL, 0, NULL},

    [RUN_KERNELS] =
        {"kernels", 'k', "FILTER",
         "only kernels whose name, mangled or demangled, matches this regular expression "
         "(Perl's syntax; also as regex:EXPRESSION), or "
         "CONTEXT:STREAM:NAME:INVOCATION, where NAME is such an expression, the others "
         "are numbers from 1 (stream 0: the default one), and each may be empty; it holds for all "
         "options, wherever it stands",
         WHICH, "kernel-name", "--kernels", "-k, --kernel-name", 0, ONE_FILTER},
    [RUN_KERNEL_ID] = {"kernel-id", 0, "CONTEXT:STREAM:NAME:INVOCATION", "as with --kernels", WHICH,
                       NULL, "--kernels", "--kernel-id", 0, ONE_FILTER},
    [RUN_LAUNCH_SKIP] = {"launch-skip", 0, "N",
                         "leave out the first N launches that the options above choose", WHICH,
                         NULL, NULL, "-s, --launch-skip", 0, NULL},
    [RUN_LAUNCH_COUNT] = {"launch-count", 'c', "N",
                          "measure N launches, then no more, and let the program run on", WHICH,
                          NULL, NULL, "-c, --launch-count", 0, NULL},
    [RUN_LAUNCHES] = {"launches", 0, "A:B",
                      "launches A to B-1 of all that the process makes, which have numbers from 0; "
                      "A: is all from A on, :B the first B",
                      WHICH, NULL, NULL, NULL, 0, NULL},
    [RUN_SAMPLE] = {"sample", 0, "RULE",
                    "only some launches of each kernel and launch configuration: the first N "
                    "(first:N), one in M (every:M), the first N and one in M of the later ones "
                    "(first:N,every:M), or ever fewer (auto)",
                    WHICH, NULL, NULL, NULL, 0, NULL},
    [RUN_OVERHEAD] = {"overhead", 0, "LIMIT",
                      "the most that measuring may add to the program: a share of its time so far "
                      "(3%), a time (2s, 500ms), or none; start-up is not counted. Launches that "
                      "are left out are timed, or counted (without --sample and --check: all is "
                      "measured until 5 s or the program's own time were added, then 3%)",
                      WHICH, NULL, NULL, NULL, 0, NULL},
    [RUN_DEVICES] = {"devices", 0, "LIST",
                     "only launches on these GPUs: numbers with commas between them, or 'all'",
                     WHICH, NULL, "--devices", "--devices", 0, NULL},
    [RUN_TARGET] = {"target-processes", 0, "all|application-only",
                    "whether processes that the program starts are measured as well (all)", WHICH,
                    NULL, NULL, "--target-processes", 0, NULL},
    [RUN_CHILDREN] = {"profile-child-processes", 0, NULL,
                      "as --target-processes all; put %p into the names of files", WHICH, NULL,
                      "--profile-child-processes", NULL, 0, NULL},

    [RUN_FROM_START] = {"profile-from-start", 0, "on|off",
                        "off: measure from cudaProfilerStart to cudaProfilerStop, each time that "
                        "the program calls them; on: from its start as well, up to the first "
                        "cudaProfilerStop; without this option these calls change nothing",
                        WINDOW, NULL, "--profile-from-start", "--profile-from-start", 0, NULL},
    [RUN_CAPTURE_RANGE] = {"capture-range", 0, "cudaProfilerApi|none",
                           "cudaProfilerApi: as --profile-from-start off, in nsys' words", WINDOW,
                           NULL, NULL, NULL, 0, NULL},
    [RUN_DELAY] = {"delay", 0, "TIME",
                   "measure nothing so long after the start of the process: 5, 5s, 500ms, 2m",
                   WINDOW, NULL, NULL, NULL, 0, NULL},
    [RUN_WARM_UP] = {"warm-up", 0, "LIMIT",
                     "measure nothing so long after the first launch, by time (5s, 500ms, 2m) or "
                     "by a number of launches",
                     WINDOW, NULL, NULL, NULL, 0, NULL},
    [RUN_DURATION] = {"duration", 0, "TIME",
                      "measure so long from the moment on at which measuring begins by the options "
                      "above, then no more, and let the program run on",
                      WINDOW, NULL, NULL, NULL, 0, NULL},

    [RUN_REPLAY] = {"replay", 0, "on|off|now",
                    "off: run no kernel more often than the program does; each launch is then "
                    "counted in part, launches of a kernel in turns; now: wait for each launch and "
                    "make all its runs there (on)",
                    HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_REPLAY_MODE] = {"replay-mode", 0, "kernel|disabled",
                         "the same in nvprof's words; the program as a whole is never run again",
                         HOW, NULL, "--replay-mode", "--replay-mode", 0, NULL},
    [RUN_CACHE] = {"cache-control", 0, "all|none",
                   "whether caches are emptied before a kernel is measured (all)", HOW, NULL, NULL,
                   "--cache-control", 0, NULL},
    [RUN_LINES] = {"lines", 0, "accesses|instructions",
                   "the counts for the lines of the source: accesses to memory and branches, "
                   "or every instruction, which makes the kernels that are counted so many times "
                   "slower (accesses)",
                   HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_DIAGNOSIS] =
        {"diagnosis", 0, "off|auto|full",
         "more counters, and where warps wait, and why, by samples of their instructions: of no "
         "kernel; of those that take most of the time, where that takes a tenth of the time of "
         "measuring; or of every kernel (auto)",
         HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_VERIFY] =
        {"verify", 0, "learn|always",
         "when to verify whether a kernel wrote memory that it was not seen to reach: at "
         "its first launches and now and then, or at every launch (learn)",
         HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_MEMORY] =
        {"memory", 0, "SIZE",
         "how much memory copies may take: a size (512M, 4G) or a share of the free memory "
         "(25%; of the host's 10%)",
         HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_KERNEL_TIMEOUT] =
        {"kernel-timeout", 0, "SECONDS",
         "how long a kernel that does not end by itself is waited for, the "
         "first time; all such waits together take less than twice that (1); a kernel "
         "that cannot wait for others gets 30 times as long",
         HOW, NULL, NULL, NULL, 0, NULL},
    [RUN_TIMEOUT] = {"timeout", 't', "SECONDS",
                     "end the program after so long, with SIGTERM; the launches so far are in the "
                     "profile",
                     HOW, NULL, "-t, --timeout", NULL, 0, NULL},

    [RUN_OUTPUT] = {"output", 'o', "FILE",
                    "write a profile for 'gpuprof report', compressed where the name ends in .zst; "
                    "%p stands for the process id, %h for the host, %q{NAME} for an environment "
                    "variable, %% for a percent sign; each further process that launches a kernel "
                    "has a file beside it, which is read with it",
                    OUTPUT, "export-profile export", "-o, --export-profile", "-o, --export", 0,
                    NULL},
    [RUN_FORCE] = {"force-overwrite", 'f', NULL,
                   "files are overwritten, with this option and without", OUTPUT, NULL,
                   "-f, --force-overwrite", "-f, --force-overwrite", 0, NULL},
    [RUN_LIMIT_PROFILE] = {"limit-profile", 0, "SIZE",
                           "the profile's file is never larger than this (100M, 2G; at least 1M): "
                           "beyond it kernels keep "
                           "their numbers of launches and their times as sums, and some launches, "
                           "evenly over the run, "
                           "their lines",
                           OUTPUT, NULL, NULL, NULL, 0, NULL},
    [RUN_LOG] = {"log", 0, "FILE",
                 "write the report and messages to this file instead of standard error; %p, %h, "
                 "%q{NAME}, %% as above",
                 OUTPUT, "log-file", "--log-file", "--log-file", 0, NULL},
    [RUN_METRICS_FILE] = {"metrics-file", 0, "FILE",
                          "write totals of the program as OpenMetrics to this file every ten "
                          "seconds and at the end, for "
                          "node_exporter's textfile collector (a name that ends in .prom) and the "
                          "like; %p, %h, %q{NAME}, "
                          "%% as above",
                          OUTPUT, NULL, NULL, NULL, 0, NULL},
    [RUN_SNAPSHOT_SIGNAL] = {"snapshot-signal", 0, "NAME",
                             "the report so far is written when this signal (USR1, USR2) comes to "
                             "gpuprof's own process; the "
                             "program does not get it. 'gpuprof snapshot' needs no signal",
                             OUTPUT, NULL, NULL, NULL, 0, NULL},
    [RUN_NO_PROGRESS] = {"no-progress", 0, NULL,
                         "write no line on the terminal that says how far a long run is", OUTPUT,
                         NULL, NULL, NULL, 0, NULL},
    [RUN_DETAILS] = {"details", 0, NULL, "print metrics of each kernel behind the report's summary",
                     OUTPUT, NULL, NULL, NULL, 0, NULL},
    [RUN_SUMMARY] = {"print-gpu-summary", 0, NULL,
                     "print the report, with --metrics as well; with --csv nvprof's summary",
                     OUTPUT, "print-summary", "--print-gpu-summary, --print-summary",
                     "--print-summary", 0, NULL},
    [RUN_TRACE] = {"print-gpu-trace", 0, NULL,
                   "print a line for each launch: times, or with --metrics their values", OUTPUT,
                   NULL, "--print-gpu-trace", NULL, 0, NULL},
    [RUN_CSV] = {"csv", 0, NULL, "print comma-separated values, in nvprof's columns", OUTPUT, NULL,
                 "--csv", "--csv", 0, NULL},
    [RUN_UNIT] = {"normalized-time-unit", 'u', "UNIT",
                  "the unit of times in nvprof's tables: s, ms, us, ns, auto (auto)", OUTPUT, NULL,
                  "-u, --normalized-time-unit", NULL, 0, NULL},
    [RUN_DEMANGLING] = {"demangling", 0, "on|off",
                        "off: names of kernels in nvprof's tables are as the compiler made them "
                        "(on)",
                        OUTPUT, NULL, "--demangling", NULL, 0, NULL},
    [RUN_QUIET] = {"quiet", 0, NULL, "print nothing; a profile is written all the same", OUTPUT,
                   NULL, "--quiet", NULL, 0, NULL},

    [RUN_CHECK] = {"check", 0, "FILE",
                   "hold the kernels to the thresholds in this file: the status is 0 where they "
                   "hold, 1 where one is violated, 2 where that cannot be judged; the program's "
                   "own, where it is not 0",
                   VERDICT, NULL, NULL, NULL, 0, NULL},
    [RUN_FORMAT] = {"format", 0, "NAME[=FILE]",
                    "write that verdict as " GP_FORMAT_NAMES
                    "; may be given several times (text, to standard error)",
                    VERDICT, NULL, NULL, NULL, 1, NULL},
};
