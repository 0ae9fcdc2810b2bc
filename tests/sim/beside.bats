#!/usr/bin/env bats
# Launches that reach the driver past our exports, and other ways into a process than LD_PRELOAD. A tool
# of the program's own, which uses CUPTI: the same copy as gpuprof, or another.

load common

# anew COMMAND...: as same_with_and_without, and no profile or log of an earlier run is left.
anew() {
    rm -f "$profile" "$log"
    same_with_and_without "$@"
}

library() { echo "$programs/libsnippets.so"; }

@test "a library loaded with RTLD_DEEPBIND, which asks the linker's own dlsym" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "a sanitizer ends a program that loads a library so"
    for how in plain deep; do
        for way in dlsym runtime; do
            anew "$programs/loads_dlopen" $how "$(library)" $way vector_add one_lane
            [ "$(measured)" -eq 2 ]
        done
    done
}

# injected COMMAND...: the same output and status, the library loaded by the driver alone.
injected() {
    rm -f "$profile" "$log"
    "$@" >"$BATS_TEST_TMPDIR/plain.out" 2>"$BATS_TEST_TMPDIR/plain.err"
    preload='' profiled env CUDA_INJECTION64_PATH="$GPUPROF_BUILD/libgpuprof.so" "$@"
    diff "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out"
    diff "$BATS_TEST_TMPDIR/plain.err" "$BATS_TEST_TMPDIR/ours.err"
}

@test "CUDA_INJECTION64_PATH alone: functions that the program asked for before cuInit are found as well" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the sanitizers' runtimes have to be preloaded"
    for how in plain deep; do
        for way in dlsym runtime; do
            injected "$programs/loads_dlopen" $how "$(library)" $way vector_add one_lane
            [ "$(measured)" -eq 2 ]
        done
    done
    injected "$programs/exits_linked" return
    [ "$(measured)" -gt 0 ]
}

@test "CUDA_INJECTION64_PATH alone, and addresses that only the stack has: a line says that nothing is seen" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the sanitizers' runtimes have to be preloaded"
    injected "$programs/snippets_dlopen" vector_add
    grep -qx 'gpuprof: the program uses CUDA in a way that gpuprof does not see: nothing is measured' "$log"
}

@test "the command leaves the driver's way to load a tool alone" {
    [ "$("$GPUPROF_BUILD/gpuprof" printenv CUDA_INJECTION64_PATH 2>/dev/null)" = "" ]
    [ "$(CUDA_INJECTION64_PATH=/other.so "$GPUPROF_BUILD/gpuprof" printenv CUDA_INJECTION64_PATH 2>/dev/null)" = /other.so ]
}

@test "a program that has the driver, and no call of which is seen: another tool may have taken them" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    LD_PRELOAD=$sim/libcuda.so.1 "$GPUPROF_BUILD/gpuprof" true 2>"$log"
    [ "$(cat "$log")" = "gpuprof: no call of the program to CUDA's driver was seen: it made none, or another tool stands in front of gpuprof" ]
    "$GPUPROF_BUILD/gpuprof" true 2>"$log"
    [ "$(cat "$log")" = "gpuprof: the program did not use CUDA: there is nothing to report" ]
}

@test "a library that dlmopen has loaded: a line says that its launches are not seen" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "dlmopen of a library with a sanitizer in it does not work"
    "$programs/loads_dlopen" apart "$(library)" runtime vector_add >"$BATS_TEST_TMPDIR/plain"
    "$GPUPROF_BUILD/gpuprof" "$programs/loads_dlopen" apart "$(library)" runtime vector_add >"$BATS_TEST_TMPDIR/out" 2>"$log"
    diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/out"
    [ "$(cat "$log")" = "gpuprof: CUDA is used in a library that was loaded by dlmopen: its launches are not seen" ]
}

# tool STEP...: the program's output and status are as without gpuprof, so the tool sees the program's kernels alone, by
# each way to find CUPTI.
copies() {
    mkdir -p "$BATS_TEST_TMPDIR/other"
    cp "$sim/libcupti.so.13" "$BATS_TEST_TMPDIR/other/"
    same="linked $sim/libcupti.so.13" other=$BATS_TEST_TMPDIR/other/libcupti.so.13
}

