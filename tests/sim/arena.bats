#!/usr/bin/env bats
# Memory that a program divides among its arrays: launches save the parts that they write.

load common

# arena CASE [SEED]: the same with and without us.
arena() { same_with_and_without "$programs/arena_linked" "$@"; }

# saved: the bytes that each launch has saved, in the order of launches.
saved() { launches | sed 's/.*"saved_bytes":\([0-9]*\),.*/\1/'; }

# left: launches that were not replayed, as one wrote to other parts; all others have counters.
left() {
    local left
    left=$(launches | grep -c "to other parts of an allocation" || true)
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq $((260 - left)) ] && echo "$left"
}

@test "launches on pieces of an allocation have the counts of those on allocations of their own" {
    arena whole
    counted >"$BATS_TEST_TMPDIR/whole"
    arena pieces
    counted >"$BATS_TEST_TMPDIR/pieces"
    diff "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/pieces"
    [ "$(left)" -eq 0 ]
    # They save the parts that they write, not the allocation of 12 MB, which a launch of new work saves.
    [ "$(saved | tail -n 180 | sort -n | sed -n 90p)" -lt 200000 ]
    [ "$(saved | tail -n 180 | awk '$1 > 2000000' | wc -l)" -lt 60 ]
}

# bats test_tags=long
@test "pieces that are given back and cut anew: launches of new work write where others had an address" {
    local seed counted=0
    for seed in 1 2 4; do
        arena random $seed
        counted=$((counted + $(launches | grep -c '"smsp__inst_executed.sum":[0-9]')))
    done
    echo "$counted of 1200" # some launches write far away by numbers in memory, in a batch with others
    [ "$counted" -gt 1150 ]
}

@test "launches on pieces that are alike are counted together" {
    for word in alike-whole alike; do
        arena $word
        counted >"$BATS_TEST_TMPDIR/$word"
        [ "$(left)" -eq 0 ]
        [ "$(launches | grep -c '"recalled":2,')" -gt 120 ]
        [ "$(grep -c "not counted together any more" "$log")" -eq 0 ]
    done
    diff "$BATS_TEST_TMPDIR/alike-whole" "$BATS_TEST_TMPDIR/alike"
}

@test "launches that are counted together have the memory of then, of which one before or behind has other counts" {
    arena alternate
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq 1040 ]
    [ "$(launches | grep -c '"recalled":2,')" -gt 900 ]
    [ "$(grep -c "not counted together any more" "$log")" -eq 0 ]
}

@test "launches that write where the order of their threads says: a replay writes elsewhere" {
    arena order
    [ "$(left)" -eq 0 ]
}

# bats test_tags=long
@test "launches that write where the threads lie that come first: other threads do in a replay" {
    arena race
    [ "$(left)" -eq 0 ]
    arena race-behind # in pieces that are no array's of their own
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq 72 ]
}

@test "a single launch that writes far away, in a batch of launches whose parts are known" {
    arena scatter-once
    [ "$(left)" -gt 0 ]
}

# bats test_tags=long
@test "launches on the thirds of an allocation" {
    arena thirds
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq 12 ]
}

@test "copies and fills between the launches" {
    arena copies
    [ "$(left)" -eq 0 ]
}

# bats test_tags=long
@test "copies and fills between launches that are replayed at once" {
    GPUPROF_REPLAY=now arena copies 4
    [ "$(left)" -eq 0 ]
}

# bats test_tags=long
@test "pieces in two streams" {
    # A unit at the border is written in both: the digests are right in one order alone. Behind two alarms, which may lose
    # 128 launches each, launches are waited for.
    arena streams
    [ "$(left)" -le 256 ]
}

@test "launches and fills behind a wait return before it ends" {
    # A launch like none before is waited for, in vain, as far as that has a limit.
    GPUPROF_TIMEOUT=0.3 arena blocked
}

# bats test_tags=long
@test "an allocation that is freed and had again" {
    arena freed
    [ "$(left)" -eq 0 ]
}

# bats test_tags=long
@test "digests are given back to a program that runs short of memory" {
    # Each of 24 arenas has digests in a block of 2 MB, and 32 MB are left.
    GPUSIM_MEMORY=300M arena short
    [ "$(left)" -eq 0 ]
}

# counts_as_at_once CASE [SEED]: launches have the counts of instructions that they have where each is replayed at
# once, if they have any. Caches find another line where one of many launches that are alike writes elsewhere.
counts_as_at_once() {
    GPUPROF_REPLAY=now arena "$@"
    counted >"$BATS_TEST_TMPDIR/now"
    arena "$@"
    counted | tr ',' '\n' >"$BATS_TEST_TMPDIR/later.counts"
    tr ',' '\n' <"$BATS_TEST_TMPDIR/now" >"$BATS_TEST_TMPDIR/now.counts"
    awk '/ / { launch = $1; sub(/^[0-9]+ /, "") } { split($0, part, ":"); key = launch part[1] }
        key !~ /sass_|inst_executed.sum/ { next }
        NR == FNR { now[key] = part[2]; next } key in now { both++; same += now[key] == part[2] }
        END { print both, same; exit !(both > 500 && both == same) }' \
        "$BATS_TEST_TMPDIR/now.counts" "$BATS_TEST_TMPDIR/later.counts"
}

