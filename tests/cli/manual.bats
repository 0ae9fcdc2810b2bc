# Manual pages and completion, which are made of the command's own tables.

load ../inherited

setup() {
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR
    export PATH=$GPUPROF_BUILD:$PATH
    cd "$BATS_TEST_DIRNAME/../.."
}

commands() {
    gpuprof help | sed -n 's/^  gpuprof \([a-z]*\)\( .*\)\{0,1\}$/\1/p'
}

@test "every command has a manual page with all of its options" {
    command -v scdoc >/dev/null || skip "no scdoc"
    tools/make-man "$GPUPROF_BUILD/gpuprof" "$BATS_TEST_TMPDIR/man"
    [ -s "$BATS_TEST_TMPDIR/man/gpuprof.1" ]
    for command in $(commands); do
        page=$BATS_TEST_TMPDIR/man/gpuprof-$command.1
        [ -s "$page" ]
        gpuprof "$command" --help | grep -o -e '--[a-z-]*[a-z]' | sort -u | while read -r option; do
            # roff writes a hyphen as \-
            sed 's/\\-/-/g; s/\\f.//g' "$page" | grep -q -e "$option" || {
                echo "gpuprof-$command.1 lacks $option"
                exit 1
            }
        done
    done
    sed 's/\\-/-/g; s/\\f.//g' "$BATS_TEST_TMPDIR/man/gpuprof-run.1" >"$BATS_TEST_TMPDIR/run"
    grep -q "FROM NVPROF" "$BATS_TEST_TMPDIR/run"
    grep -q -e "--track-memory-allocations" "$BATS_TEST_TMPDIR/run"
    grep -q "FROM NCU" "$BATS_TEST_TMPDIR/run"
    grep -q -e "-k, --kernel-name" "$BATS_TEST_TMPDIR/run"
    # Pages with tables name the program that draws them.
    for page in "$BATS_TEST_TMPDIR"/man/*.1; do
        [ "$(grep -c '^\.TS' "$page")" -eq 0 ] || [ "$(head -1 "$page")" = "'\\\" t" ]
    done
}

@test "the manual names every variable that the library reads" {
    for name in $(grep -rhoE 'getenv\("GPUPROF_[A-Z_]*"' src | grep -o 'GPUPROF_[A-Z_]*' | sort -u); do
        grep -q "^\*$name\*$" man/gpuprof.scd || {
            echo "man/gpuprof.scd lacks $name"
            return 1
        }
    done
}

@test "the manual and the README name the memory that copies take by default" {
    device=$(sed -n 's/^#define DEFAULT_DEVICE_PERCENT //p' src/memory/budget.c)
    host=$(sed -n 's/^#define DEFAULT_HOST_PERCENT //p' src/memory/budget.c)
    [ -n "$device" ]
    [ -n "$host" ]
    gpuprof run --help | tr -s ' \n' ' ' | grep -q "share of the free memory ($device%; of the host's $host%)"
    grep -q "\`$device%\` of the free memory (default)" README.md
}

# completes EXPECTED WORDS...: bash's offers for the last word.
completes() {
    local expected=$1
    shift
    run bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpuprof; printf "%s " "${COMPREPLY[@]}"' \
        <(gpuprof help --completion bash) gpuprof "$@"
    [ "$output" = "$expected" ] || {
        echo "$*: '$output', not '$expected'"
        return 1
    }
}

@test "bash completes commands, options, choices and metrics" {
    cd "$BATS_TEST_TMPDIR"
    mkdir empty && cd empty
    completes "--kernels --kernel-name --kernel-id --kernel-timeout " --kern
    completes "--replay --replay-mode " run --repl
    completes "on off " --replay o
    completes "application-only " --target-processes app
    completes "branch_efficiency " --metrics branch_eff
    completes "duration,branch_efficiency " report --metrics duration,branch_eff
    completes "junit " check --format ju
    completes "text,sarif " --format text,sar
    completes "report " repor
    touch profile.jsonl
    completes "profile.jsonl " report prof
    completes "profile.jsonl " -o prof
}

@test "zsh takes the completion" {
    gpuprof help --completion zsh >"$BATS_TEST_TMPDIR/_gpuprof"
    head -1 "$BATS_TEST_TMPDIR/_gpuprof" | grep -qx "#compdef gpuprof"
    grep -q -e "'--launch-skip=\[" "$BATS_TEST_TMPDIR/_gpuprof"
    command -v zsh >/dev/null || skip "no zsh"
    zsh -n "$BATS_TEST_TMPDIR/_gpuprof"
}

@test "a shell that is not known is said" {
    run gpuprof help --completion fish
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --completion: 'fish' is neither bash nor zsh" ]
}
