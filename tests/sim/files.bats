#!/usr/bin/env bats
# Where the report, messages and the profile go: never into a file of the program's, and no reader of
# theirs, quick or slow, holds the program up.

bats_require_minimum_version 1.5.0
load common

@test "a program's file that has the number of standard error holds the program's text" {
    for case in error error_later; do
        LD_PRELOAD=$preload "$programs/descriptors_linked" $case "$BATS_TEST_TMPDIR/mine" 2>"$log"
        [ "$(cat "$BATS_TEST_TMPDIR/mine")" = mine ]
        # A report with a file of its own is there.
        profiled "$programs/descriptors_linked" $case "$BATS_TEST_TMPDIR/mine"
        [ "$(cat "$BATS_TEST_TMPDIR/mine")" = mine ]
        grep -q ' measured with ' "$log"
        [ "$(measured vector_add)" -eq 1 ]
    done
}

@test "a log on a full disk: the report goes to standard error, with one line" {
    GPUPROF_LOG=/dev/full LD_PRELOAD=$preload run --separate-stderr "$programs/snippets_linked" vector_add
    [ "$status" -eq 0 ]
    [[ $output == "vector_add: "* ]]
    echo "$stderr"
    [ "$(head -1 <<<"$stderr")" = "gpuprof: there is no space left for the log; messages go to standard error" ]
    [ "$(grep -c "messages go to" <<<"$stderr")" -eq 1 ]
    grep -q '1 kernel launch, 1 measured' <<<"$stderr"
}

@test "a program's file that has the number of the profile or the log, too" {
    profiled "$programs/descriptors_linked" high "$BATS_TEST_TMPDIR/mine"
    [ "$(cat "$BATS_TEST_TMPDIR/mine")" = mine ]
    # Up to then they were written; later lines go to standard error, with the reason.
    [ "$(measured scale_in_place)" -gt 0 ]
    [ "$(measured vector_add)" -eq 0 ]
    [ "$(head -1 "$BATS_TEST_TMPDIR/ours.err")" = "gpuprof: the program has closed the log's descriptor; messages go to standard error" ]
    grep -q "^gpuprof: $profile: the program has closed its descriptor; nothing more is recorded" "$BATS_TEST_TMPDIR/ours.err"
    grep -q ' measured with ' "$BATS_TEST_TMPDIR/ours.err"
    profiled "$programs/descriptors_linked" closed "$BATS_TEST_TMPDIR/mine"
    grep -q ' measured with ' "$BATS_TEST_TMPDIR/ours.err"
}

# seconds COMMAND...: how long it takes, in whole seconds.
seconds() {
    local start=$SECONDS
    "$@"
    echo $((SECONDS - start))
}

@test "a FIFO that nobody reads is one line, and the program runs" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for setting in GPUPROF_OUTPUT GPUPROF_LOG; do
        env $setting="$BATS_TEST_TMPDIR/fifo" LD_PRELOAD="$preload" timeout 100 \
            "$programs/snippets_linked" vector_add 2>"$log"
        [ "$(head -1 "$log" | cut -d: -f1-2)" = "gpuprof: $setting=$BATS_TEST_TMPDIR/fifo" ]
        grep -q "^gpuprof: $setting=.*: nobody has this FIFO open for reading" "$log"
        grep -q ' measured with ' "$log"
    done
}

@test "a FIFO that is read has it all" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for setting in GPUPROF_OUTPUT GPUPROF_LOG; do
        # It stays open for writing here until the program is over, so that the reader may begin when it likes.
        exec 9<>"$BATS_TEST_TMPDIR/fifo"
        exec 8<"$BATS_TEST_TMPDIR/fifo"
        cat <&8 >"$profile" 3>&- 8<&- 9<&- &
        reader=$!
        env $setting="$BATS_TEST_TMPDIR/fifo" LD_PRELOAD="$preload" \
            "$programs/alike_linked" 200x256 2>/dev/null 8<&- 9<&-
        exec 8<&- 9<&-
        wait $reader
        grep -q '200 measured with\|"launches":200' "$profile"
    done
}

