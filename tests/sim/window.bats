# The window: the part of a program that is measured.

bats_require_minimum_version 1.5.0

load common

# in_window WINDOW WORD...: the numbers of the launches of window_linked that are measured; the program's results are
# the same as without gpuprof. `outside` becomes how many lay outside.
in_window() {
    local window=$1 plain
    shift
    rm -f "$profile" "$log"
    plain=$("$programs/window_linked" "$@")
    [ "$(GPUPROF_WINDOW=$window GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
        timeout 300 "$programs/window_linked" "$@")" = "$plain" ]
    outside=$(grep '"type":"end"' "$profile" | grep -o '"outside_launches":[0-9]*' | cut -d: -f2)
    outside=${outside:-none}
    cp "$profile" "$BATS_TEST_TMPDIR/as_written"
    settle_early
    numbers=$(launches | sed 's/.*"index":\([0-9]*\).*/\1/' | tr '\n' ' ')
}

# lay EXPECTED OUTSIDE WINDOW WORD...
lay() {
    local expected=$1 expected_outside=$2
    shift 2
    in_window "$@"
    [ "$numbers" = "$expected" ] && [ "$outside" = "$expected_outside" ] || {
        echo "$*: measured $numbers, outside $outside; not $expected, $expected_outside"
        return 1
    }
}

@test "calls of the driver and of the runtime open and close the window, several times" {
    lay "0 1 2 3 4 5 " none "" 3 start 2 stop 1
    lay "3 4 " 4 profile-from-start:off 3 start 2 stop 1
    lay "3 4 6 7 8 " 5 capture-range:cudaProfilerApi 3 start 2 stop 1 runtime-start 3 runtime-stop 1
    lay "0 1 2 4 " 1 profile-from-start:on 3 stop 1 start 1
    # The same one twice, and a stop without a start.
    lay "2 4 " 4 profile-from-start:off stop 2 start start 1 stop 1 start 1 stop stop 1
    # While a stream is captured nothing is measured, and nothing is lost.
    lay "0 1 2 3 4 " 1 profile-from-start:on 5 captured-stop 1
    grep -q ': 5 kernel launches, 5 measured' "$log"
    # One that is not closed.
    lay "1 2 " 1 profile-from-start:off 1 start 2
    # The calls alone mean nothing.
    lay "0 1 2 3 " none "" 1 stop 2 start 1
}

@test "launches by number, a warm-up and calls hold together" {
    lay "2 3 4 " 5 launches:2:5 8
    lay "6 7 " 6 launches:6: 8
    lay "0 1 " 6 launches::2 8
    lay "3 4 " 3 warm-up:3 5
    lay "4 5 " 6 profile-from-start:off,warm-up:2 2 start 4 stop 2
    lay "4 " 7 profile-from-start:off,launches:0:5 3 stop 1 start 4
}

@test "--launches counts all launches, --launch-skip those that are chosen in the window" {
    GPUPROF_KERNELS=ordinary lay "3 4 " 3 launches:0:5 3 other 5
    GPUPROF_KERNELS=ordinary GPUPROF_LAUNCHES=skip:1,count:2 lay "4 5 " 1 profile-from-start:off 1 start 2 other 5
    GPUPROF_SAMPLE=first:2 lay "2 3 " 2 launches:2: 6
    # Those of a kernel that is not chosen have no count either.
    GPUPROF_KERNELS=ordinary in_window launches:0:5 3 other 5
    [ "$(grep '"type":"count"' "$profile" | grep -o '"launches":[0-9]*')" = '"launches":2' ]
}

@test "launches outside have no count, no line and no share" {
    in_window profile-from-start:off 40 start 2 stop 40
    [ "$(grep '"type":"count"' "$profile" | grep -o '"launches":[0-9]*')" = '"launches":2' ]
    [ "$(grep -c '"type":"passed_over"' "$profile")" -eq 0 ]
    grep -q '^gpuprof .*: 2 kernel launches, 2 measured' "$log"
    grep -q '^Program:  *ran ~[0-9.]* [mu]*s in the window without gpuprof; the GPU ran kernels in' "$log"
    [ "$(grep -c 'outside' "$log")" -eq 1 ]
    grep -q '^Window:  *80 launches and ~[0-9.]* [mu]*s without gpuprof lay outside, not measured (profile-from-start:off)$' "$log"
    # Later, from the profile, the same.
    run "$GPUPROF_BUILD/gpuprof" report "$BATS_TEST_TMPDIR/as_written"
    [ "$status" -eq 0 ]
    [[ $output == *"Window:  "*"80 launches and ~"*"lay outside, not measured (profile-from-start:off)"* ]]
    # The GPU is busy for a share of the window, which is a part of the run.
    "$GPUPROF_BUILD/gpuprof" report --print json "$BATS_TEST_TMPDIR/as_written" | python3 -c '
import json, sys
p = json.load(sys.stdin)["profiles"][0]
s = p["summary"]
assert p["window"] == "profile-from-start:off"
assert s["outside_launches"] == 80 and s["outside_seconds"] > 0
assert p["launches"] == 2
assert abs(s["gpu_share"] - min(1, s["gpu_seconds"] / s["run_seconds"])) < 1e-6'
}

