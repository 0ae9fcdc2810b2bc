#!/usr/bin/env bats
# Graphs run as graphs, for the program; their kernels are measured behind them, on the memory that
# the graph found. In every case the program does the same as without gpuprof.

load common

# again CASE [KERNELS]: runs it both ways; so many kernels have been measured.
again() {
    same_with_and_without "$programs/again_linked" "$1"
    [[ $(forgotten) == "of "* ]]
    [ "$(measured)" -eq "${2:-0}" ] || {
        echo "$1: $(measured) measured"
        cat "$log"
        false
    }
}

said_nothing() {
    [ "$(grep -c "^gpuprof: " "$log")" -eq 0 ]
}

# says TEXT: that is why the kernels of a graph are not measured, said once.
says() {
    [ "$(grep -c "of a graph are not measured" "$log")" -eq 1 ]
    grep -q "of a graph are not measured: $1" "$log"
}

# Our graphs of single nodes are left out.
graphs_of() {
    grep -c "^$1$" "$GPUSIM_GRAPHS"
}

@test "a graph with known kernels runs as one, and else its nodes are launched" {
    export GPUSIM_GRAPHS=$BATS_TEST_TMPDIR/graphs
    same_with_and_without "$programs/graphs_linked" line
    [ "$(measured)" -eq 15 ]
    said_nothing
    # 5 launches without gpuprof, 4 with it behind one by nodes.
    [ "$(graphs_of 3)" -eq 9 ]
    rm "$GPUSIM_GRAPHS"
    GPUPROF_REPLAY=off same_with_and_without "$programs/graphs_linked" line
    [ "$(graphs_of 3)" -eq 5 ]
}

@test "a graph that allocates, works in that memory, and frees it" {
    again memory 25
    said_nothing
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    is vector_add_float gld_efficiency "99.4 %"
    # The fill and the copy between the two allocations are made again, the copy to the host is not.
    export GPUSIM_GRAPHS=$BATS_TEST_TMPDIR/graphs
    again memory 25
    [ "$(graphs_of 1)" -eq 10 ]
    unset GPUSIM_GRAPHS
    GPUPROF_REPLAY=now again memory 25
    GPUPROF_VERIFY=always again memory 25
    GPUSIM_FAULTS=slow again memory 25
}

@test "its nodes get other parameters, and are switched off" {
    again changed 70
    said_nothing
}

@test "a fill of such memory becomes another one, which is not followed" {
    same_with_and_without "$programs/again_linked" refilled
    [ "$(measured)" -eq 5 ]
    [ "$(forgotten)" = "of 5" ]
    says "it was changed in a way that is not followed"
}

