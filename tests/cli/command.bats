# The command: options, messages, exit codes. The program that runs under it touches no GPU, so the
# library only has to be found and passed on.

load ../inherited

bats_require_minimum_version 1.5.0

setup() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    cd "$BATS_TEST_TMPDIR"
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    unset GPUPROF_METRICS_PATH GPUPROF_METRICS GPUPROF_KERNELS GPUPROF_OUTPUT GPUPROF_LOG
    unset GPUPROF_SAMPLE GPUPROF_REPLAY GPUPROF_CUPTI
}

@test "--version tells the version" {
    run "$gpuprof" --version
    [ "$status" -eq 0 ]
    [[ $output =~ ^gpuprof\ [0-9]+\.[0-9]+\.[0-9]+(,\ commit\ ([0-9a-f]{7,}|unknown))?$ ]]
}

@test "without arguments it explains itself and answers 2" {
    run "$gpuprof"
    [ "$status" -eq 2 ]
    [[ $output == *"gpuprof [options] PROGRAM [ARGS]"* ]]
}

@test "help lists every command, help COMMAND its options" {
    run "$gpuprof" help
    [ "$status" -eq 0 ]
    for command in run report metrics help; do
        [[ $output == *"gpuprof $command"* ]]
        "$gpuprof" help $command
    done
    run "$gpuprof" help run
    [[ $output == *"-m, --metrics LIST"* ]]
    run "$gpuprof" report --help
    [ "$status" -eq 0 ]
    [[ $output == *"--top COUNT"* ]]
    run "$gpuprof" help reprot
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: there is no command 'reprot'; did you mean report? ('gpuprof help' lists them)" ]
}

@test "help is at most 120 columns wide" {
    for command in "" run report metrics help; do
        "$gpuprof" help $command | awk 'length > 120 { exit 1 }'
    done
    "$gpuprof" metrics | awk 'length > 120 { exit 1 }'
    "$gpuprof" metrics --facts | awk 'length > 120 { exit 1 }'
}

@test "the program's exit status, arguments and standard input come through" {
    run "$gpuprof" sh -c 'exit 42'
    [ "$status" -eq 42 ]
    run "$gpuprof" -- printf '%s|' a 'b c' --metrics
    [ "$output" = "a|b c|--metrics|" ]
    run "$gpuprof" run cat <<<"hello"
    [ "$output" = "hello" ]
}

@test "options become the library's variables" {
    run "$gpuprof" --metrics gld_efficiency,flops -k 'add|mul' --output=p_%p.jsonl --log log_%p \
        sh -c 'echo "$GPUPROF_METRICS;$GPUPROF_KERNELS;$GPUPROF_OUTPUT;$GPUPROF_LOG"'
    [ "$output" = "gld_efficiency,flops;add|mul;$PWD/p_%p.jsonl;$PWD/log_%p" ]
    run "$gpuprof" --sample first:3,every:100 --replay off --overhead 2.5% \
        sh -c 'echo "$GPUPROF_SAMPLE;$GPUPROF_REPLAY;$GPUPROF_OVERHEAD"'
    [ "$output" = "first:3,every:100;off;2.5%" ]
}

@test "a relative file name begins where gpuprof was started" {
    mkdir '100%p' && cd '100%p'
    run "$gpuprof" -o a/../%h --log /tmp/%p sh -c 'echo "$GPUPROF_OUTPUT;$GPUPROF_LOG"'
    [ "$status" -eq 2 ]
    mkdir a
    run "$gpuprof" -o a/../%h --log /tmp/%p sh -c 'echo "$GPUPROF_OUTPUT;$GPUPROF_LOG"'
    [ "$output" = "${PWD/\%/%%}/a/../%h;/tmp/%p" ]
    export FOLDER=$BATS_TEST_TMPDIR
    run "$gpuprof" -o '%q{FOLDER}/x' sh -c 'echo "$GPUPROF_OUTPUT"'
    [ "$output" = "%q{FOLDER}/x" ]
}

