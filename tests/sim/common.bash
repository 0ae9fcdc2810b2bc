# The shared part of the tests on the simulated GPU.

load ../inherited

sim=${GPUPROF_SIM:-$GPUPROF_BUILD/sim}
# The sanitizers' runtimes, when the library is built with them, have to come first.
preload=${GPUPROF_RUNTIMES:+$GPUPROF_RUNTIMES:}$GPUPROF_BUILD/libgpuprof.so
programs=$sim/programs
# On a busy machine a simulated kernel takes more than the second that is waited for one. frames.bats, of
# programs that are waited for, says otherwise.
export GPUPROF_TIMEOUT=60
# Which launches are measured must not depend on how busy the machine is. limit.bats says otherwise.
export GPUPROF_OVERHEAD=none
# Nor whether kernels are sampled, and how often sessions begin. diagnosis.bats says otherwise.
export GPUPROF_DIAGNOSIS=off

setup() {
    profile=$BATS_TEST_TMPDIR/profile.jsonl
    log=$BATS_TEST_TMPDIR/log
    export LD_LIBRARY_PATH=$sim GPUPROF_CUPTI=$sim/libcupti.so.13
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR # no definitions of the user's own
}

# Programs that a test has started, and not ended as it failed.
teardown() {
    local left
    left=$(jobs -p)
    # shellcheck disable=SC2086
    [ -z "$left" ] || kill $left
}

# sanitized: the sanitizers are in; tests that take long may be smaller.
sanitized() { [ -n "${GPUPROF_RUNTIMES:-}" ]; }

# profiled COMMAND...: under gpuprof, our own lines in $log, the profile in $profile, its output in
# ours.out and ours.err.
profiled() {
    local status=0
    GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
        timeout 300 "$@" >"$BATS_TEST_TMPDIR/ours.out" 2>"$BATS_TEST_TMPDIR/ours.err" || status=$?
    [ ! -f "$profile" ] || settle_early
    return $status
}

# The profile with one object for each launch, as tests read it.
settle_early() {
    "$GPUPROF_BUILD/gpuprof" report --print launches "$profile" >"$profile.settled" || return
    mv "$profile.settled" "$profile"
}

# same_with_and_without COMMAND...: standard output, standard error and exit status do not change. $plain_ms is how long
# the program took without us, which shows how busy the machine is.
same_with_and_without() {
    local plain=0 ours=0 began=${EPOCHREALTIME/[.,]/}
    # The outer braces keep the shell's word about a program that was killed out of its output.
    { timeout 300 "$@" >"$BATS_TEST_TMPDIR/plain.out" 2>"$BATS_TEST_TMPDIR/plain.err"; } 2>/dev/null ||
        plain=$?
    plain_ms=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
    { profiled "$@"; } 2>/dev/null || ours=$?
    diff "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out"
    diff "$BATS_TEST_TMPDIR/plain.err" "$BATS_TEST_TMPDIR/ours.err"
    [ "$plain" = "$ours" ]
}

# The launches of the profile in the order in which the program made them.
launches() {
    local -x LC_ALL=C # sed is slower with letters of UTF-8
    grep '"type":"launch"' "$profile" | sed 's/.*"index":\([0-9]*\),/\1 &/' | sort -n | cut -d' ' -f2-
}

# counted: the counters of each launch, in the order of launches, but for those that differ from run to run.
counted() {
    local -x LC_ALL=C # sed is slower with letters of UTF-8
    grep '"type":"launch"' "$profile" | sed 's/.*"index":\([0-9]*\),.*"counters":{\([^}]*\)}.*/\1 \2/' |
        sort -n | sed 's/"gpu__time_duration[^,]*,//; s/"[a-z_]*__cycles[^,]*,//g; s/"[^"]*pct_of_peak_sustained_elapsed[^,]*,//g'
}

# metric KERNEL NAME: the average of a metric, with its unit, as the report prints it.
metric() {
    "$GPUPROF_BUILD/gpuprof" report --details --metrics "$2" "$profile" | awk -v kernel="$1" -v name="$2" '
        /^DETAILS/ { details = 1 }
        details && /^[^ ]/ { here = index($0, kernel) == 1 }
        here && $1 == name { line = substr($0, 74); gsub(/^ +| +$/, "", line); print line; exit }
        here && $1 == "absent" { absent = 1 }
        here && absent && $0 ~ "[ ]" name "(,|$)" { print "absent"; exit }'
}

# is KERNEL NAME VALUE
is() {
    local value
    value=$(metric "$1" "$2")
    [ -n "$value" ] && [ "$value" = "$3" ] || {
        echo "$1 $2 is '$value', not '$3'"
        return 1
    }
}

# launches [KERNEL]: how many launches of it the profile has, with counters.
measured() {
    settle_early
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"${1:-}" | grep -c '"counters":{"' || true
}

# forgotten: kernels with launches that were counted, and have neither a record nor a reason; behind them
# "of N", the launches that were counted.
forgotten() {
    "$GPUPROF_BUILD/gpuprof" report --print launches "$profile" | awk '
        function text(name) { match($0, "\"" name "\":\"[^\"]*"); return substr($0, RSTART, RLENGTH) }
        function number(name) { match($0, "\"" name "\":[0-9]+"); return substr($0, RSTART + length(name) + 3, RLENGTH) + 0 }
        /"type":"count"/ { left[text("kernel")] += number("launches"); all += number("launches") }
        /"type":"passed_over"/ { left[text("kernel")] -= number("launches") }
        /"type":"launch"/ { left[text("kernel")]-- }
        END { for (k in left) if (left[k]) print k, left[k]; print "of", all }'
}

# in_folder: the test works in its folder, and so does all that makes temporary files.
in_folder() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    alike=$programs/alike_linked
    cd "$BATS_TEST_TMPDIR"
    mkdir -p tmp
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

# until COMMAND...: waits for it, not for ever.
until_() {
    local limit=$((SECONDS + 60))
    until "$@"; do
        [ $SECONDS -lt $limit ] || return 1
        sleep 0.05
    done
}
