# The first screen and the page say what the profile says.
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
