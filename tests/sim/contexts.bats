#!/usr/bin/env bats
# Several contexts on one GPU, whose session counts in one of them at a time (src/launch/moves.c). No test
# takes a time: they count how often the session was opened, and hold the time that this took against that of
# the run, which holds on any machine.

load common

setup_file() { export GPUPROF_TIMEOUT=60; }

# The milliseconds that the session takes to open with `slowopen`.
switch_ms=100

# alternating WORD...: the program, with gpuprof and without.
alternating() {
    rm -f "$GPUSIM_PROFILER"
    same_with_and_without "$programs/alternating_linked" "$@"
    [ "$(grep -c '"type":"launch"' "$profile")" -eq "$(sed 's/.*, \([0-9]*\) launches$/\1/' "$BATS_TEST_TMPDIR/ours.out")" ]
}

setup_session() { export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler; }

# opened: how often the session was.
opened() { grep -c enable "$GPUSIM_PROFILER" || true; }

# covered: for each kernel in each context so many launches with all counters of the default metrics, least first.
covered() {
    grep '"type":"launch"' "$profile" | awk '
        { match($0, /"context":[0-9]*/); k = substr($0, RSTART, RLENGTH)
          match($0, /"kernel":"[^"]*/); k = k substr($0, RSTART, RLENGTH)
          all = /"dram__bytes_read.sum":[0-9]/ && /"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum":[0-9]/ &&
              /"gpu__time_duration.sum":[0-9]/
          n[k] += all }
        END { for (k in n) print n[k] }' | sort -n
}

# away: how many launches were only timed, as the counters were elsewhere.
away() {
    grep -c '"skipped":"only timed, as the GPU.s counters were at work in another context' "$profile" || true
}

# all_are_timed: each launch has its time, and the report has the number of those that were only timed.
all_are_timed() {
    [ "$(grep '"type":"launch"' "$profile" | grep -vc '"gpu__time_duration.sum":[0-9]')" = 0 ]
    [ "$(away)" -eq "$(said)" ]
}

# said: the number of launches of which the report says that.
said() {
    # Beside other reasons of the cause its sentence stands for all of them.
    awk '/^ +[0-9]+ launch(es)? of .*: (only timed, as )?the GPU.s counters/ { print $1; found = 1 }
        END { if (!found) print 0 }' "$log"
}

# switched_seldom FREE: behind so many openings, all together have taken a tenth of the run time at most.
switched_seldom() {
    local ms
    ms=$(sed -n 's/^{"type":"end".*"seconds":\([0-9.]*\).*/\1/p' "$profile" | awk '{ print int(1000 * $1) }')
    [ "$(opened)" -le "$1" ] || [ $((10 * ($(opened) - 1) * switch_ms)) -le "$ms" ]
}

@test "contexts of one thread, one launch after the other: the session is opened once in each" {
    setup_session
    alternating 6 20
    [ "$(opened)" -eq 6 ]
    [ "$(covered | sort -u)" = 10 ]
    [ "$(said)" -eq 0 ]
    # The contexts go before the process.
    alternating 6 20 destroyed
    [ "$(opened)" -eq 6 ]
    [ "$(covered | sort -u)" = 10 ]
}

@test "a context whose launches come behind those of another one has the session at once" {
    setup_session
    GPUSIM_FAULTS=slowopen alternating 3 100 rows
    [ "$(opened)" -eq 3 ]
    [ "$(covered | sort -u)" = 50 ]
    # The first has launches that were not read.
    GPUSIM_FAULTS=slowopen alternating 2 100 rows few
    [ "$(opened)" -eq 2 ]
    [ "$(covered | tr '\n' ' ')" = "1 1 50 50 " ]
}

@test "threads with a context each" {
    setup_session
    alternating 4 20 threads destroyed
    [ "$(opened)" -eq 4 ]
    [ "$(covered | sort -u)" = 10 ]
}

