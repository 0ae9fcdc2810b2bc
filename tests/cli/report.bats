# `gpuprof report` on profiles written by hand.

setup() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    cd "$BATS_TEST_TMPDIR"
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    unset GPUPROF_METRICS_PATH
    cat >header <<'END'
{"type":"header","format":1,"gpuprof":"0.1.0","pid":77,"host":"node1","command":["./app","-n","5"],"time":"2026-01-02T03:04:05Z"}
{"type":"device","ordinal":0,"name":"NVIDIA H200","chip":"GH100","cc_major":9,"cc_minor":0,"sm_count":132,"clock_khz":1980000,"memory_clock_khz":3201000,"memory_bus_bits":6016,"sp_dp_ratio":2,"warp_size":32,"max_threads_per_sm":2048,"max_blocks_per_sm":32,"max_threads_per_block":1024,"registers_per_sm":65536,"registers_per_block":65536,"shared_per_sm":233472,"shared_per_block":49152,"shared_per_block_optin":232448,"reserved_shared_per_block":1024,"driver_version":13000}
END
    cat >launch <<'END'
{"type":"launch","index":0,"kernel":"_Z9vectorAddPKfS0_Pfi","device":0,"grid":[524288,1,1],"block":[32,1,1],"registers":16,"shared_carveout":-1,"passes":2,"counters":{"gpu__time_duration.sum":65000.0,"dram__bytes_read.sum":134217728.0,"dram__bytes_write.sum":67108864.0},"absent":{"sm__warps_active.avg.pct_of_peak_sustained_active":"the counters are in use by another process"}}
END
    cat header launch launch >good.jsonl
}

# $output as one line, blanks squeezed.
flat() {
    tr -s ' \n' ' ' <<<"$output"
}

@test "the report names program, device and kernel" {
    run "$gpuprof" report good.jsonl
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "good.jsonl: ./app -n 5 (process 77 on node1, 2026-01-02T03:04:05Z, gpuprof 0.1.0)" ]]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
    [[ $output == *"GPU 0: NVIDIA H200, GH100, compute capability 9.0, 132 SMs, driver for CUDA 13.0"* ]]
    [[ $output == *"vectorAdd(float const*, float const*, float*, int)"* ]]
    [[ $output == *"theoretical occupancy 0.50: 32 blocks, 32 of 64 warps per SM, limited by blocks"* ]]
    [[ $output != *"Simulated"* ]]
}

@test "it shows the metrics whose counters were recorded, absent ones with their reason" {
    run "$gpuprof" report good.jsonl
    [[ $output == *"dram_read_bytes"*"134.2 MB"* ]]
    [[ $(flat) == *"achieved_occupancy absent: counter sm__warps_active.avg.pct_of_peak_sustained_active: the counters are in use by another process"* ]]
    [[ $output != *"gld_efficiency "* ]]
}

@test "--metrics chooses what is shown" {
    run "$gpuprof" report --metrics duration,gld_efficiency good.jsonl
    [ "$status" -eq 0 ]
    [[ $(flat) == *"gld_efficiency absent: counter smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct: not measured"* ]]
    [[ $output != *"dram_read_bytes"* ]]
    [[ $output == *"-: not asked for, or DETAILS say why"* ]]
    run "$gpuprof" report --metrics default good.jsonl
    [[ $output == *"; -: no value, DETAILS say why"* ]]
    run "$gpuprof" report --metrics duraton good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --metrics: there is no metric 'duraton'; did you mean duration?" ]
}

@test "a metric defined after the run is computed from the old profile" {
    mkdir -p mine
    printf '[read_per_write]\nformula = dram_read_bytes / dram_write_bytes\n' >mine/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report good.jsonl
    [[ $output == *"read_per_write"*"2"* ]]
}