@test "graphs that allocate more and less, in turns" {
    again larger 30
    said_nothing
    # None of the launches before was lost.
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "an address of a graph's own memory lies in other memory, or is on its way there" {
    again leads
    says "the launch's memory leads to memory that a graph allocates"
    again brings
    says "the launch's memory leads to memory that a graph allocates"
}

@test "a graph that frees memory which another one has allocated" {
    again of_another
    [ "$(forgotten)" = "of 5" ]
    says "it allocates or frees memory"
}

@test "a graph that waits for events and records some" {
    again events 15
    said_nothing
}

@test "a graph with a kernel that writes memory to which nothing leads" {
    again hidden 10
    said_nothing
}

@test "without room for the memory that a graph reaches, or for its own" {
    GPUPROF_MEMORY=1K again memory
    says "there is no room for the memory that the graph's second run needs"
    GPUPROF_MEMORY=8K again events
    says "the launch's memory .* is more than GPUPROF_MEMORY allows"
}

@test "no kernel runs more often than in the program where the user wants that" {
    GPUPROF_REPLAY=off again memory
    says "no kernel is to run more often than in the program"
}

# ---- hazards ----

@test "the host's memory is source and target of one graph" {
    again in_and_out 10
    said_nothing
}

@test "a graph copies to the host and from there again" {
    again out_and_in
    says "the graph writes memory of the host that it also copies from"
}

@test "a kernel of a graph writes memory of the host" {
    again there_and_back
    says "the launch reaches page-locked host memory"
}

@test "a large table of addresses comes from the host, and changes" {
    again large_table 10
    said_nothing
    again large_table_of_own
    says "the launch's memory leads to memory that a graph allocates"
}

@test "a node becomes a kernel that writes memory to which nothing leads" {
    again hidden_later 10
    says "the graph writes memory that its parameters do not lead to"
}

@test "a node is enabled that writes memory to which nothing leads" {
    again hidden_enabled 5
    says "the graph writes memory that its parameters do not lead to"
}

@test "an update lets a kernel write memory to which nothing leads" {
    again updated_hidden 10
    says "the graph writes memory that its parameters do not lead to"
}

# The time that was added, in milliseconds.
added() {
    sed -n 's/.* which added \([0-9.]* [a-z]*\)$/\1/p' "$log" | awk '{ print $2 == "s" ? $1 * 1000 : $1 }'
}

@test "memory beside a graph is not hashed each time, though a kernel of it is not selected" {
    local all one
    again much_beside 160
    all=$(added)
    GPUPROF_KERNELS=scale again much_beside 80
    one=$(added)
    echo "$all ms, with one of two kernels $one ms"
    # Beside each launch it would be four times as much.
    awk -v all="$all" -v one="$one" 'BEGIN { exit !(one > 0 && one < 2 * all) }'
}

@test "the memory from which a graph copies goes when it has run" {
    again source_goes 1
    said_nothing
    GPUPROF_VERIFY=always again source_goes 1
}

@test "other memory begins right behind that of the graph" {
    GPUSIM_FAULTS=packed again adjacent 10
    said_nothing
    grep -q "right behind: yes" "$BATS_TEST_TMPDIR"/*
}

@test "memory of a graph is reached by its distance from other memory of it" {
    same_with_and_without "$programs/again_linked" near_each_other
    grep -q "^behind, 0 words" "$BATS_TEST_TMPDIR/ours.out"
    says "a kernel of the graph writes memory that its parameters do not lead to"
    again far_apart
    grep -q "^behind, 0 words" "$BATS_TEST_TMPDIR/ours.out"
    says "the graph's allocations lie far from each other"
}

@test "memory of a graph is reached by an address in front of it" {
    same_with_and_without "$programs/again_linked" from_before
    says "a kernel of the graph writes memory that its parameters do not lead to"
}

@test "a thread that is short of memory beside such graphs" {
    again greedy 250
    said_nothing
}

@test "a graph and launches that need much memory, in turns" {
    GPUPROF_MEMORY=24M again much 45
    said_nothing
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "graphs that wait for another context do not wait long" {
    GPUPROF_TIMEOUT=0.5 again waits_elsewhere
    grep -q "of a graph are not measured: the graph did not end in time" "$log"
}

@test "launches of a graph beside a capture are counted" {
    again beside_capture 20
    [ "$(forgotten)" = "of 40" ]
    says "a stream was being captured at the launch"
}

@test "threads launch one graph at the same time, and all launches have a reason or a record" {
    same_with_and_without "$programs/again_linked" threads
    [ "$(forgotten)" = "of 300" ]
    [ "$(measured)" -gt 0 ]
}

# ---- memory that others write ----

@test "a graph copies from memory of another context" {
    again foreign_source
    says "the graph copies from memory of another context, device or process"
}

@test "a graph copies from the host when another context has written there" {
    again late_source
    says "the graph waits for others, which may write memory of the host that it copies from"
}

# In all rounds but the first the other context may be done in time.
beside() {
    same_with_and_without "$programs/again_linked" "beside_$1"
    grep -q "of a graph are not measured: another GPU that can write the launch's memory is at work" "$log"
}

@test "another context copies into memory beside that of a graph, or writes a value there" {
    beside rectangles
    beside blocks
    beside values
}

@test "a graph of another context copies into memory beside that of a graph" {
    beside graph
    beside graph_with_nodes
    beside graph_updated
    beside graph_with_child
}

@test "the host uses managed memory as soon as a graph has met an event" {
    for case in managed_read managed_written; do
        again $case
        says "the launch reaches managed memory"
    done
}

@test "a copy of a graph calls managed memory the host's" {
    again managed_as_host
    says "the launch reaches managed memory"
}
