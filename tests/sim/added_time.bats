#!/usr/bin/env bats
# "which added ...": the time in the report is the difference between the times of two runs.
#
# How long anything takes depends on the other work of the machine. So the simulated GPU says how long it
# slept: more sleep under gpuprof was added, at least; sleep for the program's own work
# was not, however long all of it took.

load common

# The seconds that the simulated GPU slept.
slept() {
    awk '{ all += $1 } END { print all / 1e3 }' "$1"
}

# The seconds that the report in the file says.
said() {
    sed -n 's/.* which added \([0-9.]* [a-z]*\)$/\1/p' "$1" |
        awk '$2 == "s" { print $1 } $2 == "ms" { print $1 / 1e3 }'
}

# added_is_right COMMAND...: without us, with us, and the difference is said, in the report and in the
# profile. Work of ours on the host, while kernels of the program run that a launch waits for, may take $beside seconds.
added_is_right() {
    local began ended beside=${beside:-0}
    rm -f "$log".sleeps.*
    touch "$log".sleeps.{own,ours}
    GPUSIM_SLEEPS=$log.sleeps.own "$@"
    began=$EPOCHREALTIME
    GPUSIM_SLEEPS=$log.sleeps.ours GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload "$@"
    ended=$EPOCHREALTIME
    awk -v began="$began" -v ended="$ended" -v said="$(said "$log")" \
        -v own="$(slept "$log.sleeps.own")" -v ours="$(slept "$log.sleeps.ours")" -v beside="$beside" 'BEGIN {
        took = ended - began
        print took " s, which sleep " ours " s, " own " s without gpuprof, which says that it added " said " s"
        exit !(own >= 0 && ours > own && said > ours - own && said < took - own + beside) }'
    # The profile ends after the report, which took time, too.
    "$GPUPROF_BUILD/gpuprof" report "$profile" >"$log.later"
    echo "the profile says $(said "$log.later") s"
    awk -v began="$began" -v ended="$ended" -v now="$(said "$log")" -v later="$(said "$log.later")" \
        -v own="$(slept "$log.sleeps.own")" -v beside="$beside" \
        'BEGIN { exit !(later >= now && later < ended - began - own + beside) }'
}

@test "starting, stopping and reading sessions count" {
    GPUSIM_FAULTS=slowcounters added_is_right "$programs/changes_linked" many
}

@test "the program's own kernels do not count" {
    GPUSIM_FAULTS=slow,slowcounters added_is_right "$programs/snippets_linked" --launches 10 in_place
    export GPUPROF_REPLAY=off
    GPUSIM_FAULTS=slow,slowcounters added_is_right "$programs/snippets_linked" --launches 24 in_place
}

@test "work of the program's that a launch waits for does not count" {
    export GPUPROF_SAMPLE=every:11
    # Two launches wait for 0.2 s each.
    beside=0.1 GPUSIM_FAULTS=slow,slowcounters added_is_right "$programs/snippets_linked" --launches 24 in_place
}

@test "threads that wait for one another count once" {
    GPUSIM_FAULTS=slowcounters added_is_right "$programs/threads_linked" own 2
}

@test "a report of some launches gives the time that these added" {
    GPUSIM_FAULTS=slowcounters profiled "$programs/snippets_linked" --launches 20 in_place
    "$GPUPROF_BUILD/gpuprof" report --launch-count 1 "$profile" >"$log.one"
    awk -v all="$(said "$log")" -v one="$(said "$log.one")" 'BEGIN { exit !(one > 0 && one < all) }'
}

@test "a profile without its end gives the time that its launches added" {
    GPUSIM_FAULTS=slowcounters profiled "$programs/snippets_linked" --launches 3 in_place
    sed -i '/"type": *"end"/d' "$profile"
    [ -n "$("$GPUPROF_BUILD/gpuprof" report "$profile" | said /dev/stdin)" ]
}

@test "the times of launches are no more than all that is added, where they make room for each other" {
    GPUPROF_MEMORY=9M GPUPROF_DIAGNOSIS=off profiled "$programs/arena_linked" pieces
    launches | sed 's/.*"overhead_ms":\([0-9.]*\),.*/\1/' >"$BATS_TEST_TMPDIR/launches"
    awk -v added="$(sed -n 's/.*"added_seconds":\([0-9.e-]*\),.*/\1/p' "$profile" | tail -n 1)" '
        { all += $1 / 1e3 } END { print NR " launches, " all " s of " added " s"; exit !(NR == 260 && all <= added) }' \
        "$BATS_TEST_TMPDIR/launches"
}
