#!/usr/bin/env bats
# GPUPROF_OVERHEAD: the time that measuring adds stays below a limit, and the program never notices.
#
# The time of a run depends on the other work of the machine. So libclock.so shows only the time of sleeps, which
# passes at once: programs of minutes take a second. The program sleeps behind each launch, the simulated counters
# sleep for known times, and all else takes no time.

load common

unset GPUPROF_OVERHEAD
export GPUSIM_FAULTS=slowcounters,slowranges=1
preload=$preload:$programs/libclock.so

# Seconds beyond the limit and a tenth of it: the simulated session's way to instrumented code and back, before it is
# known how long that takes, and a pass.
largest_step=0.25

# of_end MEMBER: from the last line of the profile.
of_end() {
    tail -n 1 "$profile.whole" | sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"
}

# limited LIMIT PROGRAM...: the program's output stays the same, and the limit holds but for one step.
limited() {
    local limit=$1
    shift
    export GPUPROF_OVERHEAD=$limit
    plain_then_profiled "$@"
    spent=$(of_end limit_spent)
    permitted=$(of_end limit_seconds)
    echo "$spent s of $permitted s"
    awk -v spent="$spent" -v permitted="$permitted" -v step="$largest_step" \
        'BEGIN { exit !(spent <= 1.1 * permitted + step) }'
}

plain_then_profiled() {
    local word plain=()
    for word in "$@"; do plain+=("$word"); done
    plain[1]=0 # nothing else sleeps
    "${plain[@]}" >"$BATS_TEST_TMPDIR/plain.out"
    GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload timeout 300 "$@" >"$BATS_TEST_TMPDIR/ours.out"
    cmp "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out"
    cp "$profile" "$profile.whole"
    settle_early
    launches=$(sed -n 's/^gpuprof [^:]*: \([0-9]*\) kernel launch.*/\1/p' "$log")
    measured=$(sed -n 's/^gpuprof [^:]*: .* launches, \([0-9]*\) measured.*/\1/p' "$log")
    echo "$measured of $launches"
}

# has_values KERNEL: some launch of it has counters of the hardware.
has_values() {
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"$1" | grep -v '"cause":"added-limit"' |
        grep -q '"smsp__inst_executed.sum":[0-9]'
}