@test "a reader that stalls holds the program up for seconds, not for good" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    for setting in GPUPROF_OUTPUT GPUPROF_LOG; do
        # This shell is the reader.
        exec 9<>"$BATS_TEST_TMPDIR/fifo"
        # Filled before, so that the first line does not fit.
        dd if=/dev/zero of="$BATS_TEST_TMPDIR/fifo" oflag=nonblock bs=4096 count=32 2>/dev/null 9<&- || true
        # Two seconds at the most. So long for each launch would be more than six minutes.
        env $setting="$BATS_TEST_TMPDIR/fifo" LD_PRELOAD="$preload" GPUPROF_METRICS=all \
            timeout 200 "$programs/alike_linked" 200x256 2>"$log" >/dev/null 9<&-
        exec 9<&-
    done
}

@test "a parent that waits for the program's end before it reads its standard error" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    # More metrics than 64 KiB hold.
    mkdir "$BATS_TEST_TMPDIR/metrics"
    for i in $(seq 500); do
        printf '[times_%s]\nformula = %s * duration\n' "$i" "$i"
    done >"$BATS_TEST_TMPDIR/metrics/many.ini"
    export GPUPROF_METRICS_PATH=$BATS_TEST_TMPDIR/metrics GPUPROF_REPORT=details
    exec 9<>"$BATS_TEST_TMPDIR/fifo"
    run env GPUPROF_METRICS=all GPUPROF_OUTPUT="$profile" LD_PRELOAD="$preload" \
        bash -c 'timeout 200 "$1" 2>"$2" >/dev/null' - "$programs/snippets_linked" "$BATS_TEST_TMPDIR/fifo" 9<&-
    [ "$status" -eq 0 ]
    dd iflag=nonblock bs=64K <&9 >"$log" 2>/dev/null || true
    exec 9<&-
    [ "$(stat -c %s "$log")" -lt 61440 ]
    [ "$(stat -c %s "$log")" -gt 50000 ]
    [ "$(tail -1 "$log")" = "gpuprof: the report is longer than standard error may be filled: the rest is in the profile, 'gpuprof report --details $profile' prints all of it" ]
    # A log of its own has it whole.
    GPUPROF_METRICS=all profiled "$programs/snippets_linked"
    [ "$(stat -c %s "$log")" -gt 61440 ]
    grep -q "^DETAILS" "$log"
}

@test "standard error that nobody reads on, of any kind, holds the program up for seconds at most" {
    command -v python3 >/dev/null || skip "no python3"
    for kind in pipe socket terminal; do
        run python3 - $kind "$preload" "$programs/snippets_linked" <<'END'
import os, pty, socket, subprocess, sys, time, fcntl
kind, preload, program = sys.argv[1:]
if kind == "pipe":
    ours, theirs = os.pipe()
elif kind == "socket":
    a, b = socket.socketpair()
    ours, theirs = a.fileno(), b.fileno()
else:
    ours, theirs = pty.openpty()
# Full already.
flags = fcntl.fcntl(theirs, fcntl.F_GETFL)
fcntl.fcntl(theirs, fcntl.F_SETFL, flags | os.O_NONBLOCK)
try:
    while True:
        os.write(theirs, b"x" * 256)
except BlockingIOError:
    pass
fcntl.fcntl(theirs, fcntl.F_SETFL, flags)
def run(stderr):
    start = time.monotonic()
    status = subprocess.run([program, "vector_add"], stderr=stderr, stdout=subprocess.DEVNULL, timeout=300,
                            env=dict(os.environ, LD_PRELOAD=preload)).returncode
    return status, time.monotonic() - start
usual = run(subprocess.DEVNULL)[1]
status, took = run(theirs)
# Nobody else's flags were changed.
same = fcntl.fcntl(theirs, fcntl.F_GETFL) == flags
print(kind, status, took, usual)
# On a busy machine all takes longer.
sys.exit(status != 0 or took > 12 + 10 * usual or not same)
END
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
}

@test "the name of the profile moves no cursor and begins no line, where the report names it" {
    profile=$BATS_TEST_TMPDIR/$'odd\e[2J\nline two'
    profiled "$programs/snippets_linked" vector_add
    grep -qF 'odd\x1b[2J\nline two' "$log"
    [ "$(LC_ALL=C tr -d '\n -~' <"$log" | wc -c)" -eq 0 ]
    run grep '^line two' "$log"
    [ "$status" -eq 1 ]
}
