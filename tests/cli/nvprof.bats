# The options of nvprof and ncu: their meaning here, and mistakes in their values.

load ../inherited

bats_require_minimum_version 1.5.0

setup() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    cd "$BATS_TEST_TMPDIR"
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    while read -r name; do unset "$name"; done < <(env | sed -n 's/^\(GPUPROF_[A-Z]*\)=.*/\1/p' | grep -v BUILD)
}

# becomes EXPECTED OPTIONS...: the library's variables, blanks between them.
becomes() {
    local expected=$1
    shift
    run "$gpuprof" "$@" sh -c 'env | grep ^GPUPROF_ | grep -v "^GPUPROF_\(BUILD\|RUNTIMES\|STARTED\|RUN\|FOLDER\)=" | sort | tr "\n" " "'
    [ "$status" -eq 0 ]
    [ "$output" = "$expected${expected:+ }" ] || {
        echo "$* gives '$output', not '$expected'"
        return 1
    }
}

@test "nvprof's options become the library's variables" {
    becomes "" --print-gpu-summary
    becomes "GPUPROF_METRICS=flops,gld_efficiency GPUPROF_PRINT=metrics" -m flops --metrics gld_efficiency
    becomes "GPUPROF_METRICS=inst_executed GPUPROF_PRINT=events" --events inst_executed
    becomes "GPUPROF_METRICS=gld_efficiency,active_warps GPUPROF_PRINT=metrics" --metrics gld_efficiency --events active_warps
    # A summary has times, whichever metrics there are.
    becomes "GPUPROF_METRICS=gld_efficiency,duration" --metrics gld_efficiency --print-gpu-summary
    becomes "GPUPROF_METRICS=gld_efficiency,duration GPUPROF_PRINT=times,metrics,csv" --metrics gld_efficiency --print-gpu-summary --csv
    # Both, as nvprof printed both.
    becomes "GPUPROF_PRINT=trace,report" --print-gpu-summary --print-gpu-trace
    becomes "GPUPROF_METRICS=duration GPUPROF_PRINT=trace,times,csv" --print-gpu-summary --print-gpu-trace --csv
    # nvprof had no sets: of these the report is printed.
    becomes "GPUPROF_METRICS=default,stalls" --metrics default,stalls
    becomes "GPUPROF_METRICS=paper GPUPROF_PRINT=metrics,csv" --metrics paper --csv
    becomes "GPUPROF_METRICS=gld_efficiency GPUPROF_PRINT=metrics,csv" --metrics gld_efficiency --csv
    becomes "GPUPROF_METRICS=gld_efficiency GPUPROF_PRINT=trace,metrics,csv" --metrics gld_efficiency --csv --print-gpu-trace
    becomes "GPUPROF_METRICS=duration GPUPROF_PRINT=trace" --print-gpu-trace
    becomes "GPUPROF_METRICS=duration GPUPROF_PRINT=times,csv,unit=ms,mangled" --csv -u ms --demangling off
    becomes "GPUPROF_OUTPUT=$PWD/x.nvvp GPUPROF_PRINT=trace" --export-profile x.nvvp -f --print-gpu-trace
    becomes "GPUPROF_LOG=$PWD/log_%p" --log-file log_%p --profile-child-processes --aggregate-mode on
    becomes "GPUPROF_LOG=/dev/null" --quiet
    becomes "GPUPROF_REPLAY=off" --replay-mode disabled
    becomes "GPUPROF_REPLAY=on" --replay-mode kernel
    becomes "GPUPROF_DEVICES=0,2" --devices 0,2
    becomes "GPUPROF_KERNELS=1::foo:2" --kernels 1::foo:2
    becomes "GPUPROF_WINDOW=profile-from-start:off" --profile-from-start off
}

@test "ncu's options become the library's variables" {
    becomes "GPUPROF_KERNELS=regex:^foo" -k regex:^foo
    becomes "GPUPROF_KERNELS=foo" --kernel-name foo
    becomes "GPUPROF_KERNELS=::regex:foo:3" --kernel-id ::regex:foo:3
    becomes "GPUPROF_LAUNCHES=skip:2,count:3" --launch-skip 2 --launch-count 3
    becomes "GPUPROF_LAUNCHES=count:3" -c 3
    becomes "GPUPROF_WINDOW=profile-from-start:no" --profile-from-start=no
    becomes "GPUPROF_WINDOW=capture-range:cudaProfilerApi,delay:5,duration:10" --duration 10 --capture-range=cudaProfilerApi --delay 5
    becomes "GPUPROF_LAUNCHES=skip:1 GPUPROF_WINDOW=warm-up:500ms,launches:100:" --warm-up 500ms --launches 100: --launch-skip 1
    becomes "GPUPROF_CACHE=keep" --cache-control none
    becomes "GPUPROF_CACHE=flush" --cache-control=all
    run "$gpuprof" --target-processes application-only sh -c '[ "$GPUPROF_PROCESS" = $$ ]'
    [ "$status" -eq 0 ]
    becomes "GPUPROF_MEMORY=4G GPUPROF_TIMEOUT=0.5 GPUPROF_VERIFY=always" --memory 4G --kernel-timeout 0.5 --verify always
}

