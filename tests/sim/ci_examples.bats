#!/usr/bin/env bats
# The examples of docs/ci.md, as they stand there, with a program on the simulated Hopper.

load common

# A repository with a program, its rules and its baseline; times are the simulator's, so left out.
repository() {
    "$BATS_TEST_DIRNAME/ci_examples" "$BATS_TEST_TMPDIR"
    export HOME=$BATS_TEST_TMPDIR PATH=$GPUPROF_BUILD:$PATH GPUPROF_METRICS=gld_efficiency,gst_efficiency
    export GITHUB_STEP_SUMMARY=$BATS_TEST_TMPDIR/summary.md TMPDIR=$BATS_TEST_TMPDIR
    formats=$BATS_TEST_DIRNAME/../cli/formats
    mkdir -p "$BATS_TEST_TMPDIR/repository/ci"
    cd "$BATS_TEST_TMPDIR/repository"
    # shellcheck disable=SC2016 # $1 is the script's
    printf '#!/bin/sh\n[ "$1" = --small ] && exec "%s" --size 256 %s\n' "$programs/snippets_linked" matrix_row >app
    chmod +x app
    printf '%s\n' '[matrix_add_*]' required 'gld_efficiency >= 90 %' >ci/rules.ini
    { printf 'all: app\n'; cat "$BATS_TEST_TMPDIR/make"; } >Makefile
    gpuprof --log run.log -o run.jsonl ./app --small
    gpuprof baseline run.jsonl -o ci/base.json
    rm run.*
}

# The program becomes worse.
worsen() {
    sed -i s/matrix_row/matrix_column/ app
}

# step NAME: the status and output of the job's shell.
step() {
    run bash -e "$BATS_TEST_TMPDIR/$1"
}

@test "the workflow of GitHub Actions" {
    repository
    for number in 1 2 3 4; do
        step github.$number
        [ "$status" -eq 0 ]
    done
    "$formats" sarif verdict.sarif
    [ "$(grep -c '^### gpuprof check: all' "$GITHUB_STEP_SUMMARY")" -eq 2 ]
    worsen
    step github.2
    [ "$status" -eq 1 ]
    [[ $output == *"::error file=ci/rules.ini,line=3,"* ]]
    step github.3
    [ "$status" -eq 2 ] # another kernel: nothing can be compared
    [[ $output == *"::notice "*"matrix_add_column"* ]]
}

@test "the jobs of GitLab and Jenkins" {
    repository
    for number in 1 2; do
        step gitlab.$number
        [ "$status" -eq 0 ]
        step jenkins.$number
        [ "$status" -eq 0 ]
    done
    worsen
    step gitlab.2
    [ "$status" -eq 1 ]
    "$formats" junit junit.xml
    "$formats" gitlab quality.json
    grep -q '"check_name":"gld_efficiency' quality.json || grep -q '"check_name": "gld_efficiency' quality.json
    step jenkins.2
    [ "$status" -eq 1 ]
    grep -q '<failure' junit.xml
}

@test "make, with a history" {
    command -v git >/dev/null || skip "there is no git"
    repository
    git init -q -b main
    git add app
    git -c user.name=a -c user.email=a@b commit -qm "A program"
    run make check-gpu
    [ "$status" -eq 0 ]
    run make record-gpu
    [ "$status" -eq 0 ]
    run gpuprof history show --db ~/gpu.db
    [ "${#lines[@]}" -eq 6 ]
    [[ $output == *"$(git rev-parse --short=12 HEAD)"*main* ]]
    worsen
    run make check-gpu
    [ "$status" -eq 2 ] # make's own
    [[ $output == *"violated: matrix_add_column: gld_efficiency is 12.5 %"* ]]
}

@test "a training job with PyTorch" {
    repository
    mkdir "$BATS_TEST_TMPDIR/bin"
    # python3 train.py --steps 10 is the program.
    # shellcheck disable=SC2016 # $* is the script's
    printf '#!/bin/sh\n[ "$*" = "train.py --steps 10" ] && exec ./app --small\n' >"$BATS_TEST_TMPDIR/bin/python3"
    chmod +x "$BATS_TEST_TMPDIR/bin/python3"
    export PATH=$BATS_TEST_TMPDIR/bin:$PATH
    cp "$BATS_TEST_TMPDIR/rules" ci/torch.ini
    mv ci/base.json ci/torch.json
    step pytorch
    [ "$status" -eq 0 ]
    [ -s train3.jsonl.zst ]
    worsen
    step pytorch
    [ "$status" -eq 1 ]
    [[ $output == *"::error file=ci/torch.ini,line=2,"* ]]
}

@test "CTest" {
    command -v cmake >/dev/null || skip "there is no cmake"
    repository
    { printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(app LANGUAGES NONE)' 'enable_testing()' \
        'add_executable(app IMPORTED)' 'set_target_properties(app PROPERTIES IMPORTED_LOCATION ${CMAKE_SOURCE_DIR}/app)'
        cat "$BATS_TEST_TMPDIR/ctest"; } >CMakeLists.txt
    cmake -S . -B made >/dev/null
    run ctest --test-dir made
    [ "$status" -eq 0 ]
    worsen
    run ctest --test-dir made
    [ "$status" -eq 8 ]
    [[ $output == *"kernels (Failed)"* ]]
}
