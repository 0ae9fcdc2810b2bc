#!/usr/bin/env bats
# A program held to thresholds while it runs, on the simulated Hopper; baselines of its measurements.

bats_require_minimum_version 1.5.0
load common

programs_of() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    rules=$BATS_TEST_TMPDIR/rules.ini
    snippets=$programs/snippets_linked
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir -p "$TMPDIR"
}

@test "rows hold and columns violate exactly the same rules" {
    programs_of
    printf '%s\n' '[matrix_add_*]' 'gld_efficiency >= 90 %' 'gst_efficiency >= 90 %' \
        'gld_transactions <= 65536' 'warp_execution_efficiency >= 90 %' 'launches == 1' >"$rules"
    run "$gpuprof" --log "$log" --check "$rules" "$snippets" --size 512 --block 32x32 matrix_row
    [ "$status" -eq 0 ]
    [[ $output == *"all 5 checks held"* ]]
    run "$gpuprof" --log "$log" --check "$rules" "$snippets" --size 512 --block 32x32 matrix_column
    [ "$status" -eq 1 ]
    [ "$(grep -c '^violated' <<<"$output")" -eq 3 ]
    [[ $output == *"matrix_add_column: gld_efficiency is 12.5 %, bound: >= 90 %"* ]]
    [[ $output == *"matrix_add_column: gst_efficiency is 12.5 %, bound: >= 90 %"* ]]
    [[ $output == *"matrix_add_column: gld_transactions is 524288, bound: <= 65536"* ]]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "the report names no profile that the command removes" {
    programs_of
    printf '%s\n' '[*]' 'launches >= 1' >"$rules"
    run "$gpuprof" --log "$log" --check "$rules" "$snippets" vector_add
    [ "$status" -eq 0 ]
    grep -q "^More: GPUPROF_REPORT=details, or a profile" "$log"
    ! grep -q "$TMPDIR" "$log" || false
    run "$gpuprof" --log "$log" --check "$rules" -o "$BATS_TEST_TMPDIR/own.jsonl" "$snippets" vector_add
    [ "$status" -eq 0 ]
    grep -q "^More: gpuprof report --details .*own.jsonl" "$log"
}

@test "the metrics of a rule are measured beside all others" {
    programs_of
    printf '%s\n' '[*]' 'gld_transactions <= 1e9' 'lts__t_sectors.sum >= 0' >"$rules"
    run "$gpuprof" --log "$log" --metrics duration --check "$rules" "$snippets" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"all 2 checks held"* ]]
}

