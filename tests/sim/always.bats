#!/usr/bin/env bats
# A program that runs for days: a limit to its profile, the report while it runs, totals for a monitoring system.

bats_require_minimum_version 1.5.0
load common

# started COMMAND...: waits until the program has said that it waits for a signal; the command is $pid.
started() {
    : >out
    "$@" >out 2>err 3>&- &
    pid=$!
    until_ grep -q waiting out
}

ended() {
    kill "$pid"
    wait "$pid" || true
}

times() { "$gpuprof" report --csv --print times "$1" | tail -n +3; }
lines() { grep -c '^\["launch"' "$1"; }

# Launches that have a line are in all parts of the run. How many depends on the time in which the file is written anew.
in_all_parts() {
    grep '^\["launch"' "$1" | cut -d, -f3 | awk -v launches="$2" '
        { part[int(4 * $1 / launches)]++ }
        END { for (i = 0; i < 4; i++) if (part[i] < 20) exit 1 }'
}

@test "a profile stays below its limit, and its report is the one without a limit" {
    in_folder
    program=("$alike" 15000x256 sum 3x256)
    export GPUPROF_METRICS=duration
    "$gpuprof" -o whole.jsonl "${program[@]}" >out 2>err
    for limited in limited.jsonl limited.jsonl.zst; do
        "$gpuprof" --limit-profile 1M -o $limited "${program[@]}" >out 2>err
        [ "$(stat -c %s $limited)" -lt 1048576 ]
        times whole.jsonl >expected
        times $limited >found
        diff expected found
    done
    [ "$(stat -c %s whole.jsonl)" -gt 1048576 ]
    # Rare launches keep their lines, frequent ones some, in all parts of the run.
    grep -q '"type":"sum"' limited.jsonl
    [ "$(lines limited.jsonl)" -lt 8000 ]
    in_all_parts limited.jsonl 15000
    [ "$(grep '^\["launch"' limited.jsonl | cut -d, -f3 | grep -cE '^1500[0-2]$')" -eq 3 ]
    [ "$(ls)" = "$(printf '%s\n' err expected found limited.jsonl limited.jsonl.zst out tmp whole.jsonl)" ]
    grep -q 'launches have no line of their own' <("$gpuprof" report limited.jsonl 2>&1)
}

@test "counters beyond the limit are those of the launches with a line" {
    in_folder
    "$gpuprof" --limit-profile 1M -o limited.jsonl "$alike" 4000x256 >out 2>err
    [ "$(lines limited.jsonl)" -lt 4000 ]
    "$gpuprof" report limited.jsonl >report
    grep -q '4000 kernel launches, 4000 measured' report
    grep -q '100.0%  *4000 .*launch overhead' report
    grep -q '253 M' report
}

@test "a profile on the program's own standard output is not written anew" {
    in_folder
    : >out
    before=$(stat -c %i out)
    GPUPROF_METRICS=duration GPUPROF_OUTPUT=/dev/stdout GPUPROF_LIMIT_PROFILE=1M LD_PRELOAD=$preload \
        "$alike" 15000x256 wait 1<>out 2>err 3>&- &
    pid=$!
    until_ grep -q waiting out
    [ "$(stat -c %i out)" = "$before" ]
    [ "$(stat -c %s out)" -lt 1048576 ]
    ended
}

@test "a limit that is none has one line" {
    in_folder
    for wrong in 0 10K 5% many; do
        run "$gpuprof" --limit-profile $wrong "$alike" 1x256
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: --limit-profile: '$wrong' is no size such as 100M or 2G, of at least 1M" ]
        run env GPUPROF_LIMIT_PROFILE=$wrong LD_PRELOAD="$preload" "$alike" 1x256
        [ "$status" -eq 0 ]
        grep -q "^gpuprof: GPUPROF_LIMIT_PROFILE=$wrong: not a size" <<<"$output"
    done
}

