#!/usr/bin/env bats
# GPUPROF_SAMPLE: some launches are measured, all are counted, and the program never notices.

load common

# counted KERNEL: how many launches of it the profile counts, all configurations together.
counted() {
    grep '"type":"count"' "$profile" | grep "\"kernel\":\"$1\"" |
        sed 's/.*"launches":\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0 }'
}

# indices KERNEL: the launches that were measured, by their numbers.
indices() {
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"$1" | sed 's/.*"index":\([0-9]*\).*/\1/' |
        paste -sd' '
}

@test "the first so many" {
    export GPUPROF_SAMPLE=first:3
    same_with_and_without "$programs/snippets_linked" --launches 20 in_place
    [ "$(indices scale_in_place)" = "0 1 2" ]
    [ "$(counted scale_in_place)" -eq 20 ]
    grep -q '"sample":"first:3"' "$profile"
    grep -q "some launches were measured: first:3" "$log"
    grep -q "3 of 20 " "$log"
    grep -Eq ": 20 kernel launches, 3 measured with [78] replays" "$log"
}

@test "where measuring takes long, with many launches of one kernel, a message names sampling once" {
    # That is longer than four times GPUPROF_TIMEOUT, at the latest with the 768th launch.
    GPUPROF_TIMEOUT=0.1 same_with_and_without "$programs/snippets_linked" --launches 780 in_place
    [ "$(grep -cE "one kernel was measured (256|512|768) times; GPUPROF_SAMPLE=auto" "$log")" -eq 1 ]
    same_with_and_without "$programs/snippets_linked" --launches 300 in_place
    [ "$(grep -c "measuring has added" "$log")" -eq 0 ]
    GPUPROF_TIMEOUT=0.1 GPUPROF_SAMPLE=first:1000 \
        same_with_and_without "$programs/snippets_linked" --launches 780 in_place
    [ "$(grep -c "measuring has added" "$log")" -eq 0 ]
}

@test "ever fewer launches, the same ones in each run" {
    export GPUPROF_SAMPLE=auto
    same_with_and_without "$programs/snippets_linked" --launches 300 in_place
    chosen=$(indices scale_in_place)
    [[ $chosen = "0 1 2 3 4 5 6 7 "* ]]
    [ "$(wc -w <<<"$chosen")" -eq $((8 + 4 * 5 + 1)) ]
    [ "$(counted scale_in_place)" -eq 300 ]
    grep -q "some launches were measured: auto" "$log"
    same_with_and_without "$programs/snippets_linked" --launches 300 in_place
    [ "$(indices scale_in_place)" = "$chosen" ]
}

@test "one in so many begins with the first" {
    export GPUPROF_SAMPLE=every:7
    same_with_and_without "$programs/snippets_linked" --launches 20 in_place
    [ "$(indices scale_in_place)" = "0 7 14" ]
}

@test "the first so many, then one in so many" {
    export GPUPROF_SAMPLE=first:2,every:10
    same_with_and_without "$programs/snippets_linked" --launches 35 in_place
    [ "$(indices scale_in_place)" = "0 1 11 21 31" ]
    "$GPUPROF_BUILD/gpuprof" report --details "$profile" | grep -q "35 launches, 5 measured"
}

@test "launches that are not selected are numbered all the same" {
    export GPUPROF_KERNELS='^vector'
    same_with_and_without "$programs/snippets_linked" --launches 5 in_place vector_add
    [ "$(indices vector_add)" = 5 ]
    [ "$(indices scale_in_place)" = "" ]
    export GPUPROF_KERNELS='^scale' GPUPROF_SAMPLE=every:2
    same_with_and_without "$programs/snippets_linked" --launches 5 vector_add in_place
    [ "$(indices scale_in_place)" = "1 3 5" ]
}

@test "each kernel by itself, the same program in every way of launching" {
    export GPUPROF_SAMPLE=first:1
    for program in snippets_linked snippets_dlopen snippets_getproc; do
        same_with_and_without "$programs/$program"
        [ "$(indices scale_in_place | wc -w)" -ge 1 ]
        # Nothing is measured twice in one configuration.
        shapes=$(grep '"type":"launch"' "$profile" | sed 's/.*\("kernel":"[^"]*"\).*\("grid":[^a-z]*"block":[^a-z]*"cluster":[^]]*\).*\("shared_dynamic":[0-9]*\).*/\1\2\3/')
        [ -n "$shapes" ]
        [ "$(sort <<<"$shapes" | uniq -d)" = "" ]
    done
}

@test "many threads, and contexts that come and go" {
    export GPUPROF_SAMPLE=first:2
    for mode in shared own default; do
        same_with_and_without "$programs/threads_linked" $mode 6
        [ "$(counted scale_in_place)" -eq 30 ]
        # Each thread has its own grid.
        [ "$(grep -c '"type":"count"' "$profile")" -eq 6 ]
        [ "$(indices scale_in_place | wc -w)" -eq 12 ]
    done
}

@test "without it every launch is counted as well" {
    profiled "$programs/snippets_linked" --launches 4 in_place
    [ "$(indices scale_in_place)" = "0 1 2 3" ]
    [ "$(counted scale_in_place)" -eq 4 ]
    ! grep -q '"sample"' "$profile" || false
}

@test "kernels that nobody asked for are not counted" {
    export GPUPROF_KERNELS='^vector'
    profiled "$programs/snippets_linked" --launches 4 vector_add in_place
    [ "$(counted scale_in_place)" -eq 0 ]
    [ "$(counted vector_add)" -eq 1 ]
}

