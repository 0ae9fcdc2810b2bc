# The first screen and the page have the figures of the profile.
load common

@test "each figure of the screen is in the profile by name, and in the page" {
    profiled "$programs/snippets_linked" all
    run python3 "$BATS_TEST_DIRNAME/figures.py" "$GPUPROF_BUILD/gpuprof" "$profile"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "the same where only some launches were measured" {
    GPUPROF_SAMPLE=first:1 profiled "$programs/snippets_linked" --launches 5 vector_add in_place
    run python3 "$BATS_TEST_DIRNAME/figures.py" "$GPUPROF_BUILD/gpuprof" "$profile"
    echo "$output"
    [ "$status" -eq 0 ]
    "$GPUPROF_BUILD/gpuprof" report "$profile" | grep -q '~'
}

@test "a share that is small is not printed as 0" {
    # The kernel takes 20 ms longer, so the schedulers issue in a thousandth of a percent of the cycles.
    GPUSIM_FAULTS=slow profiled "$programs/snippets_linked" --size 512 --block 32x16 matrix_row
    "$GPUPROF_BUILD/gpuprof" report "$profile" >"$BATS_TEST_TMPDIR/screen"
    tr -s ' \n' ' ' <"$BATS_TEST_TMPDIR/screen" | grep -q 'a scheduler issues in 0\.00[0-9]* % of the cycles'
}

@test "launches of next to no time say nothing of a kernel" {
    local size
    for size in 24 1024; do
        profiled "$programs/snippets_linked" --size $size matrix_linear
        mv "$profile" "$profile.$size"
    done
    "$GPUPROF_BUILD/gpuprof" report --merge "$profile".{24,1024} >"$BATS_TEST_TMPDIR/screen"
    [ "$(grep -c imbalance "$BATS_TEST_TMPDIR/screen")" -eq 0 ]
    grep -Eq '^ 100\.0% +2 .* latency .* 0\.9[0-9]/1\.00' "$BATS_TEST_TMPDIR/screen"
    imbalance() {
        "$GPUPROF_BUILD/gpuprof" report --print json "$@" | jq -r '.profiles[0] |
            (.kernels[0].metrics.sm_imbalance.mean < 1.3), any(.advice[]; .rule == "imbalance")' | paste -sd ' '
    }
    [ "$(imbalance "$profile.24")" = "false false" ]
    [ "$(imbalance "$profile.1024")" = "true false" ]
    [ "$(imbalance --merge "$profile.24" "$profile.1024")" = "true false" ]
}

@test "numbers depend neither on how often launches are folded nor on their order" {
    GPUPROF_COPIES=on profiled "$programs/snippets_linked" all
    run python3 "$BATS_TEST_DIRNAME/folded.py" "$GPUPROF_BUILD/gpuprof" "$profile"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "shared memory that threads alone read has its efficiency" {
    profiled "$programs/alike_linked" staged 2x256
    "$GPUPROF_BUILD/gpuprof" report --print json "$profile" |
        jq -e '.profiles[0].kernels[] | select(.name == "scale_staged").metrics.shared_efficiency.mean == 100'
}