@test "a killed program leaves a profile below its limit, and nothing beside it" {
    in_folder
    export GPUPROF_METRICS=duration
    : >out
    "$gpuprof" --limit-profile 1M -o run.jsonl "$alike" 12000x256 wait >out 2>err 3>&- &
    pid=$!
    until_ grep -q waiting out
    all_known() { "$gpuprof" report --csv --print times run.jsonl 2>/dev/null | grep -q ',12000,'; }
    until_ all_known
    kill -KILL "$(pgrep -P "$pid" alike)"
    wait $pid || true
    [ "$(stat -c %s run.jsonl)" -lt 1048576 ]
    [ "$(ls)" = "$(printf '%s\n' err out run.jsonl tmp)" ]
    grep -q '12000 kernel launches' err
}

@test "threads write one profile below its limit" {
    in_folder
    export GPUPROF_LIMIT_PROFILE=1M GPUPROF_METRICS=duration
    same_with_and_without "$programs/threads_linked" captures 8
    [ "$(stat -c %s "$profile")" -lt 1048576 ]
}

@test "a disk that is full ends the profile, not the program" {
    in_folder
    mkdir small
    unshare -rm mount -t tmpfs -o size=700k none small 2>/dev/null || skip "mounts are not allowed here: it is a chroot, say"
    GPUPROF_METRICS=duration run unshare -rm sh -c 'mount -t tmpfs -o size=700k none small &&
        "$1" --limit-profile 1M -o small/run.jsonl "$2" 15000x256; echo "status $?"; ls small
        "$1" report --csv --print times small/run.jsonl 2>/dev/null | tail -1' - "$gpuprof" "$alike"
    grep -q '^status 2' <<<"$output" # the profile that was asked for is not whole
    grep -q 'small/run.jsonl: No space left on device; nothing more is recorded in this profile' <<<"$output"
    grep -qx 'run.jsonl' <<<"$output"
    grep -q '^"GPU activities",' <<<"$output"
}

@test "a snapshot is the report so far" {
    in_folder
    started "$gpuprof" "$alike" 100x256 wait
    program=$(pgrep -P "$pid" alike)
    for process in "$pid" "$program"; do
        run --separate-stderr "$gpuprof" snapshot "$process"
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        grep -q "^SO FAR, process $program runs for [0-9.]* s: .*alike_linked 100x256 wait$" <<<"$output"
        grep -q '^gpuprof [0-9.]*: 100 kernel launches, ' <<<"$output"
        grep -q '^scale_in_place' <<<"$output"
        [[ $output != *"the process ended"* ]]
    done
    for file in snapshot.jsonl snapshot.jsonl.zst; do
        "$gpuprof" snapshot "$pid" -o $file >/dev/null
        run "$gpuprof" report $file
        [ "$status" -eq 0 ]
        grep -q '^gpuprof [0-9.]*: 100 kernel launches, ' <<<"$output"
        grep -q "^$file: it is a snapshot: the process ran on" <<<"$output"
    done
    kill -0 "$program"
    ended
}

@test "a snapshot leaves the profile to the process that writes it" {
    in_folder
    started "$gpuprof" -o run.jsonl "$alike" 10x256 wait
    run "$gpuprof" snapshot "$pid" -o run.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --output: run.jsonl: process $(pgrep -P "$pid" alike) is writing that file" ]
    run "$gpuprof" snapshot "$pid"
    grep -q 'gpuprof report --details .*/run.jsonl' <<<"$output"
    ended
}

@test "a process without a profile has one line" {
    in_folder
    sleep 60 3>&- &
    other=$!
    run "$gpuprof" snapshot $other
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: process $other is not profiled, nor is one that it has started" ]
    kill $other
    wait $other || true
    for command in snapshot watch; do
        run "$gpuprof" $command 999999999
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: there is no process 999999999" ]
        run "$gpuprof" $command all
        [ "$output" = "gpuprof: 'all' is no number of a process" ]
        run "$gpuprof" $command
        [[ $output == "gpuprof: the number of a process is missing"* ]]
    done
    LD_PRELOAD=$preload "$alike" 3x256 wait >out 2>err 3>&- &
    pid=$!
    until_ grep -q waiting out
    run "$gpuprof" snapshot $pid
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: process $pid is under gpuprof and writes no profile: "* ]]
    ended
}

@test "the process of another user has one line" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    in_folder
    started "$gpuprof" "$alike" 3x256 wait
    # The command may lie where others may not read.
    cp "$gpuprof" /tmp/gpuprof-of-nobody.$$
    run setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/gpuprof-of-nobody.$$ snapshot "$(pgrep -P "$pid" alike)"
    rm /tmp/gpuprof-of-nobody.$$
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: process "*" belongs to another user, or may not be inspected: its profile is open to its user and to root" ]]
    ended
}