@test "so does a relative name in the environment" {
    names='$GPUPROF_OUTPUT;$GPUPROF_LOG;$GPUPROF_CUPTI;$GPUPROF_METRICS_PATH'
    export GPUPROF_OUTPUT=p_%p GPUPROF_LOG=/tmp/log GPUPROF_CUPTI=lib/libcupti.so
    export GPUPROF_METRICS_PATH=mine:/yours::../theirs
    run "$gpuprof" sh -c "echo \"$names\""
    [ "$output" = "$PWD/p_%p;/tmp/log;$PWD/lib/libcupti.so;$PWD/mine:/yours::$PWD/../theirs" ]
    # The dynamic linker searches for a library without a folder; an empty name is none.
    export GPUPROF_OUTPUT= GPUPROF_CUPTI=libcupti.so.13 GPUPROF_METRICS_PATH=
    run "$gpuprof" sh -c "echo \"$names\""
    [ "$output" = ";/tmp/log;libcupti.so.13;" ]
    # In a list of folders a colon cannot be part of a name.
    mkdir a:b && cd a:b
    GPUPROF_METRICS_PATH=mine:/yours run "$gpuprof" sh -c 'echo "$GPUPROF_METRICS_PATH"'
    [ "$output" = "mine:/yours" ]
}

@test "the library is preloaded before other libraries" {
    run env LD_PRELOAD= "$gpuprof" sh -c 'echo $LD_PRELOAD'
    [ "$output" = "$(realpath "$GPUPROF_BUILD")/libgpuprof.so" ]
    nm -D "$gpuprof" 2>/dev/null | grep -q __asan_init && return # its runtime wants to be first
    other=$(ldconfig -p | sed -n 's/.*libm\.so\.6.*=> //p' | head -1)
    run env LD_PRELOAD="$other" "$gpuprof" sh -c 'echo $LD_PRELOAD'
    [ "$output" = "$(realpath "$GPUPROF_BUILD")/libgpuprof.so:$other" ]
}

@test "the library is found in ../lib as well, and missed with a message" {
    mkdir -p there/bin there/lib
    cp "$gpuprof" there/bin/gpuprof
    run there/bin/gpuprof true
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: libgpuprof.so is neither in $PWD/there/bin nor in $PWD/there/bin/../lib" ]
    cp "$GPUPROF_BUILD/libgpuprof.so" there/lib/
    run there/bin/gpuprof sh -c 'echo $LD_PRELOAD'
    [ "$status" -eq 0 ]
    [ "$output" = "$PWD/there/bin/../lib/libgpuprof.so" ]
}

@test "a program that is not there answers 127, one that cannot run 126" {
    run -127 "$gpuprof" ./nothing
    [ "$status" -eq 127 ]
    [ "$output" = "gpuprof: ./nothing: No such file or directory" ]
    run -127 "$gpuprof" no_such_program
    [ "$output" = "gpuprof: no_such_program: No such file or directory" ]
    printf '#!/no/interpreter\n' >script
    chmod +x script
    run -127 "$gpuprof" ./script
    [ "$output" = "gpuprof: ./script: the interpreter or dynamic linker that it names is not there" ]
    echo text >file
    run "$gpuprof" ./file
    [ "$status" -eq 126 ]
}

# wrong EXPECTED OPTIONS...: that one line, exit status 2, and the program is not started.
wrong() {
    local expected=$1
    shift
    run "$gpuprof" "$@" touch started
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: $expected" ]
    [ ! -e started ]
}

