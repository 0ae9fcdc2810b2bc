# Which launches are measured, and which lines are printed of them.

bats_require_minimum_version 1.5.0

load common

# chosen SETTING...: the indices of the launches that are measured, of five in the program.
chosen() {
    env "$@" GPUPROF_METRICS=duration GPUPROF_LOG="$log" GPUPROF_OUTPUT="$profile" \
        LD_PRELOAD="$preload" "$programs/snippets_linked" vector_add in_place >/dev/null
    settle_early
    grep '"type":"launch"' "$profile" | sed 's/.*"index":\([0-9]*\).*/\1/' | tr '\n' ' '
}

@test "launches are chosen by kernel, number, device, context and stream" {
    [ "$(chosen A=b)" = "0 1 2 3 " ]
    [ "$(chosen GPUPROF_KERNELS=regex:^scale)" = "1 2 3 " ]
    [ "$(chosen GPUPROF_KERNELS=::scale:2)" = "2 " ]
    [ "$(chosen GPUPROF_KERNELS=:::1)" = "0 1 " ]
    [ "$(chosen GPUPROF_KERNELS=1:0:vector:)" = "0 " ]
    [ "$(chosen GPUPROF_KERNELS=2:::)" = "" ]
    [ "$(chosen GPUPROF_KERNELS=:1::)" = "" ]
    [ "$(chosen GPUPROF_LAUNCHES=skip:1,count:2)" = "1 2 " ]
    [ "$(chosen GPUPROF_LAUNCHES=skip:1 GPUPROF_KERNELS=scale)" = "2 3 " ]
    [ "$(chosen GPUPROF_LAUNCHES=count:0)" = "" ]
    [ "$(chosen GPUPROF_DEVICES=0)" = "0 1 2 3 " ]
    [ "$(chosen GPUPROF_DEVICES=1,2)" = "" ]
    [ "$(chosen GPUPROF_PROCESS=1)" = "" ]
}

@test "a mistake in these settings is one line, and everything is measured" {
    [ "$(chosen GPUPROF_LAUNCHES=skip:x GPUPROF_DEVICES=a GPUPROF_PRINT=all)" = "0 1 2 3 " ]
    grep -q "^gpuprof: GPUPROF_LAUNCHES=skip:x: no rule; say skip:N" "$log"
    grep -q "^gpuprof: GPUPROF_DEVICES=a: no list; say all" "$log"
    grep -q "^gpuprof: GPUPROF_PRINT=all: 'all' is none of report, times" "$log"
    grep -q "^KERNELS, by" "$log"
}

# printed OPTIONS...: the log of the command.
printed() {
    rm -f "$log"
    "$GPUPROF_BUILD/gpuprof" --log-file "$log" "$@" "$programs/snippets_linked" vector_add in_place >/dev/null
}

@test "--metrics prints the table that nvprof printed" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    printed --metrics gld_efficiency,gst_efficiency
    grep -q '^==[0-9]*== Profiling application: .*snippets_linked vector_add in_place$' "$log"
    grep -q '^==[0-9]*== Metric result:$' "$log"
    grep -q '^Invocations  *Metric Name  *Metric Description  *Min  *Max  *Avg$' "$log"
    grep -q '^Device "NVIDIA H200 (Simulated) (0)"$' "$log"
    grep -q '^    Kernel: scale_in_place$' "$log"
    grep -q '^          3  *gld_efficiency  *Global Memory Load Efficiency  *100.00%  *100.00%  *100.00%$' "$log"
    [ "$(grep -c ^KERNELS "$log")" -eq 0 ]
}

@test "--details prints all metrics of each kernel behind the report" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    printed
    ! grep '^DETAILS$' "$log" || false
    printed --details
    grep -q '^DETAILS$' "$log"
    grep -q '^     gld_efficiency  *100 %' "$log"
}