# reasons: of the launches, in their order, "counted" or the reason without counters.
reasons() { launches | sed 's/.*"skipped":"\([^"]*\)".*/\1/; t; s/.*/counted/'; }
tool_at_work="the program's own tool used CUPTI at the launch"
says_tool() { grep -qx "gpuprof: the program has a tool of its own that uses CUPTI: while that is at work launches are only timed" "$log"; }

@test "a tool that uses our copy of CUPTI: launches are only timed meanwhile, and counted again afterwards" {
    copies
    for copy in $same; do
        anew "$programs/tool_linked" "$copy" launch subscribe record launch launch launch launch launch launch show stop launch \
            record launch show stop unsubscribe launch
        grep -qx "the tool saw 6 kernels" "$BATS_TEST_TMPDIR/ours.out"
        grep -qx "the tool saw 1 kernels" "$BATS_TEST_TMPDIR/ours.out"
        says_tool
        [ "$(reasons | uniq -c | sed 's/^ *//')" = "1 counted
6 $tool_at_work
1 counted
1 $tool_at_work
1 counted" ]
        [ "$(launches | grep -c '"gpu__time_duration.sum":[0-9]')" -eq 10 ]
    done
}

@test "a tool that listens to calls of the driver, and one that uses the profilers" {
    copies
    for steps in "subscribe listen launch unsubscribe" "count launch uncount"; do
        anew "$programs/tool_linked" linked launch $steps launch
        says_tool
        [ "$(reasons)" = "counted
$tool_at_work
counted" ]
    done
    # One that has subscribed, and does nothing, sees nothing of replays.
    anew "$programs/tool_linked" linked launch subscribe launch unsubscribe
    [ "$(reasons)" = "counted
counted" ]
    ! grep -q "a tool of its own" "$log"
}

@test "a tool that uses another copy of CUPTI than ours, which came first: a line says the remedy" {
    copies
    # The driver serves the first copy until the process ends.
    run profiled "$programs/tool_linked" "$other" launch subscribe launch
    grep -q "subscribe: 39" "$BATS_TEST_TMPDIR"/ours.*
    grep -qxF "gpuprof: the program's own tool uses another copy of CUPTI, and the driver serves one in a process: GPUPROF_CUPTI=$other lets both use that" "$log"
    [ "$(reasons)" = "counted
counted" ]
    GPUPROF_CUPTI=$other anew "$programs/tool_linked" "$other" launch subscribe record launch show stop unsubscribe launch
    [ "$(reasons)" = "counted
$tool_at_work
counted" ]
    # Where ours had not begun it can, once the tool has ended.
    anew "$programs/tool_linked" "$other" subscribe record launch show stop unsubscribe finalize launch
    [ "$(reasons)" = "$tool_at_work
counted" ]
}

@test "Triton's profiler brings a copy of CUPTI: gpuprof uses that one" {
    copies
    triton=$BATS_TEST_TMPDIR/triton
    mkdir -p "$triton/_C" "$triton/backends/nvidia/lib/cupti"
    cp "$sim/libcupti.so.13" "$triton/backends/nvidia/lib/cupti/libcupti.so"
    echo 'int unused;' | ${CC:-cc} -shared -fPIC -x c -o "$triton/_C/libproton.so" -
    brought=$triton/backends/nvidia/lib/cupti/libcupti.so
    export GPUPROF_CUPTI=
    preload=$preload:$triton/_C/libproton.so
    profiled "$programs/tool_linked" "$brought" launch subscribe record launch show stop unsubscribe launch
    grep -qx "the tool saw 1 kernels" "$BATS_TEST_TMPDIR/ours.out"
    grep -qxF "gpuprof: CUPTI is taken from $brought" "$log"
    [ "$(reasons)" = "counted
$tool_at_work
counted" ]
}

@test "a tool that ends CUPTI in the process" {
    copies
    for copy in $same; do
        anew "$programs/tool_linked" "$copy" launch subscribe record launch show stop finalize launch
        [ "$(reasons)" = "counted
$tool_at_work
the program has ended CUPTI (cuptiFinalize)" ]
    done
    anew "$programs/tool_linked" linked subscribe record finalize launch
    [ "$(reasons)" = "CUPTI could not start: it is newer than the driver, or the program has ended it" ]
}