@test "a mistake is reported before the program starts" {
    wrong "--metrics: there is no metric 'gld_eficiency'; did you mean gld_efficiency?" --metrics gld_eficiency
    wrong "--kernels: '(' is no regular expression: missing closing parenthesis at letter 2" --kernels '('
    wrong "--sample: 'frist:3' is no rule; say first:N, every:M or first:N,every:M, with whole numbers from 1 to 1000000000, or auto" --sample frist:3
    wrong "--overhead: '3 %' is no limit; say a share (3%), a time (2s, 500ms, 1m) or none" --overhead '3 %'
    wrong "--replay: 'never' is none of on, off, now and later" --replay=never
    wrong "--output: $PWD/none/x: No such file or directory" -o "$PWD/none/x"
    wrong "--output: '%z' is none of %p (process), %h (host), %q{NAME}, %%" -o 'x%z'
    wrong "--log: '%q{NONE}': there is no environment variable NONE" --log '%q{NONE}'
    EMPTY= wrong "--output: a file name is missing" -o '%q{EMPTY}'
    wrong "--output: a file name is missing" -o ''
    wrong "--log: $PWD: Is a directory" --log "$PWD"
    wrong "there is no option '--metrcs'; did you mean --metrics? ('gpuprof help run' lists the options)" --metrcs x
    wrong "there is no option '-x' ('gpuprof help run' lists the options)" -x
    run "$gpuprof" --metrics
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: a value is missing after '--metrics' ('gpuprof help run' lists the options)" ]
    run "$gpuprof" run
    [ "$status" -eq 2 ]
}

@test "log and profile in one file: reported before the program starts, however the file is spelled" {
    mkdir -p folder/deep
    ln -s folder/deep short
    ln -s ../x folder/to_x # nothing is there yet
    ln -s "$PWD/folder/to_x" far
    for log in x ./x "$PWD/x" folder/../x short/../../x folder/to_x far 'x%q{EMPTY}'; do
        EMPTY= wrong "--log: ${log%%%*}: --output names the same file" --log "$log" -o x
    done
    wrong "--log: $$.%: --output names the same file" --log "$$.%%" -o "$$.%%"
    GPUPROF_LOG=y wrong "GPUPROF_LOG: y: --output names the same file" -o ./y
    GPUPROF_OUTPUT=y wrong "--log: ./y: GPUPROF_OUTPUT names the same file" --log ./y
    echo here >x
    ln x same
    wrong "--log: same: --output names the same file" --log same -o far
    [ "$(cat x)" = here ]
    for log in y folder/x short/x log_%p /dev/null; do
        "$gpuprof" --log "$log" -o x true
    done
    "$gpuprof" --log /dev/null -o /dev/null true
    ln -s loop loop
    run "$gpuprof" --log loop -o loop true
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --output: loop: Too many levels of symbolic links" ]
}

@test "a program that is linked with musl runs without the library, with a warning" {
    cd "$BATS_TEST_TMPDIR"
    # Any dynamic linker of that name will do.
    cp "$(readelf -l "$(type -P env)" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')" ld-musl-x86_64.so.1
    printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { const char *p = getenv("LD_PRELOAD"); puts(p ? p : "none"); return 3; }\n' >m.c
    cc -o m m.c -Wl,-dynamic-linker,"$PWD/ld-musl-x86_64.so.1"
    printf '#!%s/m\n' "$PWD" >script
    chmod +x script
    for program in ./m ./script; do
        run "$gpuprof" $program
        [ "$status" -eq 3 ]
        [ "${lines[0]}" = "gpuprof: $program is linked with musl: it cannot be profiled, as CUDA needs glibc" ]
        [ "${lines[1]}" = none ]
        LD_PRELOAD=libm.so.6 run "$gpuprof" $program
        [ "${lines[1]}" = libm.so.6 ]
    done
    cc -o m m.c
    run "$gpuprof" ./m
    [[ $output == *libgpuprof.so* ]]
}

@test "a statically linked program runs, with a warning" {
    command -v cc >/dev/null || skip "no compiler"
    echo 'int main(void){return 7;}' >s.c
    cc -static -o s s.c 2>/dev/null || skip "no static libc"
    run "$gpuprof" ./s
    [ "$status" -eq 7 ]
    [ "$output" = "gpuprof: ./s is linked statically: it cannot be profiled" ]
}

