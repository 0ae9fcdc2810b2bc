#!/usr/bin/env bats
# The command stays as the parent of the program, and nobody sees a difference: neither the program nor the
# shell, the terminal, or others that signal them.

bats_require_minimum_version 1.5.0

setup() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    cd "$BATS_TEST_TMPDIR"
    mkdir tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
}

# Descriptors of bats are none of the program's. Nothing is left behind.
as_if_absent() {
    python3 "$BATS_TEST_DIRNAME/as_if_absent.py" "$1" "$gpuprof" 3>&-
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "the status or the signal of the program's end is the command's" { as_if_absent ends; }

@test "a program whose command is killed is killed" {
    python3 "$BATS_TEST_DIRNAME/as_if_absent.py" killed "$gpuprof" 3>&-
    # Its folder is removed by a later one, unless it is young and might yet be locked.
    left=$(echo "$TMPDIR"/gpuprof-run.*)
    [ -d "$left" ]
    "$gpuprof" --quiet true
    [ -d "$left" ]
    touch -d '2 minutes ago' "$left"
    "$gpuprof" --quiet true
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "the folder of a command that is at work stays" {
    "$gpuprof" --quiet sh -c 'touch -d "2 minutes ago" "$TMPDIR"/gpuprof-run.*; "$0" --quiet -o x true; ls "$TMPDIR" >seen' "$gpuprof"
    [ -s seen ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "no process is left of the command" { as_if_absent alone; }
@test "a signal that is sent to the command reaches the program once" { as_if_absent one_process; }
@test "a signal that is sent to the group reaches the program once" { as_if_absent group; }
@test "a signal that is sent to each process reaches the program once" { as_if_absent each; }
@test "a signal's value reaches the program" { as_if_absent queued; }
@test "a signal that the program sends does not come back" { as_if_absent own; }
@test "timeout(1) ends the program as without the command" {
    python3 "$BATS_TEST_DIRNAME/as_if_absent.py" timeout "$gpuprof" 3>&-
}
@test "the program inherits from the command all that the command has inherited" { as_if_absent inherited; }
@test "the end of the program is seen though the end of children is ignored" { as_if_absent children_ignored; }
@test "a pipe that the program closes is closed" { as_if_absent descriptors; }
@test "the end of the program is seen while somebody sends signals again and again" {
    run timeout 60 python3 - "$gpuprof" <<'END'
import signal, subprocess, sys, time
child = subprocess.Popen([sys.argv[1], "--quiet", "sh", "-c", "trap '' USR1; echo; sleep 0.3; exit 3"], stdout=subprocess.PIPE)
child.stdout.readline()
limit = time.monotonic() + 30
while child.poll() is None and time.monotonic() < limit:
    child.send_signal(signal.SIGUSR1)
    time.sleep(0.0005)
print(child.poll())
child.kill()
END
    [ "$output" = 3 ] || [ "$output" = -10 ] # the command itself has the usual ways, once the program is over
}

@test "keys that interrupt reach the program once" { as_if_absent interrupt; }
@test "keys that stop the program stop the job, and it is continued" { as_if_absent stop; }
@test "a program that is not stopped by keys goes on" { as_if_absent stop_refused; }
@test "a program in the background that reads the terminal is stopped" { as_if_absent background_read; }

@test "where no process can be made the command becomes the program" {
    command -v setpriv >/dev/null && command -v prlimit >/dev/null || skip "no setpriv or prlimit"
    mkdir open
    cp "$gpuprof" "$GPUPROF_BUILD/libgpuprof.so" open/
    chmod 755 open "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
    chmod 1777 "$TMPDIR"
    setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null || skip "needs root"
    run setpriv --reuid 65534 --regid 65534 --clear-groups prlimit --nproc=1 open/gpuprof --quiet dash -c 'exit 7'
    [ "$status" -eq 7 ]
    grep -q "Resource temporarily unavailable; dash runs without a word on how it ends" <<<"$output"
    [ -z "$(ls -A "$TMPDIR")" ]
}
