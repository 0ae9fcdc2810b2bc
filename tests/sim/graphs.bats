#!/usr/bin/env bats
# Graphs: their kernels are measured one by one where that changes nothing, and otherwise one line says
# why not. In every case the program does the same as without gpuprof.

load common

# graph CASE [KERNELS]: runs it both ways; so many kernels have been measured.
graph() {
    same_with_and_without "$programs/graphs_linked" "$1"
    [ -n "${GPUPROF_SAMPLE:-}" ] || [[ $(forgotten) == "of "* ]]
    [ "$(measured)" -eq "${2:-0}" ] || {
        echo "$1: $(measured) measured"
        cat "$log"
        false
    }
}

# as_it_is COUNT: so many launches of scale_in_place were in a graph that was launched as a whole.
as_it_is() {
    grep -q "^   $1 launches of scale_in_place: the kernel's graph was launched as it is" "$log"
}

# says TEXT: that is why the kernels of a graph are not measured, said once; no argument: nothing is.
says() {
    if [ $# -eq 0 ]; then
        ! grep "of a graph are not measured" "$log"
    else
        [ "$(grep -c "of a graph are not measured: .*$1" "$log")" -eq 1 ]
    fi
}

@test "a line of kernels, launched many times" {
    graph line 15
    says
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    [ "$(measured scale_in_place)" -eq 15 ]
    is scale_in_place gld_efficiency "99.4 %"
    [ "$(grep -c '"graph":1' "$profile")" -eq 15 ]
}

@test "kernels that may overlap are launched one after the other" {
    GPUSIM_FAULTS=edges=programmatic graph line 15
    says
    GPUSIM_FAULTS=edges=programmatic graph branches 100
    says
    GPUSIM_FAULTS=edges=unknown graph line 0
    says "its nodes depend on each other in a way that is not known"
}

@test "the launches of a graph are not to be put into a graph once more" {
    profiled "$programs/snippets_linked" --size 64 --launches 100 graph
    grep -q ': 200 kernel launches' "$log"
    ! grep launch_overhead "$log"
}

@test "the program's own graph changed and destroyed after instantiation" {
    graph destroyed 15
}

@test "branches side by side" {
    graph branches 100
    says
}

@test "branches that nobody waits for, and later work in the stream" {
    # A launch that is measured is waited for: here the first kernel of each graph, before its branches.
    GPUPROF_SAMPLE=every:8 GPUSIM_FAULTS=slow graph joined_behind_host 5
    graph joined 25
    says
}

@test "a node that is launched cooperatively is so by itself, and never recalled" {
    graph cooperative 80
    says
    # Of the two nodes' launches those of the second alone are recalled.
    [ "$(grep '"type":"launch"' "$profile" | grep '"index":[0-9]*[02468],' | grep -c '"recalled":[12],')" -eq 0 ]
    [ "$(grep '"type":"launch"' "$profile" | grep '"index":[0-9]*[13579],' | grep -c '"recalled":[12],')" -gt 0 ]
}

@test "branches of work that starts late" {
    # All branches of a graph that is launched for one measured kernel start late.
    GPUPROF_SAMPLE=every:5 GPUSIM_FAULTS=slow graph branches 20
}

# wholes KERNELS: launches of graphs with so many kernels that were timed as a whole.
wholes() {
    local timed
    timed=$(sed -n "s/.*\"type\":\"graph\".*\"kernels\":$1,.*\"timed\":\([0-9]*\),\"seconds\":[0-9.e-]*[1-9].*/\1/p" "$profile")
    echo "${timed:-0}"
}

@test "graphs with conditional nodes are timed as a whole" {
    graph conditional
    says "it has conditional nodes"
    as_it_is 10
    [ "$(wholes 2)" -eq 5 ]
    [ "$(wholes 0)" -eq 5 ]
    grep -q "^Graphs: *10 launches of graphs took .* on the GPU" "$log"
    grep -q "most of it one of 2 kernels, scale_in_place first" <(tr -s ' \n' ' ' <"$log")
    "$GPUPROF_BUILD/gpuprof" report "$profile" | grep "^Graphs: *10 launches of graphs took "
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile" | grep -q '"graph_launches": *10,'
    GPUPROF_METRICS=duration graph conditional
    [ "$(wholes 2)" -eq 5 ]
    [ "$(wholes 0)" -eq 5 ]
}

@test "more branches than are launched apart, of kernels that cannot wait by their code" {
    graph wide 40
    says
    # Where their code is not known they may.
    CUDA_FORCE_PTX_JIT=1 graph wide
    says "side by side"
}

@test "more branches than are launched apart, of kernels whose PTX shows that they cannot wait" {
    graph wide_ptx 40
    says
    graph wide_ptx_waits
    says "side by side"
    as_it_is 40
}

@test "more branches than are launched apart, and all of them may wait" {
    # Launched once: the reason is said at the launch that shows it.
    graph wide_waits
    says "side by side"
}

@test "more branches than are launched apart, and one of them waits" {
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale graph wide_waits_once
    says "waits for the host or for other work"
}

@test "kernels of a wide graph become such that wait" {
    graph wide_changed 30
    says "side by side"
    graph wide_enabled 30
    says "side by side"
}

@test "copies and fills, and a copy to pageable memory" {
    graph copies 10
    says
}

@test "nodes changed in the executable graph" {
    graph params 10
    says
}

@test "the executable graph updated from others, and one that does not fit" {
    graph update 60
    says "not followed"
    as_it_is 15
}

@test "disabled nodes" {
    graph disabled 20
    says
}

@test "child graphs in child graphs" {
    graph child 40
    says
}

@test "a node of a child graph is changed" {
    graph inner 40
    says "not followed"
}

@test "a host function" {
    graph host 15
    says
    graph host_changed 45
    says
    graph host_between 10
    says
    graph host_destroyed 3
    says
    GPUPROF_SAMPLE=every:5 GPUSIM_FAULTS=slow same_with_and_without "$programs/graphs_linked" host_destroyed
}

@test "a host function that waits for the program" {
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/graphs_linked" host_waits
    [ "$(measured)" -eq 3 ]
    says "waits for the host or for other work"
}

@test "a graph launched into a captured stream" {
    graph captured 30
    says
}

@test "streams of every kind" {
    graph streams 80
}

@test "a kernel that waits for another one beside it is abandoned, and the graph left alone" {
    GPUPROF_TIMEOUT=0.3 graph waits
    says "waits for the host or for other work"
    [ "$(grep -c 'did not end within' "$log")" -eq 1 ]
}

@test "the kernel that waits is not one of those that are wanted" {
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale graph waits
    says "waits for the host or for other work"
}

@test "memory that a graph allocates behind a host function" {
    graph allocates 5
    [ "$(grep -c '"skipped":"the program allocates memory in a graph"' "$profile")" -eq 5 ]
}

@test "memory that a graph allocates and frees concerns no other launch" {
    graph allocates_and_frees 40
    says
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    # Launches before it were held; from then on nothing is replayed.
    for case in allocates_more allocates_more_in_child; do
        graph $case 10
        [ "$(grep -c '"skipped":"the program allocates memory in a graph"' "$profile")" -eq 5 ]
    done
}

# counts CASE COUNT: so many launches of kernels were counted.
counts() {
    same_with_and_without "$programs/counted_linked" "$1"
    [ "$(forgotten)" = "of $2" ]
}

@test "graphs that are launched as a whole are counted while their kernels are known" {
    counts refused 5
    # A graph that allocates is copied by hand: changes of it are followed.
    counts changed 5
    [ "$(measured)" -eq 5 ]
    counts disabled 1
}

@test "kernels of nodes that are enabled are measured, and listed where launches are only timed" {
    counts enabled 5
    [ "$(measured)" -eq 5 ]
    counts second 9
    [ "$(measured)" -eq 9 ]
    GPUPROF_METRICS=duration counts second 9
    grep -q '"type":"launch".*"kernel":"vector_add_float"' "$profile"
}

@test "a kernel that waits for the host, before a copy to pageable memory" {
    GPUPROF_TIMEOUT=0.3 graph waits_for_host 1
    says "waits for the host or for other work"
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale graph waits_for_host 1
    says "waits for the host or for other work"
}

no_wait_in_vain() {
    grep -q "wait_for_flag reads the host's memory in a loop" "$log"
    [ "$(grep -cE "^gpuprof: .*(in vain|did not end|does not end)" "$log")" -eq 0 ]
}

@test "nothing is waited for behind a kernel that is refused, as it may wait for the host" {
    unset GPUPROF_TIMEOUT
    graph waits_for_host 1
    says "waits for the host or for other work"
    no_wait_in_vain
    graph waits_alone 0
    no_wait_in_vain
}

@test "a kernel that waits for the host, before more nodes than a stream takes launches" {
    unset GPUPROF_TIMEOUT
    for behind in many ladder; do
        graph waits_before_$behind 1
        no_wait_in_vain
        GPUPROF_TIMEOUT=0.3 graph waits_before_$behind 1
        says "waits for the host or for other work"
        # That the kernel waits is not known: a node behind it is wanted, or one before it.
        GPUPROF_KERNELS=scale graph waits_before_$behind 0
        GPUPROF_KERNELS=global_counter graph waits_before_$behind 2
    done
    # A node is wanted that comes only behind all of these: the one before the kernel that waits is measured.
    GPUPROF_KERNELS=global_counter graph waits_before_last 1
    says "waits for the host or for other work"
    GPUPROF_KERNELS=global_counter graph counter_before_last 2
    says
}

@test "a kernel in the middle fails: the same errors at the same calls" {
    graph faulty 3
    # All that were not launched in any of the two launches of the graph.
    grep -q "^   9 launches of scale_in_place and 1 more kernel: the launch failed, or its context had failed before" "$log"
}

@test "a graph or a stream that is none" {
    graph invalid 18
    says
}

@test "threads whose graphs share memory and a stream" {
    graph threads 40
}

@test "contexts destroyed with graphs in them" {
    graph contexts 150
}

@test "kernels of libraries" {
    graph library 11
    # Variables of other modules are no memory of theirs, in a graph or not, by whichever handle.
    [ "$(jq -r 'select(.type == "launch").saved_bytes' "$profile" | sort -u | wc -l)" -eq 1 ]
}

@test "a kernel that launches a graph is launched as part of its own" {
    # While there is no graph for it to launch, two kernels five times; five of another module; and five
    # by themselves, which are not replayed.
    graph from_device 20
    says "its kernels can launch other graphs"
    [ "$(grep -c '"skipped":"the kernel.s module launches graphs from the device"' "$profile")" -eq 5 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 5 ]
}

@test "only wanted kernels are measured, and graphs without any launched as they are" {
    GPUPROF_KERNELS=no_such graph line 0
    says
}

@test "counters the program may not use" {
    for case in line branches; do
        GPUSIM_FAULTS=noprivileges same_with_and_without "$programs/graphs_linked" $case
        [[ $(forgotten) == "of "* ]]
        grep -q "no permission" "$log"
        grep -q "the kernel's graph was launched as it is, and timed as a whole" "$log"
    done
}

@test "no room for a copy of memory on the device" {
    GPUSIM_MEMORY=4M graph branches 100
}