@test "the program's own failure is the status, and the program is not started with wrong rules" {
    programs_of
    printf '%s\n' '[*]' 'gld_efficiency >= 90 %' >"$rules"
    run "$gpuprof" --log "$log" --check "$rules" sh -c '"$0" --size 512 matrix_column; exit 7' "$snippets"
    [ "$status" -eq 7 ]
    [[ $output == *"1 of 1 checks violated"* ]]
    run -127 "$gpuprof" --log "$log" --check "$rules" sh -c '"$0" --size 512 matrix_column; exit 127' "$snippets"
    [[ $output == *"1 of 1 checks violated"* ]]
    run "$gpuprof" --log "$log" --check "$rules" sh -c 'kill -TERM $$'
    [ "$status" -eq 143 ]
    run "$gpuprof" --log "$log" --check "$rules" true
    [ "$status" -eq 2 ]
    run -127 "$gpuprof" --log "$log" --check "$rules" ./nothing
    echo nonsense >"$rules"
    run "$gpuprof" --check "$rules" touch "$BATS_TEST_TMPDIR/started"
    [ "$status" -eq 2 ]
    [ ! -e "$BATS_TEST_TMPDIR/started" ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "the verdict goes where --format says, and the profile stays where -o says" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '[*]' 'gld_efficiency >= 90 %' >"$rules"
    run "$gpuprof" --log "$log" --check rules.ini --format github,junit=v.xml -o 'p.%p.jsonl' \
        "$snippets" --size 512 matrix_column
    [ "$status" -eq 1 ]
    [[ $output == *"::error file=rules.ini,line=2,title=gld_efficiency >= 90 %25::"* ]]
    "$BATS_TEST_DIRNAME/../cli/formats" junit v.xml
    run "$gpuprof" check -t rules.ini p.*.jsonl
    [ "$status" -eq 1 ]
    run "$gpuprof" --format text true
    [ "$status" -eq 2 ]
}

@test "signals reach the program that is checked" {
    programs_of
    printf '%s\n' '[*]' required >"$rules"
    env --default-signal "$gpuprof" --log "$log" --check "$rules" \
        sh -c 'trap "exit 9" TERM; : >"$0"; while :; do sleep 0.1; done' "$BATS_TEST_TMPDIR/started" 3>&- &
    local pid=$!
    until [ -e "$BATS_TEST_TMPDIR/started" ]; do sleep 0.1; done
    kill -TERM $pid
    local answer=0
    wait $pid || answer=$?
    [ "$answer" -eq 9 ]
}

@test "GPUPROF_CHECK puts the verdict behind the report, and the status is the program's" {
    programs_of
    printf '%s\n' '[*]' 'gld_efficiency >= 90 %' 'dram__bytes_read.sum / gld_transactions < 1e9' >"$rules"
    export GPUPROF_CHECK=$rules
    profiled "$snippets" --size 512 matrix_row matrix_column
    grep -q "^CHECKS, rules of $rules" "$log"
    grep -q "^violated: matrix_add_column: gld_efficiency is 12.5 %, bound: >= 90 %" "$log"
    grep -q "^checks: 1 of 4 checks violated" "$log"
    # The command comes to the same from the profile.
    run "$gpuprof" check -t "$rules" "$profile"
    [ "$status" -eq 1 ]
    [[ $output == *"1 of 4 checks violated"* ]]
    echo nonsense >"$rules"
    profiled "$snippets" matrix_row
    grep -q "^gpuprof: GPUPROF_CHECK: $rules:1:1: expected a kernel pattern in brackets first" "$log"
    grep -q "^gpuprof: GPUPROF_CHECK=$rules: nothing is checked" "$log"
    ! grep -q '^CHECKS' "$log" || false
    # Without it nothing is said.
    unset GPUPROF_CHECK
    profiled "$snippets" matrix_row
    ! grep -q CHECK "$log"
}

@test "counts of an unchanged program are the same from run to run" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    for i in 1 2 3; do
        profiled "$snippets" --size 256 matrix_row vector_add histogram
        mv "$profile" p$i.jsonl
    done
    "$gpuprof" baseline p1.jsonl -o base.json
    # The simulator's time for a kernel is the host's.
    printf '[*]\nduration = ignore\n*throughput = ignore\nflop* = ignore\ndram_* = 1 %%\ndram_utilization = ignore\n' >t.ini
    run "$gpuprof" check --baseline base.json --tolerance t.ini p2.jsonl p3.jsonl
    [ "$status" -eq 0 ]
    profiled "$snippets" --size 256 matrix_column vector_add histogram
    run "$gpuprof" check --baseline base.json "$profile"
    [[ $output == *"matrix_add_row "*"is gone"* ]]
    [[ $output == *"matrix_add_column "*"is new"* ]]
}