@test "what was not measured is counted" {
    sed 's/"launch","index":0/"count","launches":20000/; s/"registers".*/"shared_dynamic":0}/' launch >count
    sed 's/"time":/"sample":"first:2","time":/' header >sampled
    cat sampled launch launch count >counted.jsonl
    run "$gpuprof" report counted.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *": 20000 kernel launches, 2 measured"* ]]
    [[ $output == *"some launches were measured: first:2."* ]]
    [[ $output == *"~100.0%  2 of 20000  65.00 us"* ]]
    [[ $output == *"; 20000 launches, 2 measured; GPU 0"* ]]
    # Another grid, none of which was recorded: what is known of the kernel is known all the same.
    sed 's/524288/100/; s/20000/30000/' count >grid100
    cat sampled launch count grid100 >counted.jsonl
    run "$gpuprof" report counted.jsonl
    [[ $output == *"2 grids from 100 to 524288"* ]]
    [[ $output == *"16 registers per thread"* ]]
    [[ $output == *"theoretical occupancy 0.50"* ]]
    { cat header; sed 's/,"launches":20000//' count; } >bad.jsonl
    run "$gpuprof" report bad.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *'bad.jsonl:3: there is no "launches"'* ]]
}

@test "no line is wider than 120 columns" {
    sed 's/"passes":2/"passes":2,"recalled":1/; s/"dram__bytes_read.sum"/"smsp__sass_a.sum"/' launch >recalled
    sed 's/524288,1,1/2147483647,65535,65535/; s/"block":\[32,1,1\]/&,"cluster":[2,2,2]/' recalled >large
    sed 's/524288,1,1/1,2,3/; s/"block":\[32,1,1\]/&,"cluster":[2,2,2]/' recalled >small
    sed 's/"launch","index":0/"count","launches":20000/; s/"registers".*/"shared_dynamic":0}/' large >count
    cat header large small count >wide.jsonl
    run "$gpuprof" report wide.jsonl
    [[ $(flat) == *"2 grids from 1x2x3 to 2147483647x65535x65535, block 32, cluster 2x2x2; 20001 launches, 2 measured (instrumented counters of 2 are those of launches alike); GPU 0"* ]]
    awk 'length > 120 { print; exit 1 }' <<<"$output"
}

@test "launches that were not replayed are combined" {
    sed 's/"time":/"replay":"off","time":/' header >turns.jsonl
    elsewhere='counted in other launches (GPUPROF_REPLAY=off)'
    sed 's/"counters":.*/"counters":{"gpu__time_duration.sum":50000.0},"absent":{"smsp__sass_data_bytes_mem_global_op_ld.sum":"'"$elsewhere"'"}}/' launch >>turns.jsonl
    sed 's/"counters":.*/"counters":{"smsp__sass_data_bytes_mem_global_op_ld.sum":100000.0},"absent":{"gpu__time_duration.sum":"'"$elsewhere"'"}}/' launch >>turns.jsonl
    run "$gpuprof" report turns.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"No launch was replayed (GPUPROF_REPLAY=off)"* ]]
    [[ $output == *"2 launches, 2 measured (1 with hardware counters, 1 instrumented); GPU 0"* ]]
    [[ $(flat) == *"duration 50.00 us 50.00 us 50.00 us theoretical"* ]]
    [[ $(flat) == *"gld_requested_throughput - - 2.000 GB/s * "* ]]
    [[ $output == *"* from the means of counters of 1 launch with hardware counters and 1 instrumented"* ]]
    # A launch that cannot be replayed takes turns where others are replayed.
    sed -i '1s/"replay":"off"/"replay":"on"/; s/ (GPUPROF_REPLAY=off)//' turns.jsonl
    run "$gpuprof" report turns.jsonl
    [[ $(flat) == *"gld_requested_throughput - - 2.000 GB/s * "* ]]
    sed -i 's/counted in other launches/it broke off/' turns.jsonl
    run "$gpuprof" report turns.jsonl
    [[ $(flat) == *"gld_requested_throughput absent: "*"it broke off"* ]]
}

@test "standard input and several files" {
    run "$gpuprof" report - <good.jsonl
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "-: ./app"* ]]
    run "$gpuprof" report good.jsonl good.jsonl
    [ "$(grep -c '^good.jsonl: ' <<<"$output")" -eq 2 ]
}