@test "a program that gets another user's rights runs, with a warning" {
    unused="gpuprof: the program did not use CUDA: there is nothing to report"
    cp "$(type -P true)" mine
    chmod u+s mine
    run "$gpuprof" ./mine
    [ "$status" -eq 0 ]
    [ "$output" = "$unused" ]
    cp mine other
    chown nobody other 2>/dev/null || skip "needs root"
    chmod u+s other
    run "$gpuprof" ./other
    [ "$status" -eq 0 ]
    [ "$output" = "gpuprof: ./other gets other rights than yours when it starts, as a set-user-ID program: it cannot be profiled" ]
    # Nor does a script whose interpreter does.
    printf '#!%s\n' "$PWD/other" >script
    chmod +x script
    run "$gpuprof" ./script
    [ "$output" = "gpuprof: ./script gets other rights than yours when it starts, as a set-user-ID program: it cannot be profiled" ]
    # A program that gets none, though the file says so.
    run setpriv --no-new-privs "$gpuprof" ./other
    [ "$output" = "$unused" ]
}

@test "a program with file capabilities runs, with a warning" {
    command -v setcap >/dev/null && command -v setpriv >/dev/null || skip "no setcap"
    unused="gpuprof: the program did not use CUDA: there is nothing to report"
    cp "$(type -P true)" able
    setcap cap_net_raw+ep able 2>/dev/null || skip "needs root"
    run "$gpuprof" ./able
    [ "$output" = "$unused" ]
    # As another user with the right to read this folder.
    mkdir "$BATS_TEST_TMPDIR/open"
    cp "$gpuprof" "$GPUPROF_BUILD/libgpuprof.so" able open/
    setcap cap_net_raw+ep open/able
    chmod 755 open "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
    run setpriv --reuid 65534 --regid 65534 --clear-groups open/gpuprof "$PWD/open/able"
    [ "$status" -eq 0 ]
    [ "$output" = "gpuprof: $PWD/open/able gets other rights than yours when it starts, by file capabilities (see getcap): it cannot be profiled" ]
}

@test "metrics lists units, meanings, formulas per compute capability" {
    run "$gpuprof" metrics dram_read_bytes
    [ "$status" -eq 0 ]
    [[ $output == *"dram_read_bytes (bytes), default"* ]]
    [[ $output == *"= dram__bytes_read.sum"* ]]
    run "$gpuprof" metrics --cc 12.0 dram_read_bytes
    [[ $output == *"= dram__bytes_op_read.sum"* ]]
    [[ $output == *"source: ncu's table of nvprof metrics; renamed on compute capability 12"* ]]
    run "$gpuprof" metrics --cc 5.0 dram_read_bytes
    [[ $output == *"source: CUPTI's events: sectors of 32 bytes"* ]]
    run "$gpuprof" metrics --cc 7.5 flop_count_tensor_pipe
    [[ $output == *"absent: flop_count_tensor_pipe is not defined for compute capability 7.5"* ]]
    run "$gpuprof" metrics --cc new
    [ "$status" -eq 2 ]
    run "$gpuprof" metrics nothing_like_it
    [ "$status" -eq 2 ]
    run "$gpuprof" metrics --facts
    [[ $output == *"launch.theoretical_occupancy"* ]]
}

@test "a user's own metric is listed, a mistake in one is reported with file and line" {
    mkdir -p config/gpuprof
    printf '[my_ratio]\nunit = ratio\nformula = dram_read_bytes / dram_write_bytes\n' >config/gpuprof/mine.ini
    run "$gpuprof" metrics my_ratio
    [ "$status" -eq 0 ]
    [[ $output == *"my_ratio (ratio), user-defined"* ]]
    printf '[broken]\nformula = 1 +\n' >config/gpuprof/other.ini
    run "$gpuprof" metrics my_ratio
    [ "$status" -eq 0 ]
    [[ $output == *"config/gpuprof/other.ini:2: metric broken: formula, column 4: expected"* ]]
}

@test "output that cannot be printed answers 1" {
    for arguments in --version help "help run" "run --help" "report -h" metrics "metrics --facts"; do
        run bash -c "'$gpuprof' $arguments >/dev/full"
        [ "$status" -eq 1 ]
        [ "$output" = "gpuprof: standard output: No space left on device" ]
    done
}

@test "a closed pipe is no failure" {
    run bash -o pipefail -c "'$gpuprof' metrics | head -1"
    [ "$status" -eq 0 ]
}
