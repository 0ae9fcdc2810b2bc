#!/usr/bin/env bats
# A run of several processes: each has a profile, all of them are read as one, and nothing is overwritten but
# files of an earlier run.

bats_require_minimum_version 1.5.0
load common

# launches_in FILE: its launches as a report counts them.
launches_in() {
    "$gpuprof" report "$1" | sed -n 's/^gpuprof [^:]*: \([0-9]*\) kernel launch.*/\1/p'
}

# wrote FILE...: these profiles are there, and no others.
wrote() {
    [ "$(ls | grep jsonl | tr '\n' ' ')" = "$*${*:+ }" ] || {
        ls
        return 1
    }
}

@test "one process behind the other, by the command and without it" {
    in_folder
    for start in "$gpuprof --quiet -o run.jsonl" "env GPUPROF_LOG=/dev/null GPUPROF_OUTPUT=run.jsonl LD_PRELOAD=$preload"; do
        rm -f ./*.jsonl
        $start sh -c '"$0" 3x256; "$0" 4x256; "$0" 5x256' "$alike"
        wrote run.002.jsonl run.003.jsonl run.jsonl
        [ "$(launches_in run.jsonl)" -eq 12 ]
        [ "$(launches_in run.002.jsonl)" -eq 4 ]
        [ "$("$gpuprof" report --alone run.jsonl run.003.jsonl | grep -c '^gpuprof .* [35] kernel launches')" -eq 2 ]
    done
}

@test "a file beside the one that was asked for is said once" {
    in_folder
    run "$gpuprof" -o run.jsonl sh -c '"$0" 1x256; "$0" 1x256; "$0" 1x256' "$alike"
    [ "$(grep -c '^gpuprof: ' <<<"$output")" -eq 1 ]
    grep -Eq "^gpuprof: $PWD/run.jsonl: another process of this run has that file; the profile of process [0-9]+ is $PWD/run.002.jsonl" <<<"$output"
}

@test "processes at the same time share no file, and lose none" {
    in_folder
    for _ in 1 2 3; do
        "$gpuprof" --quiet -o run.jsonl sh -c 'for i in 1 2 3 4 5 6; do "$0" 2x256 & done; wait' "$alike" >/dev/null
        wrote run.002.jsonl run.003.jsonl run.004.jsonl run.005.jsonl run.006.jsonl run.jsonl
        [ "$(launches_in run.jsonl)" -eq 12 ]
    done
}

@test "a run does not read files of an earlier one" {
    in_folder
    "$gpuprof" --quiet -o run.jsonl sh -c '"$0" 3x256; "$0" 4x256' "$alike"
    "$gpuprof" --quiet -o run.jsonl "$alike" 5x256
    wrote run.002.jsonl run.jsonl
    [ "$(launches_in run.jsonl)" -eq 5 ]
    [ "$(launches_in run.002.jsonl)" -eq 4 ]
}

@test "a process without a launch writes no file and says nothing" {
    in_folder
    # It uses CUDA first, and copies; the training comes later.
    run "$gpuprof" -o run.jsonl sh -c '"$0" 0x256 & wait; "$0" 3x256; "$0" 0x256; for i in 1 2 3 4 5 6 7 8; do sh -c :; done' "$alike"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^gpuprof' <<<"$output")" -eq 1 ]
    wrote run.jsonl
    [ "$(launches_in run.jsonl)" -eq 3 ]
    rm run.jsonl
    run env GPUPROF_OUTPUT=run.jsonl LD_PRELOAD="$preload" "$alike" 0x256
    [ "${#lines[@]}" -eq 1 ] # its own
    wrote
    # The program itself gets a word.
    run "$gpuprof" -o run.jsonl "$alike" 0x256
    [ "${lines[0]}" = "gpuprof: the program launched no kernel: there is nothing to report" ] ||
        [ "${lines[1]}" = "gpuprof: the program launched no kernel: there is nothing to report" ]
    wrote
}

@test "a process that becomes another program keeps its launches" {
    in_folder
    for name in run.jsonl 'run.%p.jsonl' run.jsonl.zst; do
        rm -f ./*.jsonl*
        "$gpuprof" --quiet -o "$name" "$alike" 40x256 exec "$alike" 5x256
        first=$(ls ./run*jsonl* | grep -v '\.002\.')
        [ "$(ls ./run*jsonl* | wc -l)" -eq 2 ]
        [ "$(launches_in "$first")" -eq 45 ]
    done
}

@test "a process whose environment was made anew belongs to the run" {
    in_folder
    "$gpuprof" --quiet -o run.jsonl sh -c '"$0" 3x256
        env -i PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" GPUPROF_CUPTI="$GPUPROF_CUPTI" LD_PRELOAD="$LD_PRELOAD" \
            GPUPROF_LOG=/dev/null GPUPROF_OUTPUT="$GPUPROF_OUTPUT" "$0" 4x256' "$alike"
    wrote run.002.jsonl run.jsonl
    [ "$(launches_in run.jsonl)" -eq 7 ]
}

@test "a forked process that uses CUDA by itself" {
    in_folder
    for when in before after; do
        rm -f ./*.jsonl
        "$gpuprof" --quiet -o run.jsonl "$programs/fork_dlopen" $when
        ls ./*.jsonl
        alone=$(for f in ./*.jsonl; do "$gpuprof" report --alone "$f"; done | sed -n 's/^gpuprof [^:]*: \([0-9]*\) kernel launch.*/\1/p' |
            awk '{ n += $1 } END { print n }')
        [ "$(launches_in run.jsonl)" -eq "$alone" ]
    done
}

