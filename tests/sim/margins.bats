# Thresholds that are proposed from runs on the simulated GPU, with times that vary (GPUSIM_TIMES, tests/noise.h).

load common

gpuprof=$GPUPROF_BUILD/gpuprof

# run_of SEED[:PERCENT] FILE: a run in $BATS_TEST_TMPDIR/FILE.
run_of() {
    GPUSIM_TIMES=$1 GPUPROF_METRICS=duration,achieved_occupancy,gld_transactions \
        GPUPROF_OUTPUT=$BATS_TEST_TMPDIR/$2 GPUPROF_LOG=$log LD_PRELOAD=$preload \
        "$programs/snippets_linked" --size 60000 --launches 8 in_place >"$BATS_TEST_TMPDIR/out"
}

@test "unchanged runs keep to proposed thresholds, slower ones do not" {
    cd "$BATS_TEST_TMPDIR"
    for i in 1 2 3 4 5; do run_of $i $i.jsonl; done
    "$gpuprof" thresholds --from 1.jsonl --from 2.jsonl --from 3.jsonl --from 4.jsonl --from 5.jsonl >rules.ini
    cat rules.ini
    grep -q "the clock's tick of 32 ns" rules.ini
    grep -q '^median duration <= .* in 5 runs, margin 1[0-9] %' rules.ini
    for i in 11 12 13 14 15; do run_of $i $i.jsonl; done
    "$gpuprof" check -t rules.ini 1?.jsonl
    for i in 21 22 23; do
        run_of $i:125 slow.jsonl
        run "$gpuprof" check -t rules.ini slow.jsonl
        [ "$status" -eq 1 ]
        [[ $output == *"median duration is "* ]]
    done
}