# bats test_tags=long
@test "a kernel that begins to write elsewhere is known for it, though all it writes is saved" {
    arena scatter-on 2
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -gt 150 ]
}

# So little memory that allocations are not saved whole where writes are guessed.
little=64M

# bats test_tags=long
@test "launches that read a word before another one writes it unexpectedly" {
    # The launches between two that save the word are lost, not their batch.
    GPUPROF_MEMORY=$little counts_as_at_once stray-word
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -gt 990 ] # of 1001
    [ "$(launches | grep -c "to other parts of an allocation")" -gt 0 ]
}

# bats test_tags=long
@test "a launch beside the log that writes to an arena by an index" {
    # Its own memory is divided by nobody: it is lost all the same, as a replay would write there again.
    GPUPROF_MEMORY=$little arena stray-beside
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -gt 970 ] # of 1001
    [ "$(launches | grep -c "to other parts of an allocation")" -gt 0 ]
}

@test "launches on pieces that are larger than the memory for copies" {
    GPUPROF_MEMORY=16M arena large
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq 40 ]
}

@test "launches whose output lay elsewhere at first" {
    arena moved
    [ "$(launches | grep -c '"smsp__inst_executed.sum":[0-9]')" -eq 12 ]
}

# bats test_tags=long
@test "kernels that write far from their pieces now and then are not replayed there, nor is their batch" {
    GPUPROF_MEMORY=$little counts_as_at_once scatter 2
    [ "$(left)" -gt 0 ]
}

# bats test_tags=long
@test "kernels that write far behind all pieces now and then are not replayed there, nor is their batch" {
    GPUPROF_MEMORY=$little counts_as_at_once scatter-far 2
    [ "$(left)" -gt 0 ]
}
# bats test_tags=long
@test "kernels that write far behind all pieces now and then, where all are replayed at once" {
    GPUPROF_MEMORY=$little GPUPROF_REPLAY=now arena scatter-far 2
    [ "$(left)" -gt 0 ]
}

# bats test_tags=long
@test "launches whose kernels are not selected, between those that are" {
    GPUPROF_KERNELS=arena_update same_with_and_without "$programs/arena_linked" pieces 3
    [ "$(measured arena_update)" -gt 100 ]
}

# with_counts KERNEL, uncounted KERNEL: launches that have the counts of the passes, and those that have not.
with_counts() {
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"$1" | grep -c '"smsp__inst_executed.sum":[0-9]' || true
}
uncounted() {
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"$1" | grep -vc '"smsp__inst_executed.sum":[0-9]' || true
}

# bats test_tags=long
@test "launches that are not measured drain none that are held where they write to other memory" {
    # Counters start for each batch.
    local trace=$BATS_TEST_TMPDIR/trace
    for where in host other; do
        rm -f "$trace"
        GPUSIM_PROFILER=$trace GPUPROF_KERNELS=arena_update arena beside-$where
        [ "$(uncounted arena_update)" -eq 0 ]
        [ "$(grep -c "^start" "$trace")" -lt 20 ]
    done
}

@test "launches that are not measured drain those that are held where they write to their memory" {
    GPUPROF_KERNELS=arena_update arena beside-arena
    [ "$(uncounted arena_update)" -eq 0 ]
}

# bats test_tags=long
@test "fills far behind all pieces, of which nothing was known" {
    GPUPROF_KERNELS=arena_update arena beside-far
    [ "$(uncounted arena_update)" -eq 0 ]
}

# bats test_tags=long
@test "launches that are not measured and write far behind all pieces spoil one batch" {
    GPUPROF_KERNELS="arena_(update|add)" arena scatter-far
    [ "$(with_counts arena_)" -gt 200 ]
    [ "$(uncounted arena_)" -le 15 ]
}

@test "launches that run once, as they write memory of the host, between those that are held" {
    arena beside-host
    [ "$(uncounted arena_update)" -eq 0 ]
}

# bats test_tags=long
@test "launches that load addresses of no other memory save parts" {
    # The allocation does not fit: the first launches would save all that is behind their pieces.
    GPUPROF_MEMORY=9M counts_as_at_once through-nowhere
    [ "$(with_counts arena_)" -gt 230 ]
}

@test "launches that load addresses of other pieces save these, too" {
    GPUPROF_MEMORY=9M counts_as_at_once through-piece
    [ "$(with_counts arena_)" -gt 230 ]
    [ "$(launches | grep -c "to other parts of an allocation")" -eq 0 ]
}

# bats test_tags=long
@test "launches that load addresses of other allocations save these, too" {
    counts_as_at_once through-other
    [ "$(uncounted arena_)" -eq 0 ]
    GPUPROF_MEMORY=9M arena through-other
    [ "$(with_counts arena_)" -gt 230 ]
    [ "$(launches | grep -c "to other parts of an allocation")" -eq 0 ]
}

