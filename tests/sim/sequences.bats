#!/usr/bin/env bats
# Launches that follow each other on the same arrays: the profile says which, and how many bytes they share.

load common

N=16384 # bytes of an array of sequence_linked
ROUNDS=8

# successions CASE: a line for each two kernels of the case, "BEFORE KERNEL LAUNCHES PASSED REPLACED SHARED"; "-" where
# nothing is known of the one before.
successions() {
    local lines=$BATS_TEST_TMPDIR/lines.jsonl
    rm -f "$lines"
    same_with_and_without "$programs/sequence_linked" "$1"
    GPUPROF_LOG=$log GPUPROF_OUTPUT=$lines LD_PRELOAD=$preload "$programs/sequence_linked" "$1"
    grep '"type":"succession"' "$lines" | python3 -c '
import json, sys
for line in sys.stdin:
    s = json.loads(line)
    print(s["before"] or "-", s["kernel"], s["launches"], s["passed_bytes"], s["replaced_bytes"], s["shared_bytes"])
' | sed 's/sequence_//g' | sort
}

# are CASE LINE...
are() {
    local case=$1
    shift
    diff <(printf '%s\n' "$@" | sort) <(successions "$case" | grep -v '^[a-z]* [0-9]*$')
}

@test "an array that one launch wrote and the next reads is passed" {
    # The next round reads the array that scale itself wrote before, and add has only read since.
    are passed "- scale 1 0 0 0" "scale add $ROUNDS $((ROUNDS * N)) 0 0" \
        "add scale $((ROUNDS - 1)) 0 0 $(((ROUNDS - 1) * N))"
}

@test "arrays that both launches read are shared" {
    are shared "- add 1 0 0 0" "add add $((2 * ROUNDS - 1)) 0 0 $(((2 * ROUNDS - 1) * 2 * N))"
}

@test "an array that is passed and written again is replaced" {
    are in_place "- add 1 0 0 0" "add scale $ROUNDS $((ROUNDS * N)) $((ROUNDS * N)) 0" \
        "scale add $((ROUNDS - 1)) 0 0 0"
}

@test "launches on arrays of their own share nothing" {
    are apart "- scale 1 0 0 0" "scale add $ROUNDS 0 0 0" "add scale $((ROUNDS - 1)) 0 0 0"
}

@test "a copy between two launches parts them" {
    are copied "- scale 1 0 0 0" "- add $ROUNDS 0 0 0" "add scale $((ROUNDS - 1)) 0 0 $(((ROUNDS - 1) * N))"
}

@test "the same launch once more shares nothing with itself" {
    are repeated "- add 1 0 0 0" "add add $((2 * ROUNDS - 1)) 0 0 0"
}

@test "launches into different streams do not follow each other" {
    are streams "- scale $ROUNDS 0 0 0" "- add $ROUNDS 0 0 0"
}