@test "kernels that are begun for nothing: those behind them are begun, too" {
    unset GPUPROF_OVERHEAD
    plain_then_profiled "$programs/limit_linked" 1000 one:300 rare:300
    [ "$launches" -eq 600 ]
    [ "$measured" -eq 600 ]
    [ "$(grep -c '"to instrument the kernel' "$profile.whole")" -eq 0 ]
    # Of each kernel there are instrumented counters.
    local kernel
    for kernel in $(grep -o '"kernel":"[a-z_]*"' "$profile" | sort -u); do
        grep '"type":"launch"' "$profile" | grep "$kernel" |
            grep -q '"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum":[0-9]' || { echo "$kernel"; return 1; }
    done
}

@test "a limit that is far too small: launches are counted, and nothing is measured" {
    limited 1ms "$programs/limit_linked" 1000 one:1000
    [ "$launches" -eq 1000 ]
    [ "$measured" -eq 0 ]
    grep -q "0 of 1000 launches were measured; of 1.000 ms that the limit permits (1ms)" "$log"
    grep -q '"type":"passed_over".*"added-limit"' "$profile.whole"
    grep -q -- "to measure each kernel and configuration once takes at least --overhead [0-9]*ms, as predicted" <(tr '\n' ' ' <"$log" | tr -s ' ')
    awk -v spent="$spent" 'BEGIN { exit !(spent < 0.3) }' # no session was opened
}

@test "a share of the program's time: many launches, of which a few are measured" {
    limited 3% "$programs/limit_linked" 20000 one:2000
    [ "$launches" -eq 2000 ]
    [ "$measured" -ge 3 ]
    [ "$measured" -le 1000 ]
    awk -v permitted="$permitted" 'BEGIN { exit !(permitted > 1 && permitted < 1.5) }'
    grep -q '"overhead":"3%"' "$profile.whole"
    grep -Eq "scale_in_place .* values ±" "$log"
    grep -q "which stand for ~100 % of the GPU time" "$log"
}

@test "a kernel that takes long to instrument has the other counters of its batch lost no more" {
    GPUSIM_FAULTS=slowcounters,slowranges=1,slowflush limited 3% "$programs/limit_linked" 20000 one:600
    [ "$measured" -ge 10 ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"smsp__inst_executed.sum":[0-9]')" -ge 10 ]
}

@test "the report names a limit with which a kernel is measured" {
    unset GPUSIM_FAULTS # the guesses are above its times
    limited 3% "$programs/limit_linked" 1000 one:1000
    [ "$measured" -eq 0 ]
    named=$(tr '\n' ' ' <"$log" | sed -n 's/.*takes at *least *--overhead *\([0-9]*\)ms,.*/\1/p')
    [ "$named" -ge 72 ]
    [ "$named" -le 300 ]
    limited "$((100 * named))ms" "$programs/limit_linked" 1000 one:1000 # on a busy machine steps take much longer
    has_values scale_in_place
}

@test "half a second, and launches that are all different" {
    limited 500ms "$programs/limit_linked" 1000 all:300
    [ "$launches" -eq 300 ]
    [ "$measured" -ge 1 ]
    [ "$measured" -lt 300 ]
    [ "$permitted" = 0.5 ]
}

# bats test_tags=long
@test "grids that were left out have the values that their blocks lead to" {
    local part=$BATS_TEST_TMPDIR/part.json all=$BATS_TEST_TMPDIR/all.json
    limited 500ms "$programs/limit_linked" 1000 all:300
    [ "$measured" -lt 150 ]
    grep -q "scale_in_place .*values ±[0-9.]*%" "$log"
    ! grep -q "not known" "$log" || false # the bound of a grid that was left out is that of its neighbour
    "$GPUPROF_BUILD/gpuprof" report --details "$profile.whole" | tee "$log.details"
    grep -q "over its grids: duration = 12.80 ns a block + 2.000 us" "$log.details"
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile.whole" >"$part"
    GPUPROF_OVERHEAD=none plain_then_profiled "$programs/limit_linked" 1000 all:300
    [ "$measured" -eq 300 ]
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile.whole" >"$all"
    "$BATS_TEST_DIRNAME/within.py" 0.03 "$part" "$all" duration flop_count_sp flops dram_read_bytes dram_utilization \
        gld_efficiency warp_execution_efficiency flop_per_byte l2_pct_of_peak
    "$BATS_TEST_DIRNAME/within.py" 0.5 "$part" "$all" inst_executed ipc
}

@test "passes that take many times longer than predicted" {
    for ms in 3 30 100; do
        for kind in one:1000 all:300; do
            GPUSIM_FAULTS=slowcounters,slowranges=$ms limited 500ms "$programs/limit_linked" 1000 "$kind"
        done
    done
}

@test "a rare kernel is not starved by a frequent one" {
    limited 3% "$programs/limit_linked" 20000 rare:3030
    has_values vector_add_float
    has_values scale_in_place
}

@test "kernels of graphs" {
    limited 10% "$programs/limit_linked" 100000 graph:100
    [ "$launches" -eq 600 ]
    [ "$measured" -ge 1 ]
    [ "$measured" -lt 600 ]
}

@test "kernels of graphs that the limit leaves out have times, and are all counted" {
    limited 20ms "$programs/limit_linked" 1000 graph:3000
    [ "$launches" -eq 18000 ]
    [ "$measured" -eq 0 ]
    # Each of the six grids has a time: that of the whole follows from these.
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"gpu__time_duration.sum":[0-9]')" -ge 6 ]
    "$GPUPROF_BUILD/gpuprof" report "$profile" | grep -q '~100.0%  0 of 18000  2.045 us'
}

@test "the stream of a graph is not asked while it is captured" {
    # By the machine's clock.
    preload=${preload//$programs\/libclock.so/} limited 3% "$programs/limit_linked" 200 captures:200
}

# bats test_tags=long
@test "the GPU is waited for before a graph no longer than the limit permits" {
    # The host is seconds ahead of it. By the machine's clock, as the GPU's kernels take time.
    preload=${preload//$programs\/libclock.so/} limited 3% "$programs/limit_linked" 500 long:2500
    [ "$launches" -eq 720000 ]
}

# unpacking SECONDS: images of 80 MB take so long.
unpacking() {
    export UNPACK_NS
    UNPACK_NS=$(awk -v seconds="$1" 'BEGIN { print int(seconds * 1e9 / (80 * 1024)) }')
    preload=${preload/$programs\/libclock.so/$programs/libunpacking.so:$programs/libclock.so}
}

@test "code that takes too long to unpack is not read, and its kernels are timed without it" {
    unpacking 0.4
    # To load the two images takes 0.8 s, before the first launch; of 1 s there are 0.2 left.
    limited 3% "$programs/limit_linked" 20000 packed:1500 dear:100
    [ "$launches" -eq 9100 ]
    local kernel
    for kernel in dear_first dear_second scale_in_place; do
        grep '"type":"launch"' "$profile" | grep "\"kernel\":\"$kernel" |
            grep -q '"gpu__time_duration.sum":[0-9]' || { echo "$kernel"; return 1; }
    done
    ! has_values dear_first || false
    ! has_values dear_second || false
}

@test "a kernel whose code takes too long to unpack is only timed" {
    unpacking 0.4
    limited 3% "$programs/limit_linked" 20000 dear:1100
    grep '"type":"launch"' "$profile" | grep -q '"gpu__time_duration.sum":[0-9]'
    ! has_values dear_first || false
    awk -v spent="$spent" 'BEGIN { exit !(spent > 0.4 && spent < 0.6) }' # all but the load of the image
}

@test "of two kernels of a graph whose code takes long to unpack one is measured where there is no time for both" {
    unpacking 1
    # To load the images takes 2 s.
    limited 3.3s "$programs/limit_linked" 20000 packed:600
    [ "$measured" -ge 1 ]
    awk -v spent="$spent" 'BEGIN { exit !(spent > 3 && spent < 3.5) }'
}

@test "branches that hang on code which takes too long to unpack: the graph is launched as it is" {
    unpacking 0.4
    limited 3% "$programs/limit_linked" 20000 wide:1500
    [ "$launches" -eq 9000 ]
    # Those that were chosen before their code was found to be too dear count among the others.
    grep '"type":"passed_over","kernel":"dear_first"' "$profile.whole" | grep -q '"launches":3000,.*"added-limit"'
    ! has_values dear_first || false
    limited 10% "$programs/limit_linked" 20000 wide:3000
    has_values dear_first
}

@test "code that takes long to unpack is read where there is the time to" {
    unpacking 0.4
    # Kernels of graphs that the limit left out at first are asked for again while there is the time to measure them.
    limited 10% "$programs/limit_linked" 20000 packed:2000
    has_values dear_first
    has_values dear_second
}

@test "code that takes too long to unpack is not read to find where a launch beside held ones writes" {
    unpacking 2
    limited 3% "$programs/limit_linked" 20000 pieces:5000
    [ "$measured" -ge 1 ]
    has_values scale_in_place
    awk -v spent="$spent" 'BEGIN { exit !(spent > 2 && spent < 3.5) }' # to load the image has taken 2 s
}

@test "threads share one limit" {
    # Short rests are real ones: a thread's time does not pass for others.
    limited 500ms "$programs/limit_linked" 200 threads:300
    [ "$launches" -eq 1200 ]
    [ "$measured" -ge 4 ]
    [ "$measured" -lt 1200 ]
}

@test "without an option all is measured for 5 s, and then for 3 % of the time" {
    export GPUSIM_FAULTS=slowcounters,slowranges=5
    GPUPROF_OVERHEAD='' plain_then_profiled "$programs/limit_linked" 2000 all:600
    [ "$launches" -eq 600 ]
    [ "$measured" -ge 30 ]
    [ "$measured" -lt 600 ]
    [ "$(grep -c "from here on it adds at most 3 % of the program's time (--overhead none" "$log")" -eq 1 ]
    grep -q "that the limit permits (default)" <(tr '\n' ' ' <"$log" | tr -s ' ')
    awk -v spent="$(of_end limit_spent)" -v step="$largest_step" 'BEGIN { exit !(spent > 2 && spent < 5.1 + step) }'
    grep -q "NOT MEASURED" "$log"
    # A program of its own 50 s may get as many.
    GPUPROF_OVERHEAD='' plain_then_profiled "$programs/limit_linked" 500000 all:100
    [ "$measured" -eq 100 ]
    ! grep -q "from here on" "$log" || false
    ! grep -q "^Limit" "$log" || false
}

# bats test_tags=long
@test "none: all is measured, however long that takes" {
    export GPUSIM_FAULTS=slowcounters,slowranges=20
    GPUPROF_OVERHEAD=none plain_then_profiled "$programs/limit_linked" 1000 all:300
    [ "$measured" -eq 300 ]
    ! grep -q "^Limit" "$log" || false
    awk -v added="$(of_end added_seconds)" 'BEGIN { exit !(added > 5.5) }'
}

# bats test_tags=long
@test "a choice of the user's has no limit, and neither have runs that are judged" {
    export GPUSIM_FAULTS=slowcounters,slowranges=20
    GPUPROF_SAMPLE=first:1 plain_then_profiled "$programs/limit_linked" 1000 all:600
    [ "$measured" -eq 600 ]
    ! grep -q "from here on" "$log" || false
    printf '[*]\nduration <= 1 s\n' >"$BATS_TEST_TMPDIR/rules.ini"
    GPUPROF_CHECK=$BATS_TEST_TMPDIR/rules.ini plain_then_profiled "$programs/limit_linked" 1000 all:300
    [ "$measured" -eq 300 ]
    # Both together: of the launches that were chosen, as many as the limit permits.
    GPUPROF_SAMPLE=every:2 limited 500ms "$programs/limit_linked" 1000 all:300
    [ "$measured" -lt 150 ]
}

# slept FILE: the seconds that the simulated GPU slept.
slept() {
    awk '{ all += $1 } END { print all / 1e3 }' "$1"
}

# accounts CLOCK PROGRAM...: sleeps of the simulated GPU that the program does not have without us are in the account.
# CLOCK is a library, or empty: kernels that sleep do that beside the program, which takes the machine's clock.
accounts() {
    local of=$BATS_TEST_TMPDIR/sleeps clock=$1 runtimes=${GPUPROF_RUNTIMES:+$GPUPROF_RUNTIMES:}
    shift
    rm -f "$of".*
    touch "$of".own "$of".ours
    GPUSIM_SLEEPS=$of.own LD_PRELOAD=$runtimes$clock "$@"
    GPUSIM_SLEEPS=$of.ours GPUPROF_OVERHEAD=2s GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile \
        LD_PRELOAD=$runtimes$GPUPROF_BUILD/libgpuprof.so:$clock "$@"
    cp "$profile" "$profile.whole"
    awk -v own="$(slept "$of.own")" -v ours="$(slept "$of.ours")" -v spent="$(of_end limit_spent)" \
        -v start_up="$(of_end start_up_seconds)" 'BEGIN {
        print ours - own " s of sleep are added, the account says " spent " s and " start_up " s of start-up"
        exit !(ours - own > 0.3 && spent + start_up >= ours - own) }'
}

# bats test_tags=long
@test "the account has all that was added, and more for overlap that may be lost" {
    for kind in all:40 one:100 rare:101 graph:20; do
        accounts "$programs/libclock.so" "$programs/limit_linked" 2000 "$kind"
    done
    for kind in all:8 graph:3; do
        GPUSIM_FAULTS=slow,slowcounters accounts "" "$programs/limit_linked" 2000 "$kind"
    done
}

@test "launches that are only timed are counted where the limit leaves no time for events" {
    export GPUPROF_METRICS=duration
    limited 10% "$programs/limit_linked" 20000 one:500
    [ "$measured" -ge 400 ] # the first ones come before there was any time
    limited 0.1ms "$programs/limit_linked" 1000 one:1000
    [ "$launches" -eq 1000 ]
    [ "$measured" -lt 500 ]
    ! grep -q "takes at least" <(tr '\n' ' ' <"$log") || false
}

@test "a text that is no limit" {
    GPUPROF_OVERHEAD=3x plain_then_profiled "$programs/limit_linked" 1000 one:3
    grep -q "GPUPROF_OVERHEAD=3x: no limit; say a share (3%), a time (2s, 500ms, 1m) or none" "$log"
    [ "$measured" -eq 3 ]
}

@test "a comparison says where launches were left out by time" {
    limited 1ms "$programs/limit_linked" 1000 one:500
    "$GPUPROF_BUILD/gpuprof" baseline -o "$BATS_TEST_TMPDIR/base.json" "$profile.whole" 2>&1 | tee "$BATS_TEST_TMPDIR/said"
    grep -q "the limit to the added time left launches out" "$BATS_TEST_TMPDIR/said"
    printf '[*]\nduration <= 1 s\n' >"$BATS_TEST_TMPDIR/rules.ini"
    "$GPUPROF_BUILD/gpuprof" check --thresholds "$BATS_TEST_TMPDIR/rules.ini" "$profile.whole" >"$BATS_TEST_TMPDIR/said" 2>&1 || true
    grep -q "the limit to the added time left launches out" "$BATS_TEST_TMPDIR/said"
}
