#!/usr/bin/env bats
# "which added ...": what gpuprof says that it added is what the program took longer.

load common

# seconds COMMAND...: how long it takes.
seconds() {
    local began=$EPOCHREALTIME
    "$@" >/dev/null 2>&1 || return
    awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print ended - began }'
}

# The seconds that the report in the file says.
said() {
    sed -n 's/.* which added \([0-9.]* [a-z]*\)$/\1/p' "$1" |
        awk '$2 == "s" { print $1 } $2 == "ms" { print $1 / 1e3 }'
}

# added_is_right PERCENT COMMAND...: without us, with us, and the difference is said, in the report
# and in the profile.
added_is_right() {
    local percent=$1 plain ours
    shift
    # Another program may hold up one of these, but hardly all.
    plain=$(for _ in 1 2 3; do seconds "$@"; done | sort -g | head -1)
    ours=$(seconds env GPUPROF_LOG="$log" GPUPROF_OUTPUT="$profile" LD_PRELOAD="$preload" "$@")
    echo "$plain s, $ours s under gpuprof, which says that it added $(said "$log") s"
    awk -v plain="$plain" -v ours="$ours" -v said="$(said "$log")" -v percent="$percent" 'BEGIN {
        took = ours - plain
        exit !(said > took * (1 - percent / 100) && said < took * (1 + percent / 100)) }'
    "$GPUPROF_BUILD/gpuprof" report "$profile" >"$log.later"
    echo "the profile says $(said "$log.later") s"
    awk -v now="$(said "$log")" -v later="$(said "$log.later")" \
        'BEGIN { exit !(later >= now && later < now + 0.1) }'
}

@test "starting, stopping and reading sessions count" {
    GPUSIM_FAULTS=slowcounters added_is_right 8 "$programs/snippets_linked" --launches 300 in_place
}

@test "the program's own kernels do not count" {
    GPUSIM_FAULTS=slow,slowcounters added_is_right 6 "$programs/snippets_linked" --launches 10 in_place
    export GPUPROF_REPLAY=off
    GPUSIM_FAULTS=slow,slowcounters added_is_right 8 "$programs/snippets_linked" --launches 24 in_place
}

@test "work of the program's that a launch waits for does not count" {
    export GPUPROF_SAMPLE=every:11
    GPUSIM_FAULTS=slow,slowcounters added_is_right 8 "$programs/snippets_linked" --launches 24 in_place
}

@test "threads that wait for one another count once" {
    GPUSIM_FAULTS=slowcounters added_is_right 15 "$programs/threads_linked" own 2
}

@test "a report of some launches says what these added" {
    GPUSIM_FAULTS=slowcounters profiled "$programs/snippets_linked" --launches 20 in_place
    "$GPUPROF_BUILD/gpuprof" report --launch-count 1 "$profile" >"$log.one"
    awk -v all="$(said "$log")" -v one="$(said "$log.one")" 'BEGIN { exit !(one > 0 && one < all) }'
}

@test "a profile without its end says what its launches added" {
    GPUSIM_FAULTS=slowcounters profiled "$programs/snippets_linked" --launches 3 in_place
    sed -i '/"type": *"end"/d' "$profile"
    [ -n "$("$GPUPROF_BUILD/gpuprof" report "$profile" | said /dev/stdin)" ]
}