@test "--csv has nvprof's columns" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    printed --csv --metrics gld_efficiency,shared_efficiency
    grep -qx '"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"' "$log"
    grep -qx '"NVIDIA H200 (Simulated) (0)","vector_add",1,"gld_efficiency","Global Memory Load Efficiency",100.000000%,100.000000%,100.000000%' "$log"
    # A missing value is empty, never 0.
    grep -qx '"NVIDIA H200 (Simulated) (0)","vector_add",1,"shared_efficiency","Shared Memory Efficiency",,,' "$log"
    printed --csv
    grep -qx '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"' "$log"
    grep -q '^"GPU activities",[0-9.]*,[0-9.]*,3,[0-9.]*,[0-9.]*,[0-9.]*,"scale_in_place"$' "$log"
    printed --csv --print-gpu-trace
    grep -q '^"Start","Duration","Grid X","Grid Y","Grid Z","Block X".*"Device","Context","Stream","Name"$' "$log"
    [ "$(grep -c '^[0-9.]*,[0-9.]*,32,1,1,128,1,1,10,0,0,,,,,"NVIDIA H200 (Simulated) (0)",1,0,"scale_in_place"$' "$log")" -eq 3 ]
    printed --csv --print-gpu-trace --metrics gld_efficiency
    grep -qx '"Device","Context","Stream","Kernel","gld_efficiency"' "$log"
    [ "$(grep -c '^"NVIDIA H200 (Simulated) (0)",1,0,"scale_in_place",100.000000%$' "$log")" -eq 3 ]
}

@test "an event that is asked for is printed as one" {
    run "$GPUPROF_BUILD/gpuprof" --events inst_executed,shared_load "$programs/snippets_linked" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"Event result:"*"inst_executed"*"shared_load"* ]]
    [[ $output != *"Metric result:"* ]]
}

@test "a compressed profile is one that can be read, also after a kill" {
    profile=$BATS_TEST_TMPDIR/p.zst
    GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload "$programs/snippets_linked" vector_add in_place
    run --separate-stderr "$GPUPROF_BUILD/gpuprof" report "$profile"
    [ "$status" -eq 0 ]
    [[ $output == *"4 kernel launches, 4 measured"* ]]
    [[ $output != *"not completed"* ]]
    # A writer that is ended leaves whole blocks, without the mark of the end.
    truncate -s -3 "$profile"
    run "$GPUPROF_BUILD/gpuprof" report "$profile"
    [ "$status" -eq 0 ]
    [[ $output == *"4 kernel launches, 4 measured"* ]]
    [[ $output == *"$profile: the file was not completed; the program was probably ended"* ]]
    # In the middle of a block a part of the profile is missing.
    truncate -s -9 "$profile"
    run "$GPUPROF_BUILD/gpuprof" report "$profile"
    [ "$status" -eq 1 ]
    [[ $output == *"kernel launches, "* ]]
    [[ $output == *"$profile: the file was not completed; the program was probably ended"* ]]
}

@test "a long run has a line on the terminal, and nowhere else" {
    # It comes after five seconds, unless it is asked for.
    run_long() { env TERM="$1" GPUPROF_PROGRESS="${progress-on}" LD_PRELOAD="$preload" "${@:2}" </dev/null; }
    long=("$programs/alike_linked" 500x256)
    on_terminal=(python3 "$BATS_TEST_DIRNAME/terminal.py" "${long[@]}")
    screen=$BATS_TEST_TMPDIR/screen
    lines() { grep -Ec 'gpuprof: [0-9]+ launches, [0-9]+ kernels, ([0-9]+ % of GPU time measured, )?[0-9.]+ s added' "$screen" || true; }
    run_long xterm "${on_terminal[@]}" >"$screen"
    [ "$(lines)" -gt 0 ]
    run_long dumb "${on_terminal[@]}" >"$screen"
    [ "$(lines)" -eq 0 ]
    progress=off run_long xterm "${on_terminal[@]}" >"$screen"
    [ "$(lines)" -eq 0 ]
    run_long xterm "${long[@]}" >"$screen" 2>&1
    [ "$(lines)" -eq 0 ]
}