@test "a snapshot is of all processes that a program has started" {
    in_folder
    started "$gpuprof" sh -c '"$1" 10x256 wait & "$1" 20x256 wait; wait' - "$alike"
    both() { [ "$(grep -c waiting out)" -eq 2 ]; }
    until_ both
    run "$gpuprof" snapshot "$pid"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^SO FAR' <<<"$output")" -eq 2 ]
    grep -q ': 30 kernel launches, ' <<<"$output"
    pkill -P "$(pgrep -P "$pid" '^sh$')"
    wait $pid || true
}

@test "a forked child is not taken for its parent" {
    in_folder
    started "$gpuprof" "$alike" 10x256 fork wait
    program=$(pgrep -P "$pid" alike)
    child=$(pgrep -P "$program")
    run "$gpuprof" snapshot "$child"
    [ "$status" -eq 2 ]
    run "$gpuprof" snapshot "$program"
    [ "$(grep -c '^SO FAR' <<<"$output")" -eq 1 ]
    grep -q ': 10 kernel launches, ' <<<"$output"
    ended
}

@test "watch shows the first screen until the program ends" {
    in_folder
    started "$gpuprof" "$alike" 100x256 wait
    "$gpuprof" watch --every 100ms "$pid" >screens 2>words 3>&- &
    watching=$!
    shown() { [ "$(grep -c '^SO FAR' screens)" -ge 3 ]; }
    until_ shown
    kill -0 $watching
    ended
    wait $watching
    [ "$(cat words)" = "gpuprof: process $pid has ended" ]
    [ "$(grep -c '^gpuprof [0-9.]*: 100 kernel launches' screens)" -eq "$(grep -c '^SO FAR' screens)" ]
    [ "$(grep -c $'\033' screens || true)" -eq 0 ]
    run "$gpuprof" watch --every never 1
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --every: 'never' is no time such as 2s, 500ms or 1m, from 100ms to 24h" ]
}

@test "watch waits for the first launch, and replaces its screen on a terminal" {
    in_folder
    started env LD_PRELOAD="$preload" GPUPROF_OUTPUT=run.jsonl python3 -c '
import os, sys, time
print("waiting", flush=True)
while not os.path.exists("go"):
    time.sleep(0.02)
os.execv(sys.argv[1], sys.argv[1:])' "$alike" 100x256 wait
    TERM=xterm python3 "$BATS_TEST_DIRNAME/terminal.py" "$gpuprof" watch --every 100ms "$pid" >screens </dev/null 3>&- &
    watching=$!
    until_ grep -q "writes no profile: it has launched no kernel yet" screens
    touch go
    twice() { [ "$(grep -c $'\033\\[2J.*SO FAR' screens)" -ge 2 ]; }
    until_ twice
    ended
    wait $watching
}

@test "a signal to the command writes the report, and the program does not get it" {
    in_folder
    started "$gpuprof" --snapshot-signal USR1 "$alike" 100x256 wait
    program=$(pgrep -P "$pid" alike)
    reports() { [ "$(grep -c '^gpuprof [0-9.]*: 100 kernel launches' err)" -eq "$1" ]; }
    for count in 1 2; do
        kill -USR1 $pid
        until_ reports $count
    done
    kill -0 "$program"
    ended
    reports 3
    run "$gpuprof" --snapshot-signal TERM "$alike" 1x256
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --snapshot-signal: 'TERM' is neither USR1 nor USR2" ]
    # Without the option the signal is the program's.
    started "$gpuprof" "$alike" 3x256 wait
    kill -USR1 $pid
    wait "$pid" || true
    grep -q 'the program was ended by SIGUSR1' err
}

