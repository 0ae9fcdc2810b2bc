#!/usr/bin/env bats
# Memory that only a replay may write, as the order of threads says: it is guarded, or saved.

load common

# arena CASE: the same with and without us.
arena() { same_with_and_without "$programs/arena_linked" "$@"; }

# counted_launches: those with counters.
counted_launches() { launches | grep -c '"smsp__inst_executed.sum":[0-9]'; }

# saved_parts KERNEL: launches of it that saved few megabytes.
saved_parts() { launches | grep -c "\"kernel\":\"$1\".*\"saved_bytes\":[12][0-9]\{6\},"; }

@test "launches that write where the order of their threads says, on large pieces, save few parts and put the rest right" {
    arena order-large
    # Replays write to the last words, which are odd then, so that those behind them execute more instructions.
    counted | grep -o '"smsp__inst_executed.sum":[0-9]*' | sort | uniq -c >"$BATS_TEST_TMPDIR/counts"
    [ "$(awk '{ print $1 }' "$BATS_TEST_TMPDIR/counts" | sort -n | tr '\n' ' ')" = "6 8 54 " ]
    # They save the parts, not the allocation of 96 MB, once four of them have written there.
    [ "$(saved_parts arena_stray)" -eq 50 ]
}

# bats test_tags=long
@test "launches that write where the order of their threads says, now and then to memory that others save" {
    # Few batches are lost, as such a kernel guards no memory for a while.
    arena order-saved
    [ "$(counted_launches)" -gt 450 ]
    [ "$(saved_parts arena_race)" -gt 30 ]
}

# bats test_tags=long
@test "launches that write where the order of their threads says, and are replayed at once, save all" {
    arena order-managed # memory with which no launch is held
    [ "$(counted_launches)" -eq 28 ]
    [ "$(launches | tail -n 12 | grep -c '"saved_bytes":1[0-9]\{8\},')" -eq 12 ]
    [ "$(launches | tail -n 24 | head -n 12 | grep -c '"saved_bytes":2[0-9]\{6\},')" -eq 12 ]
}

# bats test_tags=long
@test "launches that write where the order of their threads says, on pieces of 300 MB" {
    arena order-huge
    [ "$(counted_launches)" -eq 40 ]
    [ "$(saved_parts arena_stray)" -ge 20 ]
}