# wrong EXPECTED OPTIONS...: that one line, exit status 2, and the program is not started.
wrong() {
    local expected=$1
    shift
    run "$gpuprof" "$@" touch started
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: $expected" ] || {
        echo "$*: '$output', not '$expected'"
        return 1
    }
    [ ! -e started ]
}

@test "a wrong value is said before the program starts" {
    wrong "--events: there is no metric 'no_event'" --events no_event
    wrong "--events: the list is empty" --events ,
    wrong "--metrics: the list is empty" --metrics ""
    wrong "--kernels: '(' is no regular expression: missing closing parenthesis at letter 2" -k '::(:1'
    wrong "--kernels: '::foo:0': launches of a kernel count from 1" -k ::foo:0
    wrong "--kernel-id: 'foo' is not CONTEXT:STREAM:NAME:INVOCATION" --kernel-id foo
    wrong "--kernels and --kernel-id: give one of them" -k foo --kernel-id ::foo:1
    wrong "--launch-skip: '-1' is no number of launches" --launch-skip -1
    wrong "--launch-count: 'many' is no number of launches" -c many
    wrong "--profile-from-start: 'x' is neither on nor off" --profile-from-start x
    wrong "--profile-from-start and --capture-range: give one of them" --profile-from-start off --capture-range none
    wrong "--capture-range: 'nvtx' is neither cudaProfilerApi nor none" --capture-range nvtx
    wrong "--delay: '5 s' is no time; say 5, 5s, 500ms or 2m" --delay "5 s"
    wrong "--duration: '0' is no time of more than 0; say 5, 5s, 500ms or 2m" --duration 0
    wrong "--warm-up: 'long' is neither a time, as 5s or 500ms, nor a number of launches" --warm-up long
    wrong "--launches: '9:3' is no range A:B of launches; say 100:200, 100: or :200, with whole numbers from 0, and B more than A" --launches 9:3
    wrong "--devices: '0,' is no list; say all, or numbers from 0 to 63 with commas between them" --devices 0,
    wrong "--target-processes: 'some' is neither all nor application-only" --target-processes some
    wrong "--replay-mode: 'application' is not to be had, as the program runs once; say kernel or disabled" --replay-mode application
    wrong "--replay-mode: 'x' is neither kernel nor disabled" --replay-mode x
    wrong "--replay and --replay-mode: give one of them" --replay on --replay-mode kernel
    wrong "--cache-control: 'some' is neither all nor none" --cache-control some
    wrong "--normalized-time-unit: 'h' is none of s, ms, us, ns, auto" -u h
    wrong "--normalized-time-unit: 'col' is the form of --csv; say s, ms, us, ns or auto" -u col
    wrong "--demangling: 'x' is neither on nor off" --demangling x
    wrong "--aggregate-mode: there are no values for each multiprocessor, so 'off' is not to be had; counters with .min, .max and .avg in their names say how even they are" --aggregate-mode off
    wrong "--timeout: '0' is no number of seconds, more than 0 and at most 100000000" -t 0
    wrong "--kernel-timeout: '9999' is no number of seconds, more than 0 and at most 3600" --kernel-timeout 9999
    for size in much 200% 0 0% 0.5% 512MB 99999999999999999999G; do
        wrong "--memory: '$size' is neither a size such as 512M or 4G nor a share such as 10%, which is from 1% to 100%" --memory $size
    done
    wrong "--verify: 'x' is neither learn nor always" --verify x
    wrong "--log: /nowhere/x: No such file or directory" --log-file /nowhere/x
    wrong "no value goes with '--csv=1' ('gpuprof help run' lists the options)" --csv=1
}

@test "--events all is every event and no metric" {
    run "$gpuprof" --events all sh -c 'echo "$GPUPROF_METRICS"; echo "$GPUPROF_PRINT"'
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *,active_cycles,*,active_warps,* ]]
    [[ ,${lines[0]}, == *,inst_executed,* && ,${lines[0]}, != *,gld_efficiency,* ]]
    [ "${lines[1]}" = events ]
    wrong "--events: 'gld_efficiency' is a metric, no event; ask for it with --metrics" --events gld_efficiency
    wrong "--events: 'paper' is a set, no event; ask for it with --metrics" --events active_warps,paper
}

@test "a filter that is given twice, or has a part that is none, is refused" {
    wrong "--kernels is given twice: one filter holds for all metrics and events here; join names, as in --kernels 'foo|bar', or run the program once for each" \
        --kernels foo --metrics flops --kernels bar --metrics gld_efficiency
    local filter
    for filter in '1:0:vector_add:1-3' '::vector_add:1|3' 1:2:3:4:5 foo:2; do
        wrong "--kernels: '$filter' is neither a name nor CONTEXT:STREAM:NAME:INVOCATION, where all but NAME are numbers or empty" --kernels "$filter"
    done
    for filter in ns::foo ::ns::foo:2 'foo(?:a|b)' '(?i:foo)' '[[:alpha:]]+' regex:^foo 'foo<ns::a, ns::b>::bar'; do
        becomes "GPUPROF_KERNELS=$filter" --kernels "$filter"
    done
}