@test "a graph is as many launches as it has kernels, in the window or not as a whole" {
    in_window profile-from-start:off graph graph start graph graph stop graph
    [ "$outside" = 9 ]
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 6 ]
    [ "$(grep '"type":"count"' "$profile" | grep -o '"launches":[0-9]*')" = '"launches":6' ]
    in_window launches:4:8 graph 1 graph 1 graph
    [ "$outside" = 7 ]
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 4 ]
    # Timed as a whole, and outside not at all.
    GPUPROF_METRICS=duration in_window profile-from-start:off graph start graph stop graph
    [ "$outside" = 6 ]
    [ "$(grep '"type":"graph"' "$profile" | grep -o '"launches":[0-9]*')" = '"launches":1' ]
}

@test "captured launches have no number" {
    in_window launches:1:3 captured captured 1 captured 2 1
    [ "$outside" = 2 ]
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 2 ]
}

@test "a window holds for all threads" {
    lay "2 3 4 " 4 profile-from-start:off 1 thread 1 start 1 thread 2 stop thread 1 1
    lay "1 2 3 " 2 launches:1:4 thread 2 1 thread 2
}

@test "delays and durations" {
    lay "" 3 delay:1000 3
    lay "0 1 " none delay:0 2
    lay "0 1 " 0 duration:1000 2
    lay "1 2 " 1 warm-up:100ms 1 nap 2
    # A nap is longer than the window.
    in_window profile-from-start:off,duration:100ms 1 start nap 3
    [ "$outside" = 4 ]
    # It lasted that long, and not until the end.
    grep '"type":"end"' "$BATS_TEST_TMPDIR/as_written" | grep -q '"window_seconds":0\.1[0-9]*,'
}

@test "launches that are only timed are those in the window, and so are copies" {
    GPUPROF_METRICS=duration lay "2 " 3 profile-from-start:off 2 start 1 stop 1
    GPUPROF_COPIES=on in_window profile-from-start:off copy copy 1 start copy 1 stop copy
    [ "$(grep '"kind":"memcpy HtoD"' "$BATS_TEST_TMPDIR/as_written" | grep -o '"calls":[0-9]*')" = '"calls":1' ]
}

@test "a window that never opened is named, and gives no verdict" {
    printf '[*]\nduration < 1 s\n' >"$BATS_TEST_TMPDIR/rules.ini"
    in_window profile-from-start:off 3
    [ "$numbers" = "" ]
    grep -q "^gpuprof: no launch was measured: the program did not call cudaProfilerStart, which opens the window (profile-from-start:off)$" "$log"
    grep -q '^Window:  *3 launches' "$log"
    empty=$BATS_TEST_TMPDIR/empty.jsonl
    cp "$BATS_TEST_TMPDIR/as_written" "$empty"
    in_window launches:10:20 3
    grep -q "^gpuprof: no launch was measured: all 3 lay outside the window (launches:10:20)$" "$log"
    # A process without a launch says nothing.
    GPUPROF_WINDOW=profile-from-start:off GPUPROF_LOG=$log.none LD_PRELOAD=$preload "$programs/window_linked"
    [ ! -s "$log.none" ]

    [ -z "$GPUPROF_RUNTIMES" ] || return 0 # the command does not know of sanitizers
    run --separate-stderr "$GPUPROF_BUILD/gpuprof" --profile-from-start off --check "$BATS_TEST_TMPDIR/rules.ini" "$programs/window_linked" 3
    [ "$status" -eq 2 ]
    [[ $stderr == *"no launch lay in the window that was to be measured"* ]]
    # Beside a run that holds, too.
    in_window profile-from-start:off start 3
    run "$GPUPROF_BUILD/gpuprof" check -t "$BATS_TEST_TMPDIR/rules.ini" "$BATS_TEST_TMPDIR/as_written"
    [ "$status" -eq 0 ]
    run "$GPUPROF_BUILD/gpuprof" check -t "$BATS_TEST_TMPDIR/rules.ini" "$BATS_TEST_TMPDIR/as_written" "$empty"
    [ "$status" -eq 2 ]
    [[ $output == *"$empty: no launch lay in the window that was to be measured"* ]]
    # In the process itself, without the command.
    GPUPROF_WINDOW=delay:1000 GPUPROF_CHECK=$BATS_TEST_TMPDIR/rules.ini GPUPROF_LOG=$log.check LD_PRELOAD=$preload \
        "$programs/window_linked" 3
    grep -q "^this run: no launch lay in the window that was to be measured" "$log.check"
}