@test "a report has colour on a terminal, unless NO_COLOR says no" {
    screen=$BATS_TEST_TMPDIR/screen
    shown() { env "$@" python3 "$BATS_TEST_DIRNAME/terminal.py" "${command[@]}" >"$screen" </dev/null; }
    bold=$(printf '\033[1mKERNELS')
    for which in library report; do
        command=("$programs/snippets_linked" vector_add)
        more=(LD_PRELOAD="$preload" GPUPROF_OUTPUT="$profile")
        [ $which = library ] || { command=("$GPUPROF_BUILD/gpuprof" report "$profile") more=(A=); }
        shown TERM=xterm NO_COLOR= "${more[@]}"
        grep -qF "$bold" "$screen"
        shown TERM=xterm NO_COLOR=1 "${more[@]}"
        grep -q '^KERNELS' "$screen"
        shown TERM=dumb NO_COLOR= "${more[@]}"
        grep -q '^KERNELS' "$screen"
        env -u NO_COLOR TERM=xterm "${more[@]}" "${command[@]}" >"$screen" 2>&1
        grep -q '^KERNELS' "$screen"
    done
}

@test "copies and fills are counted and timed where that is asked for" {
    copies() { env "$@" GPUPROF_LOG="$log" GPUPROF_OUTPUT="$profile" LD_PRELOAD="$preload" "$programs/snippets_linked" vector_add; }
    plain=$("$programs/snippets_linked" vector_add)
    [ "$(copies GPUPROF_COPIES=on)" = "$plain" ]
    grep -q '^ *host to device  *2  *131.1 kB  *[0-9.]* [mu]s  *[0-9.]* [kMG]B/s$' "$log"
    grep -q '^ *device to host  *1  *65.54 kB  *[0-9.]* [mu]s  *[0-9.]* [kMG]B/s$' "$log"
    grep -q '{"type":"copies","kind":"memcpy HtoD","calls":2,"bytes":131072,"timed":2,"timed_bytes":131072,' "$profile"
    "$GPUPROF_BUILD/gpuprof" report "$profile" | grep -q '^MEMORY COPIES AND FILLS$'
    "$GPUPROF_BUILD/gpuprof" report --print times "$profile" | grep -q '%.*\[CUDA memcpy HtoD\]$'
    copies GPUPROF_COPIES=off
    [ "$(grep -c "MEMORY COPIES" "$log")" -eq 0 ]
    copies GPUPROF_COPIES=maybe
    grep -q "^gpuprof: GPUPROF_COPIES=maybe: unknown; say on or off (the default)" "$log"
}

@test "a trace and a summary are both printed, and levels are words as in nvprof" {
    local run="$GPUPROF_BUILD/gpuprof" program="$programs/snippets_linked"
    "$run" --print-gpu-trace --print-gpu-summary --log "$log" "$program" vector_add
    grep -q '^ *Start  Duration .*Name$' "$log"
    grep -q '^KERNELS, by their share' "$log"
    "$run" --csv --print-gpu-trace --print-gpu-summary --metrics l2_utilization --log "$log" "$program" vector_add
    grep -q '^"Device","Context","Stream","Kernel","l2_utilization","duration"$' "$log"
    grep -q ',"vector_add","Low (1)",' "$log"
    grep -q '^"GPU activities",100.000000,.*,"vector_add"$' "$log"
    # A summary has times, and a level is as it was counted but for nvprof's tables.
    "$run" --print-gpu-summary --metrics l2_utilization --output "$profile" --log "$log" "$program" vector_add
    grep -q '^ *100.0%  *1  *[0-9.]* [mu]s  ' "$log"
    "$run" report --print metrics "$profile" | grep -q ' l2_utilization .* Low (1)  *Low (1)  *Low (1)$'
    "$run" report --print json "$profile" | grep -q '"l2_utilization":{"unit":"level","launches":1,"min":0\.[0-9]*,'
}

@test "a GPU that has none of the metrics is said before the program starts" {
    export GPUSIM_CHIP=kepler
    run "$GPUPROF_BUILD/gpuprof" --metrics nvlink_total_data_received "$programs/snippets_linked" vector_add
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: --metrics: 'nvlink_total_data_received' on compute capability 3.7: "* ]]
    [ "${#lines[@]}" -eq 1 ]
    run "$GPUPROF_BUILD/gpuprof" --metrics nvlink_total_data_received,inst_executed "$programs/snippets_linked" vector_add
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "gpuprof: --metrics: 'nvlink_total_data_received' on compute capability 3.7: "* ]]
    [[ $output == *" inst_executed "* ]]
}
