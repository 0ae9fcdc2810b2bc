# tools/setup on a machine that has nothing: it names the packages, and asks where a user can answer.
# apt-get and dpkg-query are replaced: the one writes down its arguments, the other knows no package. So is Python:
# pip fetches nothing.

load ../inherited

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    mkdir -p "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/cuda/bin" "$BATS_TEST_TMPDIR/cuda/include"
    asked=$BATS_TEST_TMPDIR/asked
    printf '#!/bin/sh\necho "$@" >>"%s"\n' "$asked" >"$BATS_TEST_TMPDIR/bin/apt-get"
    printf '#!/bin/sh\nexit 1\n' | tee "$BATS_TEST_TMPDIR/bin/dpkg-query" >"$BATS_TEST_TMPDIR/bin/python3"
    printf '#!/bin/sh\necho 0\n' >"$BATS_TEST_TMPDIR/bin/id"
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/cuda/bin/nvcc"
    touch "$BATS_TEST_TMPDIR/cuda/include/cuda_occupancy.h" "$BATS_TEST_TMPDIR/cuda/include/cupti.h"
    chmod +x "$BATS_TEST_TMPDIR"/bin/* "$BATS_TEST_TMPDIR/cuda/bin/nvcc"
    export PATH=$BATS_TEST_TMPDIR/bin:$PATH CUDA_HOME=$BATS_TEST_TMPDIR/cuda
}

# on_a_terminal ANSWER COMMAND: the command's output, with a terminal on which the answer is typed.
on_a_terminal() {
    run timeout 200 script -qec "$2" /dev/null <<<"$1"
}

@test "without a terminal it names the packages, and installs them" {
    run tools/setup build </dev/null
    [ "$status" -eq 0 ]
    [[ $output == "setup: apt-get will install the Debian packages: make gcc "*libzstd-dev* ]]
    grep -q '^install .*libjansson-dev' "$asked"
    [ "$(grep -c bats "$asked")" -eq 0 ]
    run tools/setup test </dev/null
    grep -q '^install .*libjansson-dev .*bats' "$asked"
    run tools/setup aarch64 </dev/null
    grep -q '^install .*libjansson-dev .*qemu-user' "$asked"
    # A machine that makes a bare Debian builds nothing itself.
    run tools/setup fresh </dev/null
    [ "$status" -eq 0 ]
    [[ $(tail -1 "$asked") == "install "*debootstrap* && $(tail -1 "$asked") != *gcc* ]]
}

@test "on a terminal it asks" {
    command -v script >/dev/null || skip "there is no script"
    on_a_terminal n "tools/setup build"
    [ "$status" -eq 1 ]
    [[ $output == *"go on? [Y/n]"*"setup: nothing was installed"* ]]
    [ ! -e "$asked" ]
    on_a_terminal y "tools/setup build"
    [ "$status" -eq 0 ]
    grep -q '^install .*libjansson-dev' "$asked"
}

@test "with -y it does not ask" {
    command -v script >/dev/null || skip "there is no script"
    on_a_terminal n "tools/setup -y build"
    [ "$status" -eq 0 ]
    [[ $output != *"go on?"* ]]
    grep -q '^install ' "$asked"
}

@test "an unknown word is one line" {
    run tools/setup everything
    [ "$status" -eq 1 ]
    [ "$output" = "setup: 'everything' is none of build, test, coverage, page, wheel, aarch64, package, fresh" ]
}