@test "metrics that the chip does not have are said before the program starts" {
    local why="--metrics: 'nvlink_total_data_received' on AD102: the chip has no NVLink; the nearest is pcie_total_data_received"
    wrong "$why" --chip AD102 --metrics nvlink_total_data_received
    run "$gpuprof" --chip AD102 --metrics nvlink_total_data_received,flops touch started
    [ "$status" -eq 0 ]
    [ "$output" = "gpuprof: $why" ]
    [ -e started ]
}

@test "NVLink and PCIe beside other counters are refused before the program starts" {
    wrong "--metrics: 'pcie_total_data_received': NVLink's and PCIe's counters are counted with no others; ask for it in a run of its own, without 'flops'" \
        --chip GH100 --metrics flops,pcie_total_data_received
    becomes "GPUPROF_METRICS=pcie_total_data_received,nvlink_receive_throughput GPUPROF_PRINT=metrics" \
        --chip GH100 --metrics pcie_total_data_received,nvlink_receive_throughput
    run "$gpuprof" --chip GH100 --metrics all sh -c :
    [ "$status" -eq 0 ]
    [ "$output" = "gpuprof: --metrics: NVLink's and PCIe's counters are counted with no others: 'nvlink_data_receive_efficiency' and its like have no value in this run; ask for them in a run of their own" ]
}

@test "an option that makes no sense here names its replacement" {
    wrong "--import-profile is an option of nvprof: read a profile with 'gpuprof report FILE'" --import-profile=x
    wrong "--set is an option of ncu: use --metrics with the name of a set" --set full
    wrong "-s is an option of nvprof and ncu: write --print-gpu-summary or --launch-skip" -s
    wrong "-s is an option of nvprof and ncu: write --print-gpu-summary or --launch-skip" -s5
    local option
    for option in --print-openacc-trace --print-openacc-constructs --openacc-summary-mode --cpu-profiling-mode; do
        wrong "$option is an option of nvprof: gpuprof measures kernels; Nsight Systems (nsys) shows the work of the host" $option
    done
    wrong "--thread-name is an option of nvprof: threads of the host have no names here; gpuprof measures kernels; Nsight Systems (nsys) shows the work of the host" --thread-name on
    wrong "--target-processes-filter is an option of ncu: start the process that matters with gpuprof, or say --target-processes application-only" --target-processes-filter x
    wrong "--filter-mode is an option of ncu: launches count over all GPUs; use --devices for one GPU, --sample first:N for each kernel and launch configuration" --filter-mode per-gpu
    wrong "--kill is an option of ncu: the program runs on behind the last launch of --launch-count; --timeout ends it" --kill yes
    wrong "--source-folders is an option of ncu: use 'gpuprof source --source-path DIR' on a profile" --source-folders .
    wrong "--print-units is an option of ncu: units fit the values; use --normalized-time-unit for times, and 'gpuprof report --print json' for base units" --print-units base
    run "$gpuprof" report --page raw x
    [ "$output" = "gpuprof: --page is an option of ncu: use 'gpuprof report --print VIEW'" ]
}

@test "the help of run has groups" {
    run "$gpuprof" run --help
    for group in "Metrics" "Launches" "Method" "Output"; do
        [[ $output == *$'\n'"$group"$'\n'* ]]
    done
    [[ $output == *"  -k, --kernels, --kernel-name FILTER"* ]]
}

@test "--query-metrics and --query-events list, and run nothing" {
    run "$gpuprof" --query-metrics touch started
    [ "$status" -eq 0 ]
    [[ $output == *"gld_efficiency:  global load bytes"* ]]
    # A metric that no GPU of today has is not available, nor one that this chip does not have.
    [[ $output != *"  nc_gld_efficiency:"* ]]
    [[ $output == *"more are not to be had on present GPUs ('gpuprof metrics NAME' says why)"* ]]
    [[ $output == *"  nvlink_total_data_received:"* ]]
    run "$gpuprof" --query-metrics --chip AD102
    [[ $output != *"  nvlink_total_data_received:"* ]]
    [[ $output == *"more are not to be had on AD102"* ]]
    run "$gpuprof" --query-events touch started
    [[ $output == *"Available Events:"*" inst_executed:  "* ]]
    [ ! -e started ]
}

@test "--timeout ends the program, and only that" {
    run "$gpuprof" --timeout 2 sh -c 'trap "echo ended; exit 5" TERM; while :; do sleep 0.05; done'
    [ "$status" -eq 5 ]
    [[ $output == *"gpuprof: sh: ended after 2 s (--timeout)"* ]]
    [[ $output == *"ended"* ]]
    # Nothing is left behind of a program that ends by itself, and it has no child of ours.
    SECONDS=0
    run "$gpuprof" --timeout 30 sh -c 'read -r first </proc/$$/task/$$/children; echo "$first"; exit 3'
    [ "$status" -eq 3 ]
    [ "$output" = "" ]
    [ "$SECONDS" -lt 20 ]
}