@test "a command inside a run belongs to it, unless it asks for files of its own" {
    in_folder
    "$gpuprof" --quiet -o run.jsonl sh -c '"$0" "$1" 3x256; "$1" 4x256' "$gpuprof" "$alike"
    wrote run.002.jsonl run.jsonl
    [ "$(launches_in run.jsonl)" -eq 7 ]
    rm ./*.jsonl
    "$gpuprof" --quiet -o run.jsonl sh -c '"$0" -o own.jsonl "$1" 3x256; "$1" 4x256' "$gpuprof" "$alike"
    wrote own.jsonl run.jsonl
    [ "$(launches_in run.jsonl)" -eq 4 ]
    # One report for each process, and none of the outer command.
    run "$gpuprof" sh -c '"$0" "$1" 3x256; "$0" -o own.jsonl "$1" 5x256' "$gpuprof" "$alike"
    [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 2 ]
}

@test "every command takes the files of a run for one profile" {
    in_folder
    for i in 1 2 3; do
        "$gpuprof" --quiet -o run$i.jsonl sh -c '"$0" 3x256; "$0" 4x256' "$alike"
    done
    printf '%s\n' '[scale_in_place]' 'launches == 7' >rules.ini
    run "$gpuprof" check -t rules.ini run1.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" --quiet --check rules.ini sh -c '"$0" 3x256; "$0" 4x256' "$alike"
    [ "$status" -eq 0 ]
    run "$gpuprof" --quiet -o own.jsonl --check rules.ini sh -c '"$0" 3x256; "$0" 3x256' "$alike"
    [ "$status" -eq 1 ]
    # Files that are named besides are not read twice, and are no further runs.
    run "$gpuprof" check -t rules.ini run?.jsonl run?.002.jsonl
    [ "$status" -eq 0 ]
    "$gpuprof" baseline run*.jsonl -o base.json
    grep -q '"runs": *3' base.json
    "$gpuprof" history add --db h.db run1.jsonl run1.002.jsonl
    [ "$("$gpuprof" history show --db h.db | wc -l)" -eq 2 ]
    "$gpuprof" compare run1.jsonl run2.jsonl | grep -q scale_in_place
    "$gpuprof" report --merge run1*.jsonl run2*.jsonl | grep -q ': 14 kernel launches'
    "$gpuprof" report --print launches run1.jsonl | grep -c '"type":"launch"' | grep -qx 7
    "$gpuprof" report --print json run1.jsonl | grep -q '"launches": *7'
    "$gpuprof" thresholds --from run1.jsonl --margin 10% >/dev/null
    "$gpuprof" source run1.jsonl scale_in_place | head -3
}

@test "processes of a run share a log, and an earlier run's is emptied" {
    in_folder
    for start in "$gpuprof --log log" "env GPUPROF_LOG=log LD_PRELOAD=$preload"; do
        for _ in 1 2; do
            $start sh -c '"$0" 3x256 & "$0" 4x256 & wait; "$0" 5x256' "$alike" >/dev/null
            [ "$(grep -c '^gpuprof [0-9]' log)" -eq 3 ] || { cat log; false; }
        done
    done
}

@test "a profile that somebody else is writing is left alone" {
    in_folder
    "$gpuprof" --quiet -o run.jsonl "$alike" 3x256 wait >out &
    first=$!
    until [ -s run.jsonl ]; do sleep 0.05; done
    run "$gpuprof" -o run.jsonl "$alike" 4x256
    grep -q "run.jsonl: another run is writing that file; the profile of process [0-9]* is $PWD/run.002.jsonl" <<<"$output"
    kill $first
    wait $first || true
    [ "$(launches_in run.jsonl)" -eq 3 ]
    [ "$(launches_in run.002.jsonl)" -eq 4 ]
}