@test "the session moves on in a tenth of the time, and launches that it has not counted are timed" {
    setup_session
    # With few ranges a batch has room for 34 launches.
    export GPUSIM_FAULTS=slowopen,bigimage
    alternating 3 150
    switched_seldom 3
    [ "$(covered | head -n 1)" -ge 10 ]
    [ "$(away)" -gt 0 ]
    all_are_timed
    alternating 3 150 threads
    switched_seldom 3
    [ "$(covered | head -n 1)" -ge 1 ]
    all_are_timed
}

@test "contexts that come and go beside others leave these their counters" {
    setup_session
    export GPUSIM_FAULTS=slowopen
    # One opening for each of the four, one for the second kernel of those that go, and one for a first stay that
    # was cut short.
    alternating 4 16 replaced
    switched_seldom 6
    [ "$(covered | tail -n 6 | sort -u)" = 8 ]
    all_are_timed
}

@test "a context goes for good, and the others launch on" {
    setup_session
    # CUPTI was set up for instrumented code in the first one.
    alternating 3 140 goes
    ! grep -q "CUPTI_ERROR" "$profile" || false
    GPUSIM_FAULTS=slowopen alternating 2 60 goes destroyed
    [ "$(opened)" -eq 2 ]
    [ "$(covered | tr '\n' ' ')" = "15 15 30 30 " ]
    all_are_timed
}

@test "memory is freed, and modules are unloaded, while the session is away" {
    setup_session
    alternating 4 24 freed
    [ "$(opened)" -eq 4 ]
    [ "$(covered | sort -u)" = 12 ]
    # Each module that was counted takes its session with it; the last stays.
    GPUSIM_FAULTS=slowopen alternating 3 12 unloaded
    [ "$(covered | head -n 1)" -ge 1 ]
    all_are_timed
    ! grep -q "the launch's context was gone" "$profile" || false
}

@test "launches that cannot wait for the session" {
    setup_session
    # Page-locked memory: each is counted in its own run, or timed.
    GPUSIM_FAULTS=slowopen alternating 3 30 host
    switched_seldom 3
    [ "$(away)" -gt 0 ]
    all_are_timed
    for replay in now off; do
        GPUSIM_FAULTS=slowopen GPUPROF_REPLAY=$replay alternating 3 30
        switched_seldom 3
        [ "$(away)" -gt 0 ]
        # A launch that makes the pass of instrumented code in its own run has no time; there is one where the
        # machine is slow enough.
        [ $replay = off ] && [ "$(away)" -eq "$(said)" ] || all_are_timed
    done
}

@test "launches that wait in several contexts are measured where the window closes" {
    setup_session
    rm -f "$GPUSIM_PROFILER" "$profile"
    { GPUPROF_WINDOW=launches:0:12 GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
        "$programs/alternating_linked" 3 5 killed || true; } 2>/dev/null
    [ "$(grep -c '^."launch",' "$profile")" -eq 12 ]
    [ "$(opened)" -eq 3 ]
    settle_early
    [ "$(covered | sort -u)" = 2 ]
    [ "$(away)" -eq 0 ]
}

@test "two GPUs have a session each" {
    setup_session
    GPUSIM_DEVICES=2 alternating 4 20 devices
    [ "$(opened)" -eq 4 ]
    [ "$(covered | sort -u)" = 10 ]
    GPUSIM_DEVICES=2 alternating 2 100 devices
    [ "$(opened)" -eq 2 ]
    [ "$(covered | sort -u)" = 50 ]
}

@test "the session cannot be had in the second context" {
    setup_session
    GPUSIM_FAILS=cuptiRangeProfilerEnable@2+=busy alternating 2 20
    [ "$(covered | sort -n | tr '\n' ' ')" = "0 0 10 10 " ]
    [ "$(grep -c '"skipped":"the GPU.s counters are in use by another process' "$profile")" -eq 20 ]
    [ "$(away)" -eq 0 ]
    # In none.
    GPUSIM_FAULTS=noprivileges alternating 3 20
    [ "$(grep -c '"skipped":"no permission to read' "$profile")" -ge 40 ]
    [ "$(away)" -le 10 ]
}
