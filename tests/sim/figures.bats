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