@test "checks and baselines are of the window" {
    printf '[scale_in_place]\nlaunches == 2\n' >"$BATS_TEST_TMPDIR/rules.ini"
    in_window profile-from-start:off 40 start 2 stop 40
    run "$GPUPROF_BUILD/gpuprof" check -t "$BATS_TEST_TMPDIR/rules.ini" "$BATS_TEST_TMPDIR/as_written"
    [ "$status" -eq 0 ]
    "$GPUPROF_BUILD/gpuprof" baseline --metrics duration -o "$BATS_TEST_TMPDIR/base.json" "$BATS_TEST_TMPDIR/as_written"
    cp "$BATS_TEST_TMPDIR/as_written" "$BATS_TEST_TMPDIR/first"
    in_window profile-from-start:off 5 start 2 stop
    run "$GPUPROF_BUILD/gpuprof" check -b "$BATS_TEST_TMPDIR/base.json" "$BATS_TEST_TMPDIR/as_written"
    [ "$status" -eq 0 ]
    [[ $output != *"measured was"* ]]
    # Parts that are not the same are named.
    in_window "" 2
    run "$GPUPROF_BUILD/gpuprof" check -b "$BATS_TEST_TMPDIR/base.json" "$BATS_TEST_TMPDIR/as_written"
    [[ $output == *"measured was profile-from-start:off, now it is all of the program: launches and totals are of different parts of the program"* ]]
    run "$GPUPROF_BUILD/gpuprof" compare "$BATS_TEST_TMPDIR/as_written" "$BATS_TEST_TMPDIR/first"
    [[ $output == *"measured was all of the program, now it is profile-from-start:off: "* ]]
    "$GPUPROF_BUILD/gpuprof" baseline --metrics duration -o "$BATS_TEST_TMPDIR/whole.json" "$BATS_TEST_TMPDIR/as_written"
    ! grep window "$BATS_TEST_TMPDIR/whole.json" || false
    run "$GPUPROF_BUILD/gpuprof" check -b "$BATS_TEST_TMPDIR/whole.json" "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/as_written"
    [[ $output == *"measured was all of the program, now it is several parts of the program: "* ]]
}

@test "a program that is killed outside its window is reported as far as it came" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    run --separate-stderr "$GPUPROF_BUILD/gpuprof" -o "$profile" --launches 0:3 "$programs/window_linked" 10 nap kill
    [ "$status" -eq 137 ]
    # The seven outside are not missing.
    [[ $stderr == *"all its 3 launches are measured"* ]]
    [[ $stderr == *"Window:"*"launches that lay outside were not measured (launches:0:3)"* ]]
}

@test "launches that wait are measured where the window closes" {
    measured_before_kill() {
        rm -f "$profile"
        { GPUPROF_WINDOW=$1 GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
            "$programs/window_linked" "${@:2}" kill || true; } 2>/dev/null
        grep -c '^."launch",' "$profile" || true
    }
    [ "$(measured_before_kill profile-from-start:off start 5)" -lt 5 ] # they wait
    [ "$(measured_before_kill profile-from-start:off start 5 stop)" -eq 5 ]
    [ "$(measured_before_kill launches:0:5 5)" -lt 5 ]
    [ "$(measured_before_kill launches:0:5 6)" -eq 5 ]
    [ "$(measured_before_kill launches:0:6 graph graph graph)" -eq 6 ]
}

@test "a forked child has a window of its own" {
    lay "1 " 1 profile-from-start:off fork 1 start 1
    # The parent has a launch in its window; its child is not measured by it.
    [ "$(grep -c '"type":"header"' "$BATS_TEST_TMPDIR/as_written")" -eq 1 ]
}

@test "a mistake in the variable is one line, and all of the program is measured" {
    lay "0 1 2 " none delay:soon 3
    grep -q "^gpuprof: GPUPROF_WINDOW=delay:soon: 'soon' is no time; say 5, 5s, 500ms or 2m; all of the program is measured$" "$log"
}