@test "a kernel that has another name is known by its machine code, in profiles, baselines and a history" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    local program=$programs/one_name_linked command
    for run in "old add:5" "renamed called:renamed add:5" "edited called:renamed multiply:5"; do
        profiled "$program" ${run#* }
        mv "$profile" ${run%% *}.jsonl
    done
    run "$gpuprof" compare old.jsonl renamed.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"was one_name: the same machine code, the same configuration, launched as often"* ]]
    [[ $output != *gone* ]]
    run "$gpuprof" compare old.jsonl old.jsonl
    [[ $output == *"the same machine code"* ]]
    # With one operation changed it is a proposal, which says how much is alike.
    run "$gpuprof" compare old.jsonl edited.jsonl
    [[ $output == *"perhaps the same as one_name: about "*" % of the machine code alike, the same configuration, launched as often"* ]]
    "$gpuprof" baseline old.jsonl -o base.json
    "$gpuprof" history add old.jsonl --db h.db
    # The simulator's time for a kernel is the host's.
    printf '[*]\nduration = ignore\n*throughput = ignore\nflop* = ignore\ndram_utilization = ignore\n' >t.ini
    for command in "check --baseline base.json" "history check --db h.db"; do
        run "$gpuprof" $command renamed.jsonl --tolerance t.ini
        [ "$status" -eq 0 ]
        [[ $output == *"note: renamed [grid 1, block 256]: its name was 'one_name': the same machine code, the same configuration, launched as often"* ]]
        run "$gpuprof" $command edited.jsonl --tolerance t.ini
        [ "$status" -eq 2 ]
        [[ $output == *"one_name [grid 1, block 256]: is gone; 'renamed' may be the same kernel under another name: about "*" % of the machine code alike, the same configuration"* ]]
    done
    # A baseline and a history of a version before have no code.
    sed -i '/"code": /d; /"sketch": /d' base.json
    cp h.db before.db
    command -v sqlite3 >/dev/null || skip "no sqlite3"
    sqlite3 before.db 'DROP TABLE code'
    for command in "check --baseline base.json" "history check --db before.db"; do
        run "$gpuprof" $command renamed.jsonl --tolerance t.ini
        [ "$status" -eq 2 ]
        [[ $output == *"is gone; 'renamed' may be the same kernel under another name: the same configuration, launched as often"* ]]
    done
    # The next run brings the table.
    "$gpuprof" history add old.jsonl --db before.db
    run "$gpuprof" history check --db before.db renamed.jsonl --tolerance t.ini
    [ "$status" -eq 0 ]
    [[ $output == *"its name was 'one_name': the same machine code"* ]]
}

# unread FILE SIGNAL COMMAND...: with standard error a pipe that is full and that nobody reads. When FILE is there
# the signal is sent, again and again; "" "" sends none. Prints the end of the command.
unread() {
    python3 - "$@" <<'END'
import fcntl, os, signal, subprocess, sys, time
file, name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
reader, writer = os.pipe()
fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
child = subprocess.Popen(["env", "--default-signal"] + command, stdout=subprocess.DEVNULL, stderr=writer)
os.close(writer)
limit = time.monotonic() + 300
while child.poll() is None and time.monotonic() < limit:
    if name and os.path.exists(file):
        child.send_signal(getattr(signal, "SIG" + name))
    time.sleep(float(os.environ.get("PAUSE", 0.05)))
status = child.poll()
if status is None:
    child.kill()
print("hangs" if status is None else signal.Signals(-status).name if status < 0 else f"status {status}")
END
}

@test "a verdict that nobody reads is not waited for, and nothing is left behind" {
    programs_of
    { echo '[*]'; for i in $(seq 400); do echo "duration >= $i s"; done; } >"$rules"
    run unread "" "" "$gpuprof" --log "$log" --check "$rules" "$snippets" vector_add
    [ "$output" = "status 1" ]
    [ -z "$(ls -A "$TMPDIR")" ]
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    run timeout 200 "$gpuprof" --log "$log" --check "$rules" --format "junit=$BATS_TEST_TMPDIR/fifo" "$snippets" vector_add
    [ "$status" -eq 1 ]
    [[ $output == *"--format junit=$BATS_TEST_TMPDIR/fifo: nobody has this FIFO open for reading"* ]]
}