# Twice, as room for all of the memory of a graph makes a difference: its kernels run once more then.
@test "kernels, fills and copies of graphs that divide memory" {
    local memory
    for memory in 9M 100M; do
        GPUPROF_MEMORY=$memory arena graphs
        [ "$(with_counts arena_)" -gt 140 ]
        [ "$(launches | grep -c "to other parts of an allocation")" -eq 0 ]
    done
}

@test "held launches are not replayed beside nodes of a graph that run still" {
    # The launch of the kernel that is not selected drains, while the fill in front of it waits for the host.
    GPUPROF_KERNELS=arena_update arena graphs-busy
    [ "$(uncounted arena_update)" -eq 0 ]
}

@test "kernels of graphs of which only some are measured: the others write beside them" {
    GPUPROF_MEMORY=9M GPUPROF_SAMPLE=every:2 arena graphs
    [ "$(with_counts arena_)" -gt 65 ]
    [ "$(launches | grep -c "to other parts of an allocation")" -eq 0 ]
}

# bats test_tags=long
@test "graphs in branches, made by chance, whose launches find addresses of pieces in memory" {
    local seed
    for seed in 1 3; do
        arena graphs-random $seed
        [ "$(uncounted arena_)" -eq 0 ]
        GPUPROF_SAMPLE=every:2 arena graphs-random $seed
        GPUPROF_KERNELS=arena_update arena graphs-random $seed
    done
}

# bats test_tags=long
@test "launches that find the address of another arena in memory beside the first save it, too" {
    counts_as_at_once through-arena
    [ "$(uncounted arena_)" -eq 0 ]
    # The room alone says here which launches are a batch: they are the same in each run.
    GPUPROF_MEMORY=9M arena through-arena
    [ "$(with_counts arena_)" -gt 200 ]
    [ "$(launches | grep -c "to other parts of an allocation")" -eq 0 ]
}

# bats test_tags=long
@test "launches that find a node far behind all pieces, which leads to another allocation, save that, too" {
    local memory
    for memory in 9M 100M; do
        GPUPROF_MEMORY=$memory arena through-node
        [ "$(uncounted arena_)" -le 20 ]
    done
}

# bats test_tags=long
@test "launches that load an address, and have more addresses than are noted, save all to which memory leads" {
    GPUPROF_MEMORY=100M arena through-many
    [ "$(uncounted arena_)" -le 2 ]
}

# bats test_tags=long
@test "a write far away shows, though the next launch saves and writes the same memory" {
    GPUPROF_MEMORY=9M arena through-far
    # The 28th launch writes there alone, and has saved it. The 39th launch has not.
    launches | sed -n 28p | grep -q '"smsp__inst_executed.sum":[0-9]'
    launches | sed -n 39p | grep -q "wrote to other parts of an allocation"
}

# unmeasured: launches without counts, but for those beside which a GPU did not come to rest within 10 ms, as on a busy
# machine.
unmeasured() {
    launches | grep -v '"smsp__inst_executed.sum":[0-9]' | grep -vc "GPU that can write the launch.s memory is at work" || true
}

# bats test_tags=long
@test "an arena that two GPUs can write is divided while both rest" {
    export GPUSIM_DEVICES=2
    counts_as_at_once peers
    [ "$(unmeasured)" -eq 0 ]
    [ "$(saved | tail -n 180 | sort -n | sed -n 90p)" -lt 200000 ]
}

# bats test_tags=long
@test "an arena that two GPUs can write is divided where no copy of all of it has room" {
    # Launches like none before save the last piece, and all behind it.
    GPUSIM_DEVICES=2 GPUPROF_MEMORY=9M arena peers
    [ "$(unmeasured)" -le 20 ]
}

# bats test_tags=long
@test "another GPU writes to an arena, by addresses that it has from parameters and from memory" {
    export GPUSIM_DEVICES=2
    for word in peers-kernels peers-through; do
        arena $word
        [ "$(unmeasured)" -eq 0 ]
    done
}

# bats test_tags=long
@test "copies of another GPU to an arena, and arenas of contexts that have access to each other" {
    export GPUSIM_DEVICES=2
    for word in peers-copies access-copies access-kernels access-through; do
        arena $word
        [ "$(unmeasured)" -eq 0 ]
    done
}

@test "launches on an arena are not replayed while another GPU that can write it is at work" {
    # None is left by then where a batch was read behind the last launch.
    for _ in 1 2 3; do
        GPUSIM_DEVICES=2 GPUPROF_KERNELS=arena arena peers-waits
        [ "$(launches | grep -c "another GPU that can write the launch.s memory is at work")" -eq 0 ] || break
    done
    [ "$(uncounted arena_)" -ge 1 ]
}

# bats test_tags=long
@test "room for few copies" {
    GPUPROF_MEMORY=40M arena pieces 5
    GPUPROF_MEMORY=16M same_with_and_without "$programs/arena_linked" pieces 6
}