@test "a profile that comes through a pipe with a name is read once" {
    run "$gpuprof" report <(cat good.jsonl)
    [ "$status" -eq 0 ]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
    mkfifo pipe
    cat good.jsonl >pipe &
    run timeout 20 "$gpuprof" report pipe
    [ "$status" -eq 0 ]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
}

@test "of profiles one behind the other, early launches of the first are not those of the second" {
    sed 's/"type":"launch"/"type":"early"/' launch >early
    cat header early header launch >two.jsonl
    run "$gpuprof" report two.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *": 2 kernel launches, 2 measured"* ]]
}

@test "--top limits the kernels shown" {
    sed 's/vectorAdd/vectorSub/' launch >other
    cat header launch launch other >two.jsonl
    run "$gpuprof" report --top 1 two.jsonl
    [[ $output == *"and 1 more kernel with 33.3% of the time"* ]]
    [[ $output != *"vectorSub("* ]]
    run "$gpuprof" report --top 0 two.jsonl
    [[ $output == *"vectorSub("* ]]
    for top in few "" -1 " -1" 1x 99999999999999999999; do
        run "$gpuprof" report --top "$top" two.jsonl
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: --top: '$top' is no number of kernels" ]
    done
}

@test "of very many kernels none is worth advice" {
    cp header many.jsonl
    for i in {1..150}; do sed "s/9vectorAdd/4k$((100 + i))/" launch; done >>many.jsonl
    run "$gpuprof" report many.jsonl
    [[ $output == *"ADVICE"*"no kernel takes so much of the time that it matters"* ]]
    run "$gpuprof" report good.jsonl
    [[ $output == *"ADVICE"*"at most 32 of 64 warps fit on an SM"* ]]
}

@test "a profile that a crash cut short is reported, with a note" {
    head -c -100 good.jsonl >cut.jsonl
    run "$gpuprof" report cut.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"1 kernel launch, 1 measured"* ]]
    [[ $output == *"cut.jsonl:4: the last line is incomplete and left out"* ]]
}

@test "an unreadable profile answers 1 with file and line, the others are still reported" {
    echo nonsense >bad.jsonl
    run "$gpuprof" report bad.jsonl
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: bad.jsonl:1: not a gpuprof profile" ] || [[ $output == "gpuprof: bad.jsonl:1: no JSON"* ]]
    run "$gpuprof" report nothing.jsonl
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: nothing.jsonl: No such file or directory" ]
    { cat header; echo '{"type":"launch","index":0}'; } >half.jsonl
    run "$gpuprof" report half.jsonl good.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *'half.jsonl:3: there is no "kernel"'* ]]
    [[ $output == *"good.jsonl: ./app"* ]]
    run "$gpuprof" report
    [ "$status" -eq 2 ]
}

@test "running out of memory anywhere ends in a message, never in a crash" {
    command -v cc >/dev/null || skip "no compiler"
    nm -D "$gpuprof" 2>/dev/null | grep -q __asan_init && skip "the sanitizer has its own malloc"
    cat >failing.c <<'END'
#include <errno.h>
#include <stdlib.h>
#include <string.h>
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
static long left = -2;
static int fails(void)
{
    if (left == -2) {
        const char *n = getenv("FAIL_AT");
        left = n ? atol(n) : -1;
    }
    if (left == -1)
        return 0;
    if (left == 0) {
        left = getenv("FAIL_ONCE") ? -1 : 0;
        errno = ENOMEM;
        return 1;
    }
    left--;
    return 0;
}
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t k, size_t n) { return fails() ? NULL : __libc_calloc(k, n); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
END
    cc -shared -fPIC -O1 -o failing.so failing.c
    for arguments in "report good.jsonl" "metrics flops"; do
        n=0
        while :; do
            for once in "" FAIL_ONCE=1; do
                status=0
                env LD_PRELOAD="$PWD/failing.so" FAIL_AT=$n $once "$gpuprof" $arguments >out 2>&1 || status=$?
                [ "$status" -le 2 ] || { echo "$arguments: allocation $n: status $status"; cat out; false; }
            done
            # The last rounds need no more allocations than they get.
            [ "$n" -gt 2400 ] && break
            n=$((n + (n < 40 ? 1 : 37)))
        done
    done
}