# openmetrics FILE: the names of its families; fails where it breaks a rule of the format.
openmetrics() {
    python3 - "$1" <<'END'
import re, sys
text = open(sys.argv[1]).read()
assert text.endswith("# EOF\n") and text.count("# EOF") == 1, "it does not end in # EOF"
families, unit, kind, samples = [], None, None, 0
for line in text.splitlines()[:-1]:
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split(" ")
        assert name not in families and re.fullmatch("[a-z_]+", name), line
        assert kind in ("counter", "gauge"), line
        assert not families or samples == 1, f"{families[-1]} has {samples} samples"
        families.append(name)
        samples = 0
    elif line.startswith("# UNIT "):
        _, _, name, unit = line.split(" ")
        assert name == families[-1] and name.endswith("_" + unit), line
    elif line.startswith("# HELP "):
        assert line.split(" ")[2] == families[-1] and line.endswith("."), line
    else:
        found = re.fullmatch(r'([a-z_]+)\{program="[^"]*",pid="[0-9]+"\} ([0-9.e+-]+)', line)
        assert found, line
        assert found[1] == families[-1] + ("_total" if kind == "counter" else ""), line
        assert float(found[2]) >= 0
        samples += 1
print("\n".join(families))
END
}

value() { sed -n "s/^gpuprof_$2{.*} //p" "$1"; }

@test "totals are OpenMetrics, and values that were not measured are absent" {
    in_folder
    "$gpuprof" --metrics-file totals.prom "$alike" 100x256 >out 2>err
    openmetrics totals.prom >families
    [ "$(value totals.prom launches_total)" = 100 ]
    [ "$(value totals.prom measured_launches_total)" = 100 ]
    [ "$(value totals.prom measured_ratio)" = 1 ]
    [ "$(value totals.prom floating_point_operations_total)" = 51200 ]
    [ "$(value totals.prom dram_bytes_total)" = 102400 ] || value totals.prom dram_bytes_total >&3
    for name in run_seconds added_seconds gpu_busy_seconds gpu_busy_ratio flop_per_second flop_peak_ratio \
        dram_bytes_per_second dram_bandwidth_ratio; do
        grep -qx "gpuprof_$name" families
    done
    [ "$(grep -c scale_in_place totals.prom || true)" -eq 0 ]
    "$gpuprof" --metrics duration --metrics-file totals.prom "$alike" 100x256 >out 2>err
    openmetrics totals.prom >families
    [ "$(value totals.prom launches_total)" = 100 ]
    [ "$(grep -cE 'flop|floating|dram' families || true)" -eq 0 ]
    [ "$(ls)" = "$(printf '%s\n' err families out tmp totals.prom)" ]
}

@test "totals are of each process, where the library alone writes them" {
    in_folder
    GPUPROF_METRICS_FILE=%p.prom LD_PRELOAD=$preload sh -c '"$1" 3x256; "$1" 5x256; true' - "$alike" >out 2>err
    cat ./*.prom >all
    [ "$(value all launches_total | sort | tr '\n' ' ')" = "3 5 " ]
    [ "$(ls ./*.prom | wc -l)" -eq 2 ]
    # Where they cannot be written one line says so, and the program goes on.
    GPUPROF_METRICS_FILE=none/totals.prom LD_PRELOAD=$preload "$alike" 3x256 >out 2>err
    [ "$(grep -c '^gpuprof: .*none/totals.prom: No such file or directory; metrics are not written there$' err)" -eq 1 ]
}

# peak COUNT: the most memory in KiB that a program of so many launches takes.
peak() {
    GPUPROF_METRICS=duration GPUPROF_LIMIT_PROFILE=1M GPUPROF_OUTPUT=run.jsonl GPUPROF_LOG=log python3 -c '
import os, resource, subprocess, sys
subprocess.run(sys.argv[2:], env=dict(os.environ, LD_PRELOAD=sys.argv[1]), check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$preload" "$alike" "$1"x256
}

# stay_bounded FEW MANY: with many launches memory is as with few, and the profile has all of them below its limit.
stay_bounded() {
    local few many
    in_folder
    few=$(peak "$1")
    many=$(peak "$2")
    [ $((many - few)) -lt 4096 ]
    [ "$(stat -c %s run.jsonl)" -lt 1048576 ]
    [ "$(times run.jsonl | grep -c ",$2,")" -eq 1 ]
}

@test "memory and profile do not grow with the launches" {
    stay_bounded 10000 60000
}

# bats test_tags=long
@test "memory and profile do not grow with a million launches" {
    stay_bounded 100000 1000000
}