@test "launches that are captured into a graph are none, those that the graph makes are" {
    profiled "$programs/snippets_linked" --launches 4 graph
    [ "$(counted scale_in_place)" -eq 8 ]
    profiled "$programs/graphs_linked" wide_waits_often # this one is launched as a whole
    [ "$(counted scale_in_place)" -eq 30 ]
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 0 ]
}

@test "a program that ends at once leaves every measured launch" {
    cat >"$BATS_TEST_TMPDIR/kill.sh" <<'END'
"$@" --launches 100000 in_place &
until [ "$(grep -cE '^\["(early|launch)"' "$GPUPROF_OUTPUT")" -ge 3 ]; do sleep 0.1; done
kill -9 $!
END
    export GPUPROF_SAMPLE=first:3
    profiled bash "$BATS_TEST_TMPDIR/kill.sh" "$programs/snippets_linked"
    if [ "$(grep -c '"type":"count"' "$profile")" -eq 0 ]; then
        [ "$(indices scale_in_place)" = "0 1 2" ]
    fi
    run "$GPUPROF_BUILD/gpuprof" report --details "$profile"
    [ "$status" -eq 0 ]
}

@test "a rule that is none is one line, and every launch is measured" {
    for rule in last:3 first:0 first:3,every; do
        GPUPROF_SAMPLE=$rule profiled "$programs/snippets_linked" --launches 4 in_place
        grep -q "^gpuprof: GPUPROF_SAMPLE=$rule: no rule; say first:N, every:M or first:N,every:M" "$log"
        [ "$(indices scale_in_place)" = "0 1 2 3" ]
    done
}

@test "GPUPROF_REPLAY is on or off" {
    GPUPROF_REPLAY=never profiled "$programs/snippets_linked" vector_add
    grep -q "^gpuprof: GPUPROF_REPLAY=never: unknown; say on or later (the default), off or now" "$log"
    ! grep -q '"replay"' "$profile" || false
    GPUPROF_REPLAY=later profiled "$programs/snippets_linked" vector_add
    [ "$(grep -c "unknown" "$log")" -eq 0 ]
    ! grep -q '"replay"' "$profile" || false
    GPUPROF_REPLAY=off profiled "$programs/snippets_linked" vector_add
    grep -q '"replay":"off"' "$profile"
}

@test "kernels of graphs: those that are left out go through in their graph, and are counted" {
    export GPUPROF_SAMPLE=first:4
    same_with_and_without "$programs/graphs_linked" line
    [ "$(indices scale_in_place)" = "0 1 2 3" ]
    [ "$(counted scale_in_place)" -eq 15 ]
    GPUPROF_SAMPLE=every:7 same_with_and_without "$programs/graphs_linked" branches
    [ "$(counted scale_in_place)" -eq 100 ]
    [ "$(measured scale_in_place)" -eq 15 ]
}

@test "kernels of graphs without replay" {
    export GPUPROF_REPLAY=off
    for case in line branches copies child threads; do
        same_with_and_without "$programs/graphs_linked" $case
        [ "$(measured scale_in_place)" -gt 0 ]
    done
}

@test "without replay each of several hardware passes counts" {
    export GPUSIM_PASSES=3
    profiled "$programs/snippets_linked" in_place
    replayed=$(grep -o '"dram__bytes_read.sum":[0-9]*' "$profile" | sort -u)
    [ -n "$replayed" ]
    GPUPROF_REPLAY=off profiled "$programs/snippets_linked" --launches 8 in_place
    [ "$(grep -c "$replayed" "$profile")" -eq 2 ]
    [ "$(grep -c '"smsp__inst_executed.sum":[0-9]' "$profile")" -eq 2 ]
    [ "$(grep -c 'nothing to divide by' "$profile")" -eq 0 ]
}

@test "without replay no turn goes by in which nothing is collected" {
    # collects METRICS TIMED HARDWARE INSTRUMENTED: of 9 launches so many have each kind of counter.
    collects() {
        GPUPROF_METRICS=$1 GPUPROF_REPLAY=off profiled "$programs/snippets_linked" --launches 9 in_place
        [ "$(grep -c '"gpu__time_duration.sum":[0-9]' "$profile")" -eq "$2" ]
        [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile")" -eq "$3" ]
        [ "$(grep -c '"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum":[0-9]' "$profile")" -eq "$4" ]
    }
    collects duration 9 0 0
    collects duration,flop_count_sp 5 0 4
    collects duration,dram_read_bytes 5 4 0
    collects duration,dram_read_bytes,flop_count_sp 3 3 3
    # The first launch only shows that the kernel ends.
    collects dram_read_bytes 0 8 0
    collects flop_count_sp 0 0 8
    collects dram_read_bytes,flop_count_sp 0 4 4
    # A counter that this chip does not have takes no turn.
    mkdir -p "$BATS_TEST_TMPDIR/gpuprof"
    printf '[none]\nformula = no__such_counter.sum\n' >"$BATS_TEST_TMPDIR/gpuprof/none.ini"
    collects duration,none 9 0 0
}

@test "a kernel of a library that is launched on two GPUs by one handle, and left out, is counted on each" {
    GPUSIM_DEVICES=2 GPUPROF_OVERHEAD=1ms profiled "$programs/contexts_linked" devices_one_kernel
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile" |
        jq -e '[.profiles[0].kernels[] | [.device, .launches]] | sort == [[0, 50], [1, 50]]'
}
