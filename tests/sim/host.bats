# The calls of the program's host between launches: how many, of which kind.

bats_require_minimum_version 1.5.0

load common

# value NAME: of the end of the profile.
value() { grep '"type":"end"' "$profile" | grep -o "\"host_$1\":[0-9.e+-]*" | cut -d: -f2; }

# counts LAUNCHES COPIES WAITS ALLOCATIONS FREES WORD...: host_linked with these words makes so many calls behind its
# first launch. At its end it makes a copy, a wait and a free besides.
counts() {
    local expected="$1 $(($2 + 1)) $(($3 + 1)) $4 $(($5 + 1))" plain found
    shift 5
    rm -f "$profile" "$log"
    plain=$("$programs/host_linked" "$@")
    [ "$(GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload timeout 300 "$programs/host_linked" "$@")" = "$plain" ]
    found="$(value launches) $(value copies) $(value waits) $(value allocations) $(value frees)"
    [ "$found" = "$expected" ] || { echo "$*: $found, not $expected"; return 1; }
}

# each_way LAUNCHES ...: the same without measuring, with all launches measured, and with each waited for.
each_way() {
    counts "$@"
    GPUPROF_METRICS=duration counts "$@"
    GPUPROF_REPLAY=now counts "$@"
    GPUPROF_SAMPLE=first:1 counts "$@"
}

@test "calls of each kind are counted, measured or not" {
    each_way 6 35 20 30 30 1 launch 5 launch to from by to from by to context stream event context memory pitched managed \
        locked registered memory
    # 7 copies in each round, of 1024 bytes, and that at the end.
    [ "$(value copies_bytes)" -eq $((36 * 1024)) ]
}

@test "calls in front of the first launch are set-up" {
    counts 1 0 0 0 0 7 to context memory 1 launch
    # A graph is a launch, and none that is made one by one; a launch that is captured is none.
    counts 0 3 3 3 3 7 to context memory 1 graph 3 to context memory
    counts 1 0 0 0 0 7 captured to context memory 1 launch
}

@test "calls that take the host no time are not counted" {
    each_way 3 0 0 0 0 1 launch 2 launch device asynchronous pooled nothing wrong captured
}

@test "frees and allocations that gpuprof answers itself are counted" {
    each_way 31 0 0 30 30 1 launch 30 used
    counts 31 0 0 30 30 1 launch 30 used
    [ $(($(value frees_timed) + $(value frees_disturbed))) -lt 31 ]
}

@test "the report has the calls of all processes" {
    counts 4 2 3 1 1 4 launch 1 to to context context context memory
    cp "$profile" "$BATS_TEST_TMPDIR/other.jsonl"
    counts 4 2 3 1 1 4 launch 1 to to context context context memory
    "$GPUPROF_BUILD/gpuprof" report --print json --merge "$profile" "$BATS_TEST_TMPDIR/other.jsonl" >"$BATS_TEST_TMPDIR/json"
    python3 -c '
import json, sys
host = json.load(sys.stdin)["profiles"][0]["summary"]["host"]
assert host["launches"] == 8, host
calls = {kind: host[kind]["calls"] for kind in ("copies", "waits", "allocations", "frees")}
assert calls == {"copies": 6, "waits": 8, "allocations": 2, "frees": 4}, calls
assert host["copies"]["bytes"] == 6 * 1024, host' <"$BATS_TEST_TMPDIR/json"
    # A profile of an earlier version has none.
    sed -i 's/,"host_[a-z_]*":[0-9.e+-]*//g' "$profile"
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile" | grep -q '"host":null'
}

@test "the window has its calls alone" {
    GPUPROF_WINDOW=profile-from-start:off counts 2 1 2 3 3 9 launch to context memory 1 start 1 launch 1 to context \
        memory 1 launch context memory memory 1 stop 5 launch to context memory 1 start
    # Of the four rounds the second one: the third launch closes it, so that the end lies outside.
    GPUPROF_WINDOW=launches:1:3 counts 2 0 0 0 -1 4 launch to context
}

@test "calls of all threads are counted" {
    each_way 81 40 40 40 40 1 launch 20 twice launch launch to context memory
}

@test "times are of calls that nothing of gpuprof lies in" {
    # Launches that are timed are no reason to lock the gate.
    GPUPROF_METRICS=duration counts 21 20 20 20 20 1 launch 20 launch to context memory
    [ "$(value copies_timed)" -eq 21 ]
    [ "$(value waits_timed)" -eq 21 ]
    [ "$(value allocations_timed)" -eq 20 ]
    [ "$(value frees_timed)" -eq 21 ]
    # Each launch is waited for and replayed: the first call behind it may wait less than without gpuprof, or for it.
    GPUPROF_REPLAY=now counts 21 0 40 0 0 1 launch 20 launch context context
    [ "$(value waits_timed)" -le 21 ]
    [ "$(value waits_timed)" -ge 20 ]
}
