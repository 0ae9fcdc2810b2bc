#!/usr/bin/env bats
# A program that does not come to its own end: interrupted, killed, left by _exit. The command prints the report as
# far as it goes; the profile has each launch.

bats_require_minimum_version 1.5.0
load common

# ended SIGNAL COMMAND...: sends it to the command when the program waits; the status is in $ended, the text in $log.
ended() {
    local signal=$1
    shift
    : >out
    # A shell has its jobs in the background ignore some.
    env --default-signal=INT "$@" >out 2>"$log" 3>&- &
    local pid=$! status=0
    until_ grep -q waiting out
    kill -"$signal" $pid
    until_ over $pid
    wait $pid || status=$?
    ended=$status
}

over() { [ ! -e /proc/"$1" ] || [ "$(sed 's/.*) //' /proc/"$1"/stat | cut -c1)" = Z ]; }

reports() { grep -c '^gpuprof [0-9][^:]*: [0-9]* kernel launch' "$1" || true; }

@test "one report, and one line on the end, where a signal ends the program" {
    in_folder
    for asked in "" "-o run.jsonl" "-o run.jsonl.zst"; do
        for signal in TERM HUP INT; do
            ended $signal "$gpuprof" $asked "$alike" 100x256 wait
            [ "$ended" -eq $((128 + $(kill -l $signal))) ]
            [ "$(reports "$log")" -eq 1 ]
            [ "$(grep -c '^gpuprof: ' "$log")" -eq 1 ]
            grep -Eq "^gpuprof: the program was ended by SIG$signal; (of|all) its 100 launches ([0-9]+ )?are measured" "$log"
            [ -z "$(ls -A "$TMPDIR")" ]
        done
    done
}