@test "a signal that comes while profiles are searched leaves no files behind" {
    programs_of
    mkdir "$BATS_TEST_TMPDIR/many"
    (cd "$BATS_TEST_TMPDIR/many" && seq -f 'run.%.0f.jsonl' 3000 | xargs touch)
    printf '[*]\nduration >= 1 s\n' >"$rules"
    PAUSE=0.001 run unread "$BATS_TEST_TMPDIR/over" TERM "$gpuprof" -o "$BATS_TEST_TMPDIR/many/run.%p.jsonl" --log "$log" \
        --check "$rules" sh -c '"$0" 100x256; : >"$1"' "$programs/alike_linked" "$BATS_TEST_TMPDIR/over"
    [ "$output" = SIGTERM ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "a signal ends a check whose program is over, and its files are removed" {
    programs_of
    # A second of waiting for the reader, after some judging.
    { echo '[*]'; for i in $(seq 9000); do echo "duration >= $i s"; done; } >"$rules"
    for signal in TERM INT; do
        rm -f "$BATS_TEST_TMPDIR/over"
        run unread "$BATS_TEST_TMPDIR/over" $signal "$gpuprof" --log "$log" --check "$rules" \
            sh -c '"$0" 100x256; : >"$1"' "$programs/alike_linked" "$BATS_TEST_TMPDIR/over"
        [ "$output" = SIG$signal ]
        [ -z "$(ls -A "$TMPDIR")" ]
    done
}

@test "rules out of a pipe get one clear line" {
    programs_of
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    run timeout 200 "$gpuprof" --check "$BATS_TEST_TMPDIR/fifo" "$snippets" vector_add
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --check: $BATS_TEST_TMPDIR/fifo: a regular file is expected: it is read more than once" ]
    GPUPROF_CHECK=$BATS_TEST_TMPDIR/fifo run timeout 200 "$gpuprof" --log "$log" "$snippets" vector_add
    [ "$status" -eq 0 ]
    grep -q "fifo: nothing was written to this pipe for 5 s; a file is expected" "$log"
}

@test "metrics that could not be measured are no pass against a baseline, and have their reason" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    profiled "$snippets" --size 256 matrix_row
    mv "$profile" whole.jsonl
    "$gpuprof" baseline whole.jsonl -o base.json
    printf '[*]\nduration = ignore\n*throughput = ignore\nflop* = ignore\n' >t.ini
    export GPUSIM_FAULTS=busy
    profiled "$snippets" --size 256 matrix_row
    unset GPUSIM_FAULTS
    run "$gpuprof" check --baseline base.json --tolerance t.ini "$profile"
    [ "$status" -eq 2 ]
    [[ $output == *" achieved_occupancy, "*" gld_efficiency, "*" not compared: the GPU's counters are in use by another process"* ]]
}

@test "a launch that was not read before its process was killed says so" {
    programs_of
    printf '%s\n' '[*]' 'gld_efficiency >= 0 %' >"$rules"
    run "$gpuprof" --log "$log" -o "$profile" "$programs/alike_linked" 30x256 kill
    run "$gpuprof" check -t "$rules" "$profile"
    [ "$status" -eq 2 ]
    [[ $output == *"gld_efficiency is absent: "*": the process ended before it was read"* ]]
}

@test "a profile that is not whole proves nothing, and a violation is one all the same" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    run "$gpuprof" --log "$log" -o whole.jsonl "$programs/exits_linked" exit vector_add
    [ "$status" -eq 3 ]
    export GPUPROF_REPLAY=now # all that was launched is counted by then
    run "$gpuprof" --log "$log" -o killed.jsonl "$programs/exits_linked" kill vector_add
    run "$gpuprof" --log "$log" -o left.jsonl "$programs/exits_linked" _exit vector_add
    run "$gpuprof" --log "$log" -o killed.jsonl.zst "$programs/exits_linked" kill vector_add
    head -c -20 whole.jsonl >torn.jsonl
    "$gpuprof" baseline whole.jsonl -o base.json
    printf '%s\n' '[*]' 'duration <= 10 s' >"$rules"
    printf '%s\n' '[*]' 'duration <= 10 s' 'unfinished = note' >noted.ini
    printf '%s\n' '[*]' 'duration <= 1 ns' >worse.ini
    printf '%s\n' '[*]' '* = ignore' 'gld_transactions = exact' >t.ini
    printf '%s\n' '[*]' '* = ignore' 'gld_transactions = exact' 'unfinished = note' >tn.ini
    run "$gpuprof" check -t "$rules" whole.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" check -b base.json --tolerance t.ini whole.jsonl
    [ "$status" -eq 0 ]
    for profile in killed.jsonl left.jsonl killed.jsonl.zst torn.jsonl; do
        run "$gpuprof" check -t "$rules" "$profile"
        [ "$status" -eq 2 ]
        [[ $output == *"$profile: "*"launches may be missing"* ]]
        run "$gpuprof" check -t noted.ini "$profile"
        [ "$status" -eq 0 ]
        run "$gpuprof" check -t worse.ini "$profile"
        [ "$status" -eq 1 ]
        run "$gpuprof" check -b base.json --tolerance t.ini "$profile"
        [ "$status" -eq 2 ]
        run "$gpuprof" check -b base.json --tolerance tn.ini "$profile"
        [ "$status" -eq 0 ]
    done
}

