#!/usr/bin/env bats
# docs/tutorial.md, step by step, without a GPU.

load common

@test "the tutorial's commands print the text that it quotes" {
    cd "$BATS_TEST_TMPDIR"
    PATH=$GPUPROF_BUILD:$PATH "$BATS_TEST_DIRNAME/tutorial" "$programs/snippets_linked"
}