@test "the program is ended in other ways" {
    in_folder
    for way in kill:SIGKILL abort:SIGABRT fault:SIGSEGV; do
        for asked in "" "-o run.jsonl"; do
            run "$gpuprof" $asked "$alike" 100x256 ${way%:*}
            [ "$status" -eq $((128 + $(kill -l ${way#*:}))) ]
            grep -Eq "^gpuprof: the program was ended by ${way#*:}; (of|all) its 100 launches ([0-9]+ )?are measured" <<<"$output"
            [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ]
            [ -z "$(ls -A "$TMPDIR")" ]
        done
    done
    for asked in "" "-o run.jsonl"; do
        run "$gpuprof" $asked "$alike" 100x256 _exit
        [ "$status" -eq 0 ]
        grep -Eq "^gpuprof: the program left by _exit or became another one; (of|all) its 100 launches ([0-9]+ )?are measured" <<<"$output"
        [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ]
    done
}

@test "a program that comes to its end has one report, and no line on its end" {
    in_folder
    for asked in "" "-o run.jsonl"; do
        run "$gpuprof" $asked "$alike" 100x256
        [ "$status" -eq 0 ]
        [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ]
        [ "$(grep -c '^gpuprof: ' <<<"$output" || true)" -eq 0 ]
        [ -z "$(ls -A "$TMPDIR")" ]
    done
}

@test "a program that is ended before its first launch has a line" {
    in_folder
    run "$gpuprof" sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
    [ "$output" = "gpuprof: the program was ended by SIGTERM; no launch of it is known, so there is nothing to report" ]
    run "$gpuprof" --quiet sh -c 'kill -TERM $$'
    [ -z "$output" ]
}

@test "--timeout ends a program, which is reported" {
    in_folder
    run "$gpuprof" --timeout 2 "$alike" 100x256 wait
    [ "$status" -eq 143 ]
    grep -q "^gpuprof: $alike: ended after 2 s (--timeout)" <<<"$output"
    grep -q "^gpuprof: the program was ended by SIGTERM" <<<"$output"
    [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ]
}

@test "keys on the terminal end it" {
    in_folder
    cat >keys.py <<'END'
import os, pty, sys
sent = False
def read(fd):
    global sent
    data = os.read(fd, 65536)
    if b"waiting" in data and not sent:
        sent = True
        os.write(fd, b"\x03")
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)) & 0xff)
END
    status=0
    TERM=xterm env --default-signal python3 keys.py "$gpuprof" "$alike" 100x256 wait >screen </dev/null || status=$?
    [ "$status" -eq 254 ] # by signal 2
    [ "$(reports screen)" -eq 1 ]
    grep -q "gpuprof: the program was ended by SIGINT; .* its 100 launches" screen
}

@test "the report is printed as the options say" {
    in_folder
    ended TERM "$gpuprof" --log "other.log" --details "$alike" 100x256 wait
    [ ! -s "$log" ]
    [ "$(reports other.log)" -eq 1 ]
    grep -q '^DETAILS' other.log
    ended TERM "$gpuprof" --quiet "$alike" 100x256 wait
    [ ! -s "$log" ]
    ended TERM "$gpuprof" --print-gpu-trace "$alike" 100x256 wait
    [ "$(grep -c scale_in_place "$log")" -eq 100 ]
    [ "$(reports "$log")" -eq 0 ]
    ended TERM "$gpuprof" --print-gpu-trace --csv --metrics gld_efficiency "$alike" 100x256 wait
    [ "$(grep -c '"scale_in_place' "$log")" -eq 100 ]
    ended TERM "$gpuprof" --csv "$alike" 100x256 wait
    grep -q '"Time(%)"' "$log"
}

@test "processes that were killed, beside one that came to its end" {
    in_folder
    for asked in "" "-o run.jsonl"; do
        run "$gpuprof" $asked sh -c '"$0" 3x256; "$0" 100x256 kill; "$0" 50x256 kill; exit 4' "$alike"
        [ "$status" -eq 4 ]
        grep -q "^gpuprof: the program ended, and 2 of its processes were killed, left by _exit or became another program; .* its 150 launches" <<<"$output"
        # That of the first process by itself, that of the others.
        [ "$(grep -c '^gpuprof [0-9].*: 3 kernel launches' <<<"$output")" -eq 1 ]
        [ "$(grep -c '^gpuprof [0-9].*: 150 kernel launches' <<<"$output")" -eq 1 ]
        [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 2 ]
    done
    [ "$("$gpuprof" report run.jsonl | grep -c ': 153 kernel launches')" -eq 1 ]
}

@test "a check of a program that was ended reports and does not judge" {
    in_folder
    printf '%s\n' '[*]' 'launches <= 1000' >rules.ini
    ended TERM "$gpuprof" --check rules.ini "$alike" 100x256 wait
    [ "$ended" -eq 143 ]
    [ "$(reports "$log")" -eq 1 ]
    grep -q "launches may be missing" "$log"
    [ -z "$(ls -A "$TMPDIR")" ]
}

# timed FILE: how many of its launches have a time, or were measured without one.
timed() {
    "$gpuprof" report --print launches "$1" 2>/dev/null | grep '"type":"launch"' |
        grep -c '"gpu__time_duration.sum":[0-9.]*[,}]\|"dram__bytes_read.sum":[0-9.]*[,}]' || true
}
has_timed() { [ "$(timed run.jsonl)" -eq "$1" ]; }

@test "without the command the profile has the time of each launch that has ended, while the program goes on" {
    in_folder
    for metrics in default dram_read_bytes; do
        # Where the machine is busy a batch of them may be measured already; or all, which shows nothing.
        for _ in 1 2 3 4 5; do
            GPUPROF_METRICS=$metrics GPUPROF_OUTPUT=run.jsonl LD_PRELOAD="$preload" "$alike" 20x256 30x200x2 14x256x3 wait >out &
            pid=$!
            until_ grep -q waiting out
            until_ has_timed 64
            kill -KILL $pid
            wait $pid || true
            "$gpuprof" report run.jsonl | tr -s '\n ' ' ' >flat
            measured=$(sed -n 's/.*: 64 kernel launches, \([0-9]*\) measured.*/\1/p' flat)
            [ "$measured" -eq 64 ] || break
        done
        [ "$measured" -le 64 ]
        ! grep -q "have no time" flat || false
        [ "$measured" -eq 64 ] || grep -q "of its 64 launches $measured are measured, $((64 - measured)) have only their time" flat
        [ "$measured" -eq 64 ] || grep -Eq "NOT MEASURED, or not completely $((64 - measured)) launch(es)? of scale_in_place: the process ended before it was read" flat
    done
}

@test "a launch has its time before its passes are over" {
    in_folder
    # Each pass of instrumented code takes long.
    GPUSIM_FAULTS=slowcode GPUPROF_REPLAY=now GPUPROF_OUTPUT=run.jsonl LD_PRELOAD="$preload" \
        "$alike" 2000x256 >out 2>"$log" 3>&- &
    pid=$!
    first_is_there() { [ -s run.jsonl ] && [ "$(timed run.jsonl)" -gt 0 ]; }
    until_ first_is_there
    kill -KILL $pid
    wait $pid || true
    [ "$("$gpuprof" report run.jsonl | grep -c 'the process ended before it was read')" -gt 0 ]
}

@test "launches without a line are counted" {
    in_folder
    knows_100() { grep -q '"so_far","launches":100' run.jsonl; }
    GPUPROF_SAMPLE=first:2 GPUPROF_OUTPUT=run.jsonl LD_PRELOAD="$preload" "$alike" 100x256 wait >out &
    pid=$!
    until_ grep -q waiting out
    until_ knows_100
    kill -KILL $pid
    wait $pid || true
    "$gpuprof" report run.jsonl | tr -s '\n ' ' ' | grep -Eq "of its 100 launches [0-9]+ are measured.*, 98 have no time"
}

@test "a profile that cannot be written any more: one line, and status 2 where the program's own is 0" {
    in_folder
    limited() { bash -c 'ulimit -f 4; exec "$@"' - "$@"; } # 4 KiB
    for name in run.jsonl run.jsonl.zst; do
        run limited "$gpuprof" -o $name "$alike" 200x256
        [ "$status" -eq 2 ]
        [ "$(grep -c "File too large" <<<"$output")" -eq 1 ]
        grep -q "^gpuprof: $PWD/$name: File too large; nothing more is recorded in this profile" <<<"$output"
        [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ] # the report all the same
        rm -f $name
    done
    run limited "$gpuprof" -o run.jsonl sh -c '"$0" 200x256; exit 3' "$alike"
    [ "$status" -eq 3 ]
    # Without the command the status is the program's.
    run limited env GPUPROF_OUTPUT=run.jsonl LD_PRELOAD="$preload" "$alike" 200x256
    [ "$status" -eq 0 ]
    [ "$(grep -c "File too large" <<<"$output")" -eq 1 ]
    # One that the user did not ask for is no matter.
    run limited "$gpuprof" "$alike" 200x256
    [ "$status" -eq 0 ]
    [ "$(grep -c "File too large" <<<"$output" || true)" -eq 0 ]
    [ "$(grep -c '^gpuprof [0-9]' <<<"$output")" -eq 1 ]
}

@test "a disk that is full while the program runs" {
    in_folder
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    unshare -m true 2>/dev/null || skip "mounts are not allowed here: it is a chroot, say"
    mkdir disk
    run unshare -m sh -c 'mount -t tmpfs -o size=8k none disk && "$0" -o disk/run.jsonl "$1" 200x256' \
        "$gpuprof" "$alike"
    [ "$status" -eq 2 ]
    [ "$(grep -c "No space left on device" <<<"$output")" -eq 1 ]
    # One that is full from the start.
    run unshare -m sh -c 'mount -t tmpfs -o size=4k none disk && : >disk/run.jsonl && echo text >disk/other
        "$0" -o disk/run.jsonl touch started; status=$?; "$0" -o disk/new.jsonl touch started; exit $status' "$gpuprof"
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --output: disk/run.jsonl: No space left on device
gpuprof: --output: disk/new.jsonl: No space left on device" ]
    [ ! -e started ]
}

@test "a profile that cannot be opened when the program comes to it" {
    in_folder
    mkdir there
    run "$gpuprof" -o there/run.jsonl sh -c 'rm -r there; "$0" 3x256' "$alike"
    [ "$status" -eq 2 ]
    [ "$(grep -c "there/run.jsonl: No such file or directory; no profile is written" <<<"$output")" -eq 1 ]
}