@test "five runs are five runs, not one with five times the launches" {
    programs_of
    cd "$BATS_TEST_TMPDIR"
    for i in 1 2 3 4 5; do
        profiled "$snippets" --size 256 vector_add
        mv "$profile" run$i.jsonl
    done
    printf '%s\n' '[vector_add]' 'launches == 1' >"$rules"
    run "$gpuprof" check -t "$rules" run?.jsonl
    [ "$status" -eq 0 ]
    printf '%s\n' '[vector_add]' 'launches == 1' 'duration <= 1 ns' >"$rules"
    run "$gpuprof" check -t "$rules" run?.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"(launch 0 of run"*".jsonl; 5 of 5 launches violate it)"* ]]
}

@test "without the permission for counters a check says so, and judges times and shapes" {
    programs_of
    printf '%s\n' '[*]' required 'gld_efficiency >= 90 %' >"$rules"
    GPUSIM_FAULTS=noprivileges run "$gpuprof" --log "$log" --check "$rules" "$snippets" vector_add
    [ "$status" -eq 1 ]
    [[ $output == *"gld_efficiency is absent: counter "*": no permission to read the GPU's counters"* ]]
    [ "$(grep -c '^gpuprof: only times, shapes and counters of instrumented code' "$log")" -eq 1 ]
    # Rules on times and shapes are judged.
    printf '%s\n' '[*]' required 'duration <= 1 s' 'registers_per_thread <= 255' >"$rules"
    GPUSIM_FAULTS=noprivileges run "$gpuprof" --log "$log" --check "$rules" "$snippets" vector_add
    [ "$status" -eq 0 ]
}

@test "a program that does not use CUDA gets a line on it, shells and scripts do not" {
    programs_of
    word="gpuprof: the program did not use CUDA: there is nothing to report"
    # No shell: a shell ends without a word to its libraries, and may have children that use CUDA.
    program=$(type -P true)
    run "$gpuprof" "$program"
    [ "$status" -eq 0 ]
    [ "$output" = "$word" ]
    run "$gpuprof" sh -c "exec $program"
    [ "$output" = "$word" ]
    run "$gpuprof" --log "$log" "$program"
    [ -z "$output" ]
    [ "$(cat "$log")" = "$word" ]
    run "$gpuprof" --quiet "$program"
    [ -z "$output" ]
    # A process that had a child, that is one, or that used CUDA.
    run "$gpuprof" bash -c "$program; $program; exit 3"
    [ "$status" -eq 3 ]
    [ -z "$output" ]
    run "$gpuprof" bash -c "$program & exec sleep 0.1"
    [ -z "$output" ]
    run env LD_PRELOAD="$preload" "$program"
    [ -z "$output" ]
    run "$gpuprof" "$snippets" vector_add
    [[ $output != *"did not use CUDA"* ]]
    # A check says it in its own way.
    printf '%s\n' '[*]' 'launches >= 1' >"$rules"
    run "$gpuprof" --check "$rules" "$program"
    [ "$status" -eq 2 ]
    [ "$output" = $'no process launched a kernel: there is no profile to judge\ngpuprof check: nothing was checked' ]
}

@test "a process that is no number is said, and each one is measured" {
    GPUPROF_PROCESS=x profiled "$programs/snippets_linked" vector_add
    grep -q "^gpuprof: GPUPROF_PROCESS=x: that is no number of a process; each one is measured" "$BATS_TEST_TMPDIR/ours.err" "$log"
    [ "$(measured vector_add)" -eq 1 ]
    rm "$log"
    GPUPROF_PROCESS=1 profiled "$programs/snippets_linked" vector_add
    [ ! -e "$log" ]
}
