# `gpuprof report` on profiles written by hand.

load common

setup() {
    setup_command
    header -n 5 >header
    vector_add >launch
    cat header launch launch >good.jsonl
}

# $output as one line, blanks squeezed.
flat() {
    tr -s ' \n' ' ' <<<"$output"
}

@test "the report names program, device and kernel" {
    run "$gpuprof" report --details good.jsonl
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "good.jsonl: ./app -n 5 (process 77 on node1, 2026-01-02T03:04:05Z, gpuprof 0.1.0)" ]]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
    [[ $output == *"GPU 0: NVIDIA H200, GH100, compute capability 9.0, 132 SMs, driver for CUDA 13.0"* ]]
    [[ $output == *"vectorAdd(float const*, float const*, float*, int)"* ]]
    [[ $output == *"theoretical occupancy 0.50: 32 blocks, 32 of 64 warps per SM, limited by blocks"* ]]
    [[ $output != *"Simulated"* ]]
}

@test "rows that differ in dynamic shared memory or clusters alone say which" {
    sed 's/"block":\[32,1,1\]/&,"shared_dynamic":4096/' launch >shared
    sed 's/"block":\[32,1,1\]/&,"cluster":[2,1,1]/' launch >cluster
    cat header launch shared >two.jsonl
    run "$gpuprof" report two.jsonl
    [[ $output == *$'\n'"vectorAdd [32, 0 B shared]"*$'\n'"vectorAdd [32, 4096 B shared]"* ]]
    cat header launch cluster >two.jsonl
    run "$gpuprof" report two.jsonl
    [[ $output == *$'\n'"vectorAdd [32, no cluster]"*$'\n'"vectorAdd [32, cluster 2]"* ]]
    run "$gpuprof" report good.jsonl
    [[ $output == *$'\n'"vectorAdd [32]"* ]]
}

@test "it shows the metrics whose counters were recorded, absent ones with their reason" {
    run "$gpuprof" report --details good.jsonl
    [[ $output == *"dram_read_bytes"*"134.2 MB"* ]]
    [[ $(flat) == *"absent [1]: achieved_occupancy"*"Absent because [1] the counters are in use by another process"* ]]
    [[ $output != *"gld_efficiency "* ]]
}

@test "--metrics chooses the metrics that are shown" {
    run "$gpuprof" report --details --metrics duration,gld_efficiency good.jsonl
    [ "$status" -eq 0 ]
    [[ $(flat) == *"absent [1]: gld_efficiency Absent because [1] not measured"* ]]
    [[ $output != *"dram_read_bytes"* ]]
    # Helpers of other metrics are shown where they are asked for.
    run "$gpuprof" report --details good.jsonl
    [[ $output != *"dram_read_throughput"* ]]
    run "$gpuprof" report --metrics dram_read_throughput good.jsonl
    [[ $output == *"dram_read_throughput"* ]]
    run "$gpuprof" report --details --metrics duraton good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --metrics: there is no metric 'duraton'; did you mean duration?" ]
}

@test "a metric defined after the run is computed from the old profile" {
    mkdir -p mine
    printf '[read_per_write]\nformula = dram_read_bytes / dram_write_bytes\n' >mine/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report --details good.jsonl
    [[ $output == *"read_per_write"*"2"* ]]
}

@test "launches that were not measured are counted" {
    sed 's/"launch","index":0/"count","launches":20000/; s/"registers".*/"shared_dynamic":0}/' launch >count
    sed 's/"time":/"sample":"first:2","time":/' header >sampled
    cat sampled launch launch count >counted.jsonl
    run "$gpuprof" report --details counted.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *": 20000 kernel launches, 2 measured"* ]]
    [[ $output == *"some launches were measured: first:2."* ]]
    [[ $output == *"~100.0%  2 of 20000  65.00 us"* ]]
    [[ $output == *"; 20000 launches, 2 measured; GPU 0"* ]]
    # Another grid, none of which was recorded: the facts of the kernel are known all the same.
    sed 's/524288/100/; s/20000/30000/' count >grid100
    cat sampled launch count grid100 >counted.jsonl
    run "$gpuprof" report --details counted.jsonl
    [[ $output == *"2 grids from 100 to 524288"* ]]
    [[ $output == *"16 registers per thread"* ]]
    [[ $output == *"theoretical occupancy 0.50"* ]]
    { cat header; sed 's/,"launches":20000//' count; } >bad.jsonl
    run "$gpuprof" report --details bad.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *'bad.jsonl:3: there is no "launches"'* ]]
}

@test "no line is wider than 120 columns" {
    sed 's/"passes":2/"passes":2,"recalled":1/; s/"dram__bytes_read.sum"/"smsp__sass_a.sum"/' launch >recalled
    sed 's/524288,1,1/2147483647,65535,65535/; s/"block":\[32,1,1\]/&,"cluster":[2,2,2]/' recalled >large
    sed 's/524288,1,1/1,2,3/; s/"block":\[32,1,1\]/&,"cluster":[2,2,2]/' recalled >small
    sed 's/"launch","index":0/"count","launches":20000/; s/"registers".*/"shared_dynamic":0}/' large >count
    cat header large small count >wide.jsonl
    run "$gpuprof" report --details wide.jsonl
    [[ $(flat) == *"2 grids from 1x2x3 to 2147483647x65535x65535, block 32, cluster 2x2x2; 20001 launches, 2 measured (instrumented counters of 2 are those of launches alike); GPU 0"* ]]
    awk 'length > 120 { print; exit 1 }' <<<"$output"
}

@test "JSON has the cause of each reason, also of a profile that has the texts alone" {
    sed 's/"passes":2/"passes":2,"skipped":"its memory (60 GB) is more than GPUPROF_MEMORY allows (13 GB)"/;
         s/"counters":.*/"counters":{},"absent":{"gpu__time_duration.sum":"out of memory"}}/' launch >old
    sed 's/"index":0/"index":1/; s/"passes":2/"passes":2,"skipped":"some words","cause":"in-capture"/' launch >new
    sed 's/"index":0/"index":2/; s/"passes":2/"passes":2,"skipped":"other words","cause":"in-a-later-version"/' launch >later
    cat header old new later >causes.jsonl
    "$gpuprof" report --print json --metrics duration causes.jsonl >json
    [ "$(jq -c '[.profiles[0].not_measured[].cause] | sort' json)" = '["in-capture","other","over-limit"]' ]
    [ "$(jq -r '.profiles[0].not_measured[] | select(.cause == "in-capture").reason' json)" = "some words" ]
    [ "$(jq -r '[.. | .duration? | objects | .cause // empty] | first' json)" = no-memory ]
    "$gpuprof" report --print launches causes.jsonl | jq -c 'select(.type == "launch")' >launches
    [ "$(jq -r .cause launches | tr '\n' ' ')" = "over-limit in-capture other " ]
    [ "$(sed 1q launches | jq -r '.causes[.absent["gpu__time_duration.sum"]]')" = no-memory ]
    # The list goes by causes.
    sed 's/"index":0/"index":3/; s/"passes":2/"passes":2,"skipped":"more words","cause":"in-capture"/' launch >>causes.jsonl
    run "$gpuprof" report causes.jsonl
    [[ $(flat) == *"2 launches of vectorAdd: some words; more words"* ]]
}

@test "launches that were not replayed are combined" {
    sed 's/"time":/"replay":"off","time":/' header >turns.jsonl
    elsewhere='counted in other launches (GPUPROF_REPLAY=off)'
    sed 's/"counters":.*/"counters":{"gpu__time_duration.sum":50000.0},"absent":{"smsp__sass_data_bytes_mem_global_op_ld.sum":"'"$elsewhere"'"}}/' launch >>turns.jsonl
    sed 's/"counters":.*/"counters":{"smsp__sass_data_bytes_mem_global_op_ld.sum":100000.0},"absent":{"gpu__time_duration.sum":"'"$elsewhere"'"}}/' launch >>turns.jsonl
    run "$gpuprof" report --metrics duration,theoretical_occupancy,gld_requested_throughput turns.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"No launch was replayed (GPUPROF_REPLAY=off)"* ]]
    [[ $output == *"2 launches, 2 measured (1 with hardware counters, 1 instrumented); GPU 0"* ]]
    [[ $(flat) == *"duration 50.00 us occupancy"* ]]
    [[ $(flat) == *"gld_requested_throughput - - 2.000 GB/s * "* ]]
    [[ $output == *"* from the means of counters of 1 launch with hardware counters and 1 instrumented"* ]]
    # A launch that cannot be replayed takes turns where others are replayed.
    sed -i '1s/"replay":"off"/"replay":"on"/; s/ (GPUPROF_REPLAY=off)//' turns.jsonl
    run "$gpuprof" report --metrics duration,theoretical_occupancy,gld_requested_throughput turns.jsonl
    [[ $(flat) == *"gld_requested_throughput - - 2.000 GB/s * "* ]]
    sed -i 's/counted in other launches/it broke off/' turns.jsonl
    run "$gpuprof" report --metrics duration,theoretical_occupancy,gld_requested_throughput turns.jsonl
    [[ $(flat) == *"absent [1]: "*"gld_requested_throughput"*"Absent because [1] "*"it broke off"* ]]
}

@test "standard input and several files" {
    run "$gpuprof" report - <good.jsonl
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "-: ./app"* ]]
    run "$gpuprof" report --details good.jsonl good.jsonl
    [ "$(grep -c '^good.jsonl: ' <<<"$output")" -eq 2 ]
}

@test "a profile that comes through a pipe with a name is read once" {
    run "$gpuprof" report --details <(cat good.jsonl)
    [ "$status" -eq 0 ]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
    mkfifo pipe
    cat good.jsonl >pipe &
    run timeout 200 "$gpuprof" report --details pipe
    [ "$status" -eq 0 ]
    [[ $output == *"2 kernel launches, 2 measured"* ]]
}

@test "of profiles one behind the other, early launches of the first are not those of the second" {
    sed 's/"type":"launch"/"type":"early"/' launch >early
    cat header early header launch >two.jsonl
    run "$gpuprof" report --details two.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *": 2 kernel launches, 2 measured"* ]]
}

@test "--top limits the kernels shown" {
    sed 's/vectorAdd/vectorSub/' launch >other
    cat header launch launch other >two.jsonl
    run "$gpuprof" report --details --top 1 two.jsonl
    [[ $output == *"and 1 more kernel with 33.3% of the time"* ]]
    [[ $output != *"vectorSub("* ]]
    run "$gpuprof" report --details --top 0 two.jsonl
    [[ $output == *"vectorSub("* ]]
    for top in few "" -1 " -1" 1x 99999999999999999999; do
        run "$gpuprof" report --details --top "$top" two.jsonl
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: --top: '$top' is no number of kernels" ]
    done
}

@test "of very many kernels none is worth advice" {
    cp header many.jsonl
    for i in {1..150}; do sed "s/9vectorAdd/4k$((100 + i))/" launch; done >>many.jsonl
    run "$gpuprof" report --details many.jsonl
    [[ $output == *"WORTH CHANGING"*"no kernel takes so much of the time that it matters"* ]]
    run "$gpuprof" report --details good.jsonl
    [[ $output == *" DRAM "*"no rule of advice applies to these kernels"* ]]
}

@test "a profile that a crash cut short is reported, with a note" {
    head -c -100 good.jsonl >cut.jsonl
    run "$gpuprof" report --details cut.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"1 kernel launch, 1 measured"* ]]
    [[ $output == *"cut.jsonl:4: the last line is incomplete and left out"* ]]
}

@test "a file that is no profile answers 2, a profile that makes no sense 1, with file and line" {
    echo nonsense >bad.jsonl
    : >empty.jsonl
    { echo '{"type":"header","format":"two"}'; cat launch; } >header.jsonl
    { cat header | head -c 40; echo; cat launch; } >torn.jsonl
    head -c 100 /dev/urandom >bad.jsonl.zst
    for file in bad.jsonl empty.jsonl header.jsonl torn.jsonl bad.jsonl.zst; do
        for view in summary times metrics trace json side launches; do
            run --separate-stderr "$gpuprof" report --print $view $file
            [ "$status" -eq 2 ]
            [ "${#stderr_lines[@]}" -eq 1 ]
            [[ $stderr == "gpuprof: $file:"* ]]
            [ -z "$output" ]
        done
        run "$gpuprof" report --html page.html $file
        [ "$status" -eq 2 ]
        [ ! -e page.html ]
        run "$gpuprof" source $file vectorAdd
        [ "$status" -eq 2 ]
    done
    run "$gpuprof" report --details bad.jsonl good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"bad.jsonl:1: not a gpuprof profile: no JSON"* ]]
    [[ $output == *"good.jsonl: ./app"* ]]
    run "$gpuprof" report --details good.jsonl nothing.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: nothing.jsonl: No such file or directory" ]
    run "$gpuprof" report .
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: .: Is a directory" ]
    { cat header; echo '{"type":"launch","index":0}'; } >half.jsonl
    run "$gpuprof" report --details half.jsonl good.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *'half.jsonl:3: there is no "kernel"'* ]]
    [[ $output == *"good.jsonl: ./app"* ]]
    run "$gpuprof" report
    [ "$status" -eq 2 ]
}

# bats test_tags=long
@test "running out of memory anywhere ends in a message, never in a crash" {
    command -v cc >/dev/null || skip "no compiler"
    nm -D "$gpuprof" 2>/dev/null | grep -q " U __asan_init" && skip "the sanitizer has its own malloc"
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
    export GPUPROF_CUPTI=/nonexistent # CUPTI and the sanitizers do not get on
    for arguments in "report good.jsonl" "metrics flops"; do
        n=0
        while :; do
            for once in "" FAIL_ONCE=1; do
                status=0
                env LD_PRELOAD="$PWD/failing.so" FAIL_AT=$n $once "$gpuprof" $arguments >out 2>&1 || status=$?
                [ "$status" -le 2 ] || { echo "$arguments: allocation $n: status $status"; cat out; false; }
            done
            # The last rounds need no more allocations than they get.
            [ "$n" -gt 5200 ] && break
            n=$((n + (n < 40 ? 1 : n < 2400 ? 37 : 97)))
        done
    done
}

@test "the report is one screen, and says how to see more" {
    for i in {1..300}; do sed "s/9vectorAdd/4k$((100 + i))/" launch; done >many
    cat header many >many.jsonl
    run "$gpuprof" report many.jsonl
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -le 60 ]
    awk 'length > 120 { print; exit 1 }' <<<"$output"
    [[ $output != *DETAILS* ]]
    [[ ${lines[-1]} == "More: gpuprof report --details many.jsonl" ]]
    run "$gpuprof" report --details good.jsonl
    [[ $output == *DETAILS* ]]
    run "$gpuprof" report --metrics duration good.jsonl
    [[ $output == *DETAILS*"duration "* ]]
}

@test "a busy loop fits a screen of 60 lines and 120 columns, each kernel with a name of its own" {
    python3 "$BATS_TEST_DIRNAME/make_busy_profile.py" >busy.jsonl
    "$gpuprof" report busy.jsonl >screen
    [ "$(wc -l <screen)" -le 60 ]
    [ "$(awk 'length($0) > 120' screen | wc -l)" -eq 0 ]
    [ "$(grep -c '^[a-z_]*kernel<[0-9]*, ..> \[96\]' screen)" -eq 10 ]
    [ "$(grep -c '^[1-5]\. ' screen)" -ge 3 ]
    # A text that stands under one kernel is not repeated under the next.
    [ "$(grep -c 'allow more registers per thread' screen)" -eq 1 ]
    grep -q ': as under 1$' screen
    # Each reason once, cut where it is long.
    [ "$(grep -c 'reason [0-9]:' screen)" -eq 3 ]
    grep -q '^   and 5 more launches for further reasons$' screen
    grep -q '^More: gpuprof report --details busy.jsonl$' screen
    "$gpuprof" report --details busy.jsonl >details
    [ "$(grep -c '^[a-z_]*kernel<[0-9]*, ..> \[96\]' details)" -eq 14 ]
}

@test "screens of any profile fit terminals of 80, 120 and 200 columns, and names keep 40" {
    local tests=$BATS_TEST_DIRNAME/..
    python3 "$tests/cli/make_busy_profile.py" >busy.jsonl
    python3 "$tests/page/make_profile.py" 12 60 2 --long-names >long.jsonl
    python3 "$tests/page/make_profile.py" 300 300 >many.jsonl
    # Sampled, timed in part, with copies and an end.
    { sed 's/"time":/"sample":"first:1,every:1000","replay":"off","time":/' header
      sed 's/"passes":2/"passes":2,"skipped":"it reaches memory that other processes share with the program, on a device of theirs"/' launch
      sed 's/"launch","index":0/"count","launches":123456789/; s/"registers".*/"shared_dynamic":0}/' launch
      echo '{"type":"copies","kind":"memcpy HtoD","calls":4,"bytes":4000,"timed":2,"timed_bytes":2000,"seconds":2e-5,"shortest":5e-6,"longest":1.5e-5}'
      echo '{"type":"end","added_seconds":0.25,"seconds":1.5}'; } >sampled.jsonl
    run python3 "$tests/cli/screen_widths.py" "$gpuprof" {busy,long,many,sampled,good}.jsonl "$tests"/fuzz/corpus/profile/seed-*
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "profiles of earlier versions are read as they are" {
    local seed
    for seed in "$BATS_TEST_DIRNAME"/../fuzz/corpus/profile/seed-*; do
        run "$gpuprof" report "$seed"
        # One is cut short, as its name says.
        [[ $status -eq 0 || ($seed == *-cut-short && $status -eq 1) ]]
        [[ $output == *$'\nKERNELS, by their share of '* ]]
        [[ $output != *" nan"* && $output != *" inf"* ]]
        run -0 "$gpuprof" report --print launches "$seed" || [[ $seed == *-cut-short ]]
    done
    # Without the process's own time, and with the ratio instead of the counts it is made of.
    { cat header
      sed 's/"counters":{/&"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct":42.0,"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum":9.0,/' launch
      echo '{"type":"end","added_seconds":0.25}'; } >old.jsonl
    run "$gpuprof" report old.jsonl
    [ "$status" -eq 0 ]
    [[ $output != *"Program: "* ]]
    [[ $output == *"Memory:        201.3 MB of DRAM traffic, 64.3 % of its bandwidth while kernels ran"* ]]
    [[ $output == *"   42% "* ]]
    "$gpuprof" report --print json old.jsonl | jq -e '.profiles[0].summary |
        .run_seconds == null and .gpu_share == null and .dram_share > 0.64 and .flop == null and .flop_share == null'
    "$gpuprof" report --html page.html old.jsonl
    grep -q '"summary":\[{"name":"Memory"' page.html
}

@test "of many processes three are named, and a long command is cut" {
    for i in 1 2 3 4 5; do sed "s/77/7$i/" header; cat launch; done >ranks.jsonl
    run "$gpuprof" report ranks.jsonl
    [ "$(grep -c '^ranks.jsonl: ' <<<"$output")" -eq 3 ]
    [[ $output == *$'\nand 2 more processes\ngpuprof '* ]]
    python3 -c 'import sys; sys.stdout.write(sys.stdin.read().replace("-n", "\u00e9" * 20000))' <header >long.jsonl
    cat launch >>long.jsonl
    run "$gpuprof" report long.jsonl
    [[ $(flat) == *".. (process 77 on node1"* ]]
    [ "$(wc -l <<<"$output")" -le 20 ]
}

@test "a rule that makes no sense is one line, and the others are asked" {
    mkdir -p mine/rules
    printf '[mine]\ncondition = dram_utilisation > 0.1\nevidence = e\ntext = t\nestimate = 1\n' >mine/rules/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report good.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"mine/rules/x.ini:2: rule mine: condition: there is no metric or value 'dram_utilisation'; did you mean dram_utilization?"* ]]
    sed -i s/utilisation/utilization/ mine/rules/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report good.jsonl
    [[ $output == *"1. about 100 %: vectorAdd [32] (mine)"*"   e: t"* ]]
}

@test "source shows the counts of instructions, by line where there is a line table" {
    counts='"cc":90,"launches":2,"code":"","counts":["smsp__sass_sectors_mem_global","smsp__sass_sectors_mem_global_ideal"],"functions":["_Z9vectorAddPKfS0_Pfi"],"at":[[0,96,64,8],[0,112,16,16]]'
    { cat header; echo '{"type":"instructions","kernel":"_Z9vectorAddPKfS0_Pfi",'"$counts"'}'; } >source.jsonl
    run "$gpuprof" source source.jsonl vectorAdd
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "vectorAdd(float const*, float const*, float*, int)" ]]
    [[ $output == *"counts of one launch, the mean of 2; sm_90"* ]]
    [[ $(flat) == *" 28 32 +0x60 "* ]]
    run "$gpuprof" source source.jsonl nothing
    [ "$status" -eq 1 ]
    [[ $output == *"no kernel has 'nothing' in its name; the profile has"*vectorAdd* ]]
    # An ambiguous part of a name: those that have it, and no others.
    cat source.jsonl <(sed -n 's/_Z9vectorAddPKfS0_Pfi/_Z9vectorSubPKfS0_Pfi/; /"instructions"/p' source.jsonl) \
        <(sed -n 's/_Z9vectorAddPKfS0_Pfi/_Z6otherKPKfS0_Pfi/; /"instructions"/p' source.jsonl) >three.jsonl
    run "$gpuprof" source three.jsonl vector
    [ "$status" -eq 1 ]
    [[ $output == *"2 kernels have 'vector' in their names"*vectorAdd*vectorSub* ]]
    [[ $output != *otherK* ]]
    run "$gpuprof" source --help
    [[ $(flat) == *"a part of it that no other kernel has"* ]]
    run "$gpuprof" source good.jsonl vectorAdd
    [ "$status" -eq 1 ]
    [[ $output == *"the profile has no counts of single instructions"* ]]
    run "$gpuprof" source good.jsonl
    [ "$status" -eq 2 ]
    { cat header; echo '{"type":"cubin","hash":"x","size":3,"zstd":"KLUv/QBYGQAAYWJj"}'; } >bad.jsonl
    run "$gpuprof" source bad.jsonl vectorAdd
    [[ $output == *"bad.jsonl:3: a line of type cubin is left out: its bytes are not those of its \"hash\""* ]]
}

@test "a filter that selects no launch is one line, with the names that there are" {
    sed 's/_Z9vectorAddPKfS0_Pfi/_Z7stencilPf/' launch >stencil
    cat header launch launch stencil >two.jsonl
    for view in summary times metrics trace json side launches; do
        run --separate-stderr "$gpuprof" report --print $view --kernels vectorAd_ two.jsonl
        [ "$status" -eq 0 ]
        [ "$stderr" = "gpuprof: --kernels 'vectorAd_' matches none of 2 kernels; did you mean vectorAdd?" ]
        run --separate-stderr "$gpuprof" report --print $view --kernels vectorA two.jsonl
        [ -z "$stderr" ]
    done
    run --separate-stderr "$gpuprof" report --kernels nothing two.jsonl
    [ "$stderr" = "gpuprof: --kernels 'nothing' matches none of 2 kernels: vectorAdd, stencil" ]
    run "$gpuprof" report --print launches --kernels stencil two.jsonl
    [ "$(grep -c '"type":"launch"' <<<"$output")" -eq 1 ]
    [[ $output == *_Z7stencilPf* ]]
    run --separate-stderr "$gpuprof" report --html page.html --kernels nothing two.jsonl
    [ "$stderr" = "gpuprof: --kernels 'nothing' matches none of 2 kernels: vectorAdd, stencil" ]
    for option in "--launch-skip 3" "--devices 3" "--kernels ::stencil:2"; do
        # shellcheck disable=SC2086
        run --separate-stderr "$gpuprof" report $option two.jsonl
        [ "$stderr" = "gpuprof: none of 3 launches is on these GPUs and has such a number (--devices, --kernels, --launch-skip, --launch-count)" ]
    done
}

@test "a profile that another program wrote anew, with blanks between the parts, reads the same" {
    "$gpuprof" report --print launches good.jsonl >expected
    for separators in '(", ", ": ")' '(" , ", " : ")' '(",\t", ":\t")'; do
        python3 -c "import json, sys
for line in open('good.jsonl'): print(' ' + json.dumps(json.loads(line), separators=$separators) + ' ', end='\r\n')" >other.jsonl
        run "$gpuprof" report --print launches other.jsonl
        [ "$status" -eq 0 ]
        diff expected <(echo "$output")
    done
}

@test "advice on no line of a kernel says where the kernel begins" {
    profile_with_lines
    sed "s/_Z9vectorAddPKfS0_Pfi/$kernel/" launch >>lines.jsonl
    mkdir -p mine/rules
    printf '[mine]\ncondition = dram_utilization > 0.1\nevidence = e\ntext = t\nestimate = 1\n' >mine/rules/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report lines.jsonl
    [[ $output =~ "], begins at lines.cu:"([0-9]+)" (mine)" ]]
    # That is the head of a kernel.
    sed -n "${BASH_REMATCH[1]}p" "$BATS_TEST_DIRNAME/../lines/lines.cu" | grep __global__
}

@test "source names first the lines that have most of it" {
    profile_with_lines sixth
    # Of its accesses, one wastes three times as much as the other.
    run "$gpuprof" source --sass lines.jsonl "$kernel"
    mapfile -t loads < <(awk '$2 ~ /^LDG/ {print $1}' <<<"$output")
    sed -i 's|"smsp__sass_sectors_mem_global"|&,"smsp__sass_sectors_mem_global_ideal"|' lines.jsonl
    sed -i "s|\\[0,16,64\\]|[0,$((16#${loads[3]})),100,70],[0,$((16#${loads[8]})),100,10]|" lines.jsonl
    run "$gpuprof" source lines.jsonl "$kernel"
    [[ $(flat) =~ "the lines with most of it wasted sectors 75 % lines.cu:"([0-9]+)", 25 % lines.cu:"([0-9]+)" " ]]
    [ "${BASH_REMATCH[1]}" -ne "${BASH_REMATCH[2]}" ]
    for line in "${BASH_REMATCH[@]:1}"; do
        sed -n "${line}p" "$BATS_TEST_DIRNAME/../lines/lines.cu" | grep 'q\[threadIdx'
    done
}

@test "a source that is a device or a pipe is not read" {
    profile_with_lines
    mkdir sources
    mkfifo sources/lines.cu
    run timeout 200 "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [ "$status" -eq 0 ]
    [[ $output == *"lines.cu (not found here: --source-path DIR says where)"* ]]
    rm sources/lines.cu
    ln -s /dev/zero sources/lines.cu
    run timeout 200 "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [ "$status" -eq 0 ]
    # Regular files, by their type: this one has no end and is waited for, where it may be read at all.
    for file in /proc/kmsg /proc/self/environ; do
        ln -sf $file sources/lines.cu
        run timeout 20 "$gpuprof" source --source-path sources lines.jsonl "$kernel"
        [ "$status" -eq 0 ]
        [[ $output == *"lines.cu (not found here: --source-path DIR says where)"* ]]
    done
    rm sources/lines.cu
    # No source has so much text, nor a NUL.
    { yes | head -c 17M; } >sources/lines.cu
    run "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [[ $output == *"lines.cu (not found here: --source-path DIR says where)"* ]]
    { yes | head -c 16M; } >sources/lines.cu
    run "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [[ $output == *"sources/lines.cu"* && $output != *"not found here"* ]]
    { yes | head -c 1M; head -c 1 /dev/zero; } >sources/lines.cu
    run "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [[ $output == *"lines.cu (not found here: --source-path DIR says where)"* ]]
}

# Every lane is on, and each instruction of the loop has a predicate that half of them fulfil.
@test "lanes that a predicate switches off are said at their lines, at a roof as well" {
    profile_with_lines fifth
    python3 - "$kernel" >>lines.jsonl <<'END'
import json, sys
cycles, sms = 1.8e6, 132
issued = 0.97 * 4 * sms * cycles
print(json.dumps({"type": "launch", "index": 0, "kernel": sys.argv[1], "device": 0, "grid": [132 * 64, 1, 1],
    "block": [256, 1, 1], "registers": 16, "shared_carveout": -1, "passes": 2, "counters": {
        "gpu__time_duration.sum": 1e6, "gpc__cycles_elapsed.max": cycles, "gpc__cycles_elapsed.avg.per_second": cycles * 1e3,
        "sm__cycles_active.avg": cycles, "sm__cycles_active.max": cycles, "dram__bytes_read.sum": 1e6, "dram__bytes_write.sum": 1e6,
        "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 1, "l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed": 1,
        "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum": 0, "smsp__sass_l1tex_tags_mem_global.sum": 0,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum": 0, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum": 0,
        "smsp__inst_executed.sum": issued, "smsp__thread_inst_executed.sum": 32 * issued,
        "smsp__thread_inst_executed_pred_on.sum": 17 * issued}}))
END
    run "$gpuprof" report lines.jsonl
    [[ $output == *"issue 97%*"* ]]
    [[ $output =~ "1. up to "[0-9.]+" %: fifth [256], lines.cu:"([0-9]+)" and 1 more line (predication)" ]]
    sed -n "${BASH_REMATCH[1]}p" "$BATS_TEST_DIRNAME/../lines/lines.cu" | grep -E 'one side|the other'
    [[ $(flat) == *"100 % of the threads of its warps are active, 53.1 % with their predicate on: "* ]]
}

@test "source shows the text of a file, and none of its control characters" {
    profile_with_lines
    mkdir sources
    for n in $(seq 200); do printf '\tline %d \033]0;title\007\n' "$n"; done >sources/lines.cu
    run "$gpuprof" source --source-path sources lines.jsonl "$kernel"
    [ "$status" -eq 0 ]
    [[ $output == *$'\tline '*'\x1b]0;title\x07'* ]]
    ! grep -q $'\033' <<<"$output" || false
    # Machine code is named without a disassembler, too; counts of a called function follow it.
    sed "s|\"functions\":\\[|&\"_Z6calledv\",|; s|\"at\":\\[|&[0,32,7],|; s|\\[0,16,64\\]|[1,16,64]|" lines.jsonl >called.jsonl
    run env PATH=/usr/bin:/bin CUDA_HOME=/nowhere "$gpuprof" source --sass called.jsonl "$kernel"
    [ "$status" -eq 0 ]
    [[ $(flat) == *"machine code, by our own names"*" EXIT"*"called: called()"*" 7 +0x20"* ]]
    ! grep -q 'opcode 0x' <<<"$output" || false
}

@test "--top says how many kernels the first screen has" {
    python3 "$BATS_TEST_DIRNAME/make_busy_profile.py" >busy.jsonl
    rows() { "$gpuprof" report "$@" busy.jsonl | sed -n '/^KERNELS/,/^$/p' | grep -c '^[^ ].*\[[0-9x]*\]'; }
    all=$("$gpuprof" report --print json busy.jsonl |
        python3 -c 'import json, sys; print(len(json.load(sys.stdin)["profiles"][0]["kernels"]))')
    [ "$all" -gt 12 ]
    [ "$(rows)" -eq 10 ]
    [ "$(rows --top 2)" -eq 2 ]
    "$gpuprof" report --top 2 busy.jsonl | grep -q "and $((all - 2)) more kernels"
    [ "$(rows --top 0)" -ge "$all" ]
    ! "$gpuprof" report -n 0 busy.jsonl | grep "more kernels" || false
    # Each with a name of its own.
    "$gpuprof" report -n 0 busy.jsonl | sed -n '/^KERNELS/,/^$/p' | grep -o '^[^ ].*kernel<.*\]' |
        sort | uniq -d >twice
    [ ! -s twice ]
}

# Every figure that is printed is that of a formula, and the formula that of named values.
@test "the figures of advice can be found by name" {
    cat >figures.py <<'END'
import json, re, sys
def compute(formula, values):
    named = re.sub(r"[A-Za-z_][\w.]*", lambda m: m[0] if m[0] in ("min", "max") else f'v["{m[0]}"]', formula)
    return eval(named, {"v": values, "min": min, "max": max, "__builtins__": {}})
def digits(v):
    return f"{v:.0f}" if v == 0 or v >= 99.95 else f"{v:.1f}" if v >= 9.995 else f"{v:.2f}" if v >= 0.9995 else f"{v:.3f}"
units = {"%": lambda v: digits(v) + " %", "ratio": digits, "whole": lambda v: f"{v:.0f}", "": lambda v: f"{v:.0f}"}
checked = 0
for profile in json.load(sys.stdin)["profiles"]:
    metrics = [k["metrics"] for k in profile["kernels"]]
    for a in profile["advice"]:
        said, at = a["evidence"] + a["text"], 0
        for f in a["figures"]:
            assert abs(compute(f["formula"], a["values"]) - f["value"]) <= 1e-9 * abs(f["value"]), f
            if f["unit"] in units:
                assert units[f["unit"]](f["value"]) in said[at:], (f, said)
                at = said.index(units[f["unit"]](f["value"]), at)
            checked += 1
        gain = max(0, min(1, compute(a["estimate"], a["values"])))
        assert abs(gain - a["grid_gain"]) < 1e-9, a
        # And a metric's value is that of the kernel, where it has one grid.
        for name, value in a["values"].items():
            if a["kernel"] is not None and name in metrics[a["kernel"]] and not profile["kernels"][a["kernel"]]["configurations"]:
                assert abs(metrics[a["kernel"]][name]["mean"] - value) <= 1e-9 * abs(value), name
assert checked >= int(sys.argv[1]), checked
END
    python3 "$BATS_TEST_DIRNAME/make_busy_profile.py" >busy.jsonl
    "$gpuprof" report --print json busy.jsonl | python3 figures.py 10
    "$gpuprof" report busy.jsonl >screen
    "$gpuprof" report --print json busy.jsonl | python3 -c '
import json, sys
p = json.load(sys.stdin)["profiles"][0]
for a in p["advice"][:3]:
    print(a["evidence"][:60])
    assert p["kernels"][a["kernel"] or 0]["bound"]["name"] != "unknown"' >evidence
    while read -r words; do tr -s ' \n' ' ' <screen | grep -qF "$words"; done <evidence
}

# ---- other views ---------------------------------------------------------------------------------

# A second kernel on a second GPU, and launches that take different times.
several() {
    sed 's/"index":0/"index":1/; s/vectorAdd/vectorSub/; s/65000.0/130000.0/' launch >sub
    sed 's/"index":0/"index":2/; s/65000.0/32500.0/' launch >short
    cat header launch sub short >several.jsonl
}

@test "the trace has a line for each launch, in any order and with any columns" {
    several
    run "$gpuprof" report --print trace several.jsonl
    [ "$status" -eq 0 ]
    [ "$(grep -c 'vectorAdd(float const\*, float const\*, float\*, int) \[[02]\]$' <<<"$output")" -eq 2 ]
    [[ $output == *"65.000us       (524288 1 1)"* ]]
    run "$gpuprof" report --csv --columns index,kernel,grid,duration --sort duration several.jsonl
    [ "${lines[0]}" = '"index","kernel","grid","duration"' ]
    [ "${lines[1]}" = '1,"_Z9vectorSubPKfS0_Pfi",524288,0.00013' ]
    [ "${lines[3]}" = '2,"_Z9vectorAddPKfS0_Pfi",524288,3.25e-05' ]
    [ "${#lines[@]}" -eq 4 ]
    run "$gpuprof" report several.jsonl --csv --columns index,duration --sort duration --top 1 --unit us
    [ "$output" = $'"index","duration"\n1,130' ]
    run "$gpuprof" report --csv --print-gpu-trace --demangling off several.jsonl
    [[ ${lines[3]} == ',65.000000,524288,1,1,32,1,1,16,0,0,,,,,"NVIDIA H200 (0)",1,0,"_Z9vectorAddPKfS0_Pfi"' ]]
    run "$gpuprof" report --csv --print trace --metrics duration,dram_read_bytes several.jsonl
    [[ ${lines[2]} == '"NVIDIA H200 (0)",1,0,"vectorAdd(float const*, float const*, float*, int)",0.000065000,134217728' ]]
}

@test "long names in a trace differ where the kernels differ" {
    # scale_all_of_the_values_of<int, float, A or B>(...): the difference is in the middle.
    long() { echo "_Z26scale_all_of_the_values_ofIif${#1}$1EvPT_PKT0_iiiiiiii"; }
    { cat header
      for i in 0 1 2; do
          kernel=$(long plus_one); [ $i = 1 ] && kernel=$(long plus_two)
          sed "s/\"index\":0/\"index\":$i/; s/_Z9vectorAddPKfS0_Pfi/$kernel/; s/65000.0/$((i + 1))5000.0/" launch
      done; } >long.jsonl
    for how in "--print trace -m duration" "--columns index,name" "--print trace -m duration --sort duration"; do
        run "$gpuprof" report $how long.jsonl
        [ "$status" -eq 0 ]
        [ "$(grep -c 'scale_all.*plus_one' <<<"$output")" -eq 2 ]
        [ "$(grep -c 'scale_all.*plus_two' <<<"$output")" -eq 1 ]
    done
    [[ ${lines[2]} == *"plus_one>"*" [2] "*"35.000us" ]]
    run bash -c '"$0" report --print trace -m duration - <long.jsonl' "$gpuprof"
    [[ $output == *"plus_two>"*" [1] "* ]]
    run "$gpuprof" report --csv --columns index,name long.jsonl
    [[ ${lines[2]} == '1,"void scale_all_of_the_values_of<int, float, plus_two>(int*, float const*, '* ]]
}

@test "shares of no time at all are not there" {
    sed 's/"gpu__time_duration.sum":[0-9.]*/"gpu__time_duration.sum":0/' good.jsonl >zero.jsonl
    for form in "" --csv; do
        run "$gpuprof" report --print times $form zero.jsonl
        [ "$status" -eq 0 ]
        [[ $output != *nan* ]]
    done
}

@test "nvprof's tables are made of profiles, too" {
    several
    run "$gpuprof" report --print times several.jsonl
    [[ $output == *$'==77== Profiling result:\n'* ]]
    [[ $(flat) == *"GPU activities: 57.14% 130.00us 1 130.00us 130.00us 130.00us vectorSub("* ]]
    [[ $(flat) == *" 42.86% 97.500us 2 48.750us 32.500us 65.000us vectorAdd("* ]]
    run "$gpuprof" report --print metrics -m dram_read_bytes,gld_efficiency several.jsonl
    [[ $(flat) == *"2 dram_read_bytes Total bytes read from DRAM to L2 cache 134217728 134217728 134217728"* ]]
    [[ $(flat) == *"gld_efficiency Global Memory Load Efficiency not measured: counter smsp__sass"* ]]
    run "$gpuprof" report --csv -m duration several.jsonl
    [[ $output == *'"NVIDIA H200 (0)","vectorSub(float const*, float const*, float*, int)",1,"duration"'*',0.000130000,0.000130000,0.000130000'* ]]
}

@test "a profile that goes on with other counters or another GPU has their metrics as well" {
    # The metrics are chosen by the counters of the first launches; most profiles go on like that.
    many() { yes "$1" | head -n 4200 | awk '{ sub(/"index":0/, "\"index\":" NR) } 1'; }
    other=$(sed 's/"counters":{/&"smsp__inst_executed.sum":5,/; s/vectorAdd/vectorSub/' launch)
    { cat header; many "$(cat launch)"; echo "$other"; } >others.jsonl
    { cat header; echo "$other"; many "$(cat launch)"; } >first.jsonl
    "$gpuprof" report --details others.jsonl >others
    "$gpuprof" report --details first.jsonl >first
    grep -q '^ *inst_executed  *5$' others
    diff <(sed 's/^others.jsonl/first.jsonl/' others | sort) <(sort first)
    [ "$(grep -c '^others.jsonl: ./app' others)" -eq 1 ]
    # Old GPUs have formulas of their own.
    { cat header; many "$(cat launch)"; sed -n '$p' header | sed 's/"ordinal":0/"ordinal":1/; s/"cc_major":9/"cc_major":3/; s/"event_counters":0/"event_counters":1/'
        sed 's/"device":0/"device":1/; s/"counters":{[^}]*}/"counters":{"gpu__time_duration.sum":1000.0}/' launch; } >devices.jsonl
    "$gpuprof" report --details devices.jsonl >devices
    grep -q '^GPU 1: ' devices
    [ "$(grep -c '^devices.jsonl: ./app' devices)" -eq 1 ]
}

@test "json is as docs/report-json.md describes it" {
    several
    copies='{"type":"copies","kind":"memcpy HtoD","calls":4,"bytes":4000,"timed":2,"timed_bytes":2000,"seconds":2e-5'
    echo "$copies"',"shortest":5e-6,"longest":1.5e-5}' >>several.jsonl
    echo '{"type":"copies","kind":"memset","calls":1,"bytes":9,"timed":0,"timed_bytes":0,"seconds":0,"shortest":0,"longest":0}' >>several.jsonl
    "$gpuprof" report --print json several.jsonl good.jsonl >x.json
    run python3 - x.json <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["format"] == "gpuprof report" and r["version"] == 1
assert [p["file"] for p in r["profiles"]] == ["several.jsonl", "good.jsonl"]
p = r["profiles"][0]
assert p["command"] == ["./app", "-n", "5"] and p["pid"] == 77 and p["replayed"]
assert p["launches"] == 3 and p["devices"][0]["chip"] == "GH100"
k = p["kernels"][0]
assert k["symbol"] == "_Z9vectorSubPKfS0_Pfi" and k["block"] == [32, 1, 1] and k["seconds"] == 0.00013
assert k["metrics"]["dram_read_bytes"] == {"unit": "bytes", "launches": 1, "min": 134217728.0,
    "max": 134217728.0, "mean": 134217728.0, "interval": None, "combined": False}
assert "absent" in k["metrics"]["achieved_occupancy"]
rounded = [{k: float(f"{v:.9g}") if isinstance(v, float) else v for k, v in c.items()} for c in p["copies"]]
assert rounded == [{"kind": "memcpy HtoD", "calls": 4, "bytes": 4000, "timed": 2, "seconds": 4e-05,
    "mean": 1e-05, "min": 5e-06, "max": 1.5e-05, "bytes_per_second": 1e8},
    {"kind": "memset", "calls": 1, "bytes": 9, "timed": 0, "seconds": None, "mean": None, "min": None, "max": None,
    "bytes_per_second": None}]
assert r["profiles"][1]["copies"] == []
END
    [ "$status" -eq 0 ]
}

@test "profiles are taken together or stand side by side" {
    sed 's/"ordinal":0,"name":"NVIDIA H200"/"ordinal":0,"name":"NVIDIA L4"/' header >other
    cat other launch >b.jsonl
    run "$gpuprof" report --merge good.jsonl good.jsonl
    [[ $output == *": 4 kernel launches, 4 measured"* ]]
    [ "$(grep -c '^GPU ' <<<"$output")" -eq 1 ]
    run "$gpuprof" report --details --merge good.jsonl b.jsonl good.jsonl
    [[ $output == *": 5 kernel launches, 5 measured"* ]]
    [[ $output == *"GPU 0: NVIDIA H200"*"GPU 1: NVIDIA L4"* ]]
    [[ $output == *"; 4 launches, 4 measured; GPU 0"* ]]
    [[ $output == *"; 1 launch, 1 measured; GPU 1"* ]]
    several
    run "$gpuprof" report --side-by-side good.jsonl several.jsonl
    [[ $(flat) == *"vectorAdd"*" launches 2 2 "* ]]
    [[ $(flat) == *"vectorSub"*" time - 130.0 us "* ]]
    run "$gpuprof" report --side-by-side --csv -m dram_read_bytes good.jsonl several.jsonl
    [ "${lines[0]}" = '"Kernel","Value","good.jsonl","several.jsonl"' ]
    [ "${lines[2]}" = '"vectorAdd(float const*, float const*, float*, int)","dram_read_bytes",134217728,134217728' ]
}

@test "launches are chosen by kernel, device and number" {
    several
    count() { "$gpuprof" report "$@" several.jsonl | sed -n 's/.*: \([0-9]* kernel launch[es]*\),.*/\1/p'; }
    [ "$(count -k vectorSub)" = "1 kernel launch" ]
    [ "$(count --kernels 'regex:vectorAdd\(float')" = "2 kernel launches" ]
    [ "$(count -k ::vectorAdd:2)" = "1 kernel launch" ]
    [ "$(count --launch-skip 1)" = "2 kernel launches" ]
    [ "$(count --launch-skip 1 -c 1)" = "1 kernel launch" ]
    [ "$(count --devices 0)" = "3 kernel launches" ]
    [ "$(count --devices 1)" = "0 kernel launches" ]
}

@test "a damaged profile gives the readable part, one line on the rest, and status 1" {
    several
    { sed '4s/.*/garbage/' several.jsonl; echo '{"type":"launch"}'; } >damaged.jsonl
    run --separate-stderr "$gpuprof" report damaged.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *": 2 kernel launches, 2 measured"* ]]
    [ "$stderr" = "gpuprof: damaged.jsonl:4: no JSON: '[' or '{' expected near 'garbage'; this line and 1 more are left out" ]
}

@test "wrong options of the report answer 2 before anything is read" {
    wrong() {
        local expected=$1
        shift
        run "$gpuprof" report "$@" good.jsonl
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: $expected" ] || {
            echo "$*: $output"
            return 1
        }
    }
    wrong "--print: there is no view 'page'; say summary, times, metrics, trace, json, side, launches or markdown" --print page
    wrong "--columns: there is no column 'gld_eficiency'; did you mean gld_efficiency?" --columns index,gld_eficiency
    wrong "--columns goes with --print trace" --columns index --print json
    wrong "--sort: there is no metric 'size' (nor is it 'start')" --sort size
    wrong "--csv goes with --print times, metrics, trace or side" --csv --print json
    wrong "--kernels: '(' is no regular expression: missing closing parenthesis at letter 2" -k '('
    wrong "--kernels: '1::x:': launches of a profile are chosen by name and number, not by context or stream" -k 1::x:
    wrong "--devices: 'x' is no list; say all, or numbers from 0 to 63 with commas between them" --devices x
    wrong "--launch-skip: 'x' is no number of launches" --launch-skip x
    wrong "--normalized-time-unit: 'h' is none of s, ms, us, ns, auto" -u h
    wrong "--demangling: 'h' is neither on nor off" --demangling h
    wrong "--metrics: there is no metric 'zzzzzz'" --print trace --metrics zzzzzz
}

@test "a line that is too long, or of too many parts, is left out, and the rest is read" {
    long() { head -c 17M /dev/zero | tr '\0' x; }
    { cat header launch; long; echo; cat launch; } >long.jsonl
    { cat header launch; printf '{"type":"x","a":['; yes '{},' | head -1100000 | tr -d '\n'; echo '{}]}'; cat launch; } >parts.jsonl
    { cat header launch launch; long; } >last.jsonl
    zstd -q long.jsonl
    for form in long.jsonl long.jsonl.zst; do
        run --separate-stderr "$gpuprof" report "$form"
        [ "$status" -eq 1 ]
        [ "$stderr" = "gpuprof: $form:4: it is longer than 16 MiB; the line is left out" ]
        [[ ${lines[1]} == *": 2 kernel launches, 2 measured"* ]]
    done
    run --separate-stderr "$gpuprof" report parts.jsonl
    [ "$status" -eq 1 ]
    [ "$stderr" = "gpuprof: parts.jsonl:4: it has more than a million objects and arrays; the line is left out" ]
    [[ ${lines[1]} == *": 2 kernel launches, 2 measured"* ]]
    run --separate-stderr "$gpuprof" report last.jsonl
    [ "$status" -eq 1 ]
    [ "$stderr" = "gpuprof: last.jsonl:5: it is longer than 16 MiB; the line is left out" ]
    [[ ${lines[1]} == *": 2 kernel launches, 2 measured"* ]]
    # So for a baseline, which is one object.
    { printf '{"type":"gpuprof baseline","kernels":['; yes '{},' | head -1100000 | tr -d '\n'; echo '{}]}'; } >base.json
    run "$gpuprof" check --baseline base.json good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: base.json: no baseline: it has more than a million objects and arrays" ]
    # The first line makes a profile.
    long >first.jsonl
    run "$gpuprof" report first.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: first.jsonl:1: not a gpuprof profile: it is longer than 16 MiB" ]
}

@test "the data that a small file unpacks to has a limit, and lines that make no sense have one" {
    { cat header launch; head -c 60M /dev/zero | tr '\0' '\n'; cat launch; } | zstd -q >large.zst
    run --separate-stderr "$gpuprof" report large.zst
    [ "$status" -eq 1 ]
    [ "$stderr" = "gpuprof: large.zst: the data is more than 500 times as large as the file; 'zstd -d' makes a file that is read without this limit; the rest is left out" ]
    [[ ${lines[1]} == *": 1 kernel launch, 1 measured"* ]]
    zstd -q -d large.zst -o large.jsonl
    run --separate-stderr "$gpuprof" report large.jsonl
    [ "$status" -eq 0 ]
    [[ ${lines[1]} == *": 2 kernel launches, 2 measured"* ]]
    # Equal launches are packed well, and are taken.
    { cat header; for ((i = 0; i < 5000; i++)); do echo; done | sed "s|.*|$(cat launch)|"; } | zstd -q -19 >equal.zst
    run --separate-stderr "$gpuprof" report equal.zst
    [ "$status" -eq 0 ]
    [[ ${lines[1]} == *": 5000 kernel launches, 5000 measured"* ]]
    { cat header launch; yes 1 | head -1100000; cat launch; } >wrong.jsonl
    run --separate-stderr "$gpuprof" report wrong.jsonl
    [ "$status" -eq 1 ]
    [ "$stderr" = "gpuprof: wrong.jsonl:4: no JSON: '[' or '{' expected near '1'; this line and 999999 more are left out, and the rest of the file" ]
    [[ ${lines[1]} == *": 1 kernel launch, 1 measured"* ]]
}

@test "a compressed file that is damaged or cut in its first line" {
    cat header launch | zstd -q >whole.zst
    head -c 40 whole.zst >cut.zst
    run "$gpuprof" report cut.zst
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: cut.zst: cut before its first line ends" ]
    { echo '{"type":"hea'; cat header launch; } | zstd -q >first.zst
    run "$gpuprof" report first.zst
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: first.zst:1: not a gpuprof profile, or damaged: no JSON: "* ]]
}

@test "JSON holds each text as the program had it, and shows no letter that a terminal acts on" {
    python3 - <<'END' >exact.jsonl
import json
arguments = ["./app", "a b", "line\nline\ttab", "\x1b[2J\x7f\x9b", "gr\u00f6\u00dfe \u00ad|", "\u202egnp\u2028",
             "\U0001f468\u200d\U0001f4bb", "\U000e0041", '"quoted" \\n \\u00e4', ""]
lines = [json.loads(line) for line in open("good.jsonl")]
lines[0]["command"] = arguments
lines[0]["host"] = "n\u00f6de\u200b1"
lines[2]["kernel"] = "k\u0001\u00e4\u202e"
lines[2]["absent"] = {"sm__warps_active.avg.pct_of_peak_sustained_active": "be\x1bcause"}
print(*map(json.dumps, lines), sep="\n")
END
    cp exact.jsonl $'\xff-gr\xc3\xb6\xc3\x9fe'
    for view in json launches; do
        "$gpuprof" report --print $view exact.jsonl >$view
        [ "$(LC_ALL=C tr -d '\n -~\200-\377' <$view | wc -c)" -eq 0 ]
    done
    "$gpuprof" report --print json $'\xff-gr\xc3\xb6\xc3\x9fe' >named
    python3 - <<'END'
import json
lines = [json.loads(line) for line in open("exact.jsonl")]
report = json.load(open("json"))["profiles"][0]
again = [json.loads(line) for line in open("launches")]
assert report["command"] == again[0]["command"] == lines[0]["command"], report["command"]
assert report["host"] == again[0]["host"] == lines[0]["host"]
assert lines[2]["kernel"] in [kernel["symbol"] for kernel in report["kernels"]]
assert again[2]["kernel"] == lines[2]["kernel"]
assert again[2]["absent"] == lines[2]["absent"]
hidden = "\x1b\x7f\x9b\u00ad\u200b\u200d\u2028\u202e\U000e0041"
for view in "json", "launches":
    assert not set(open(view, encoding="utf-8").read()) & set(hidden)
    assert "gr\u00f6\u00dfe" in open(view, encoding="utf-8").read()
assert json.load(open("named"))["profiles"][0]["file"] == "?-gr\u00f6\u00dfe"
END
}

@test "no cell of CSV is a formula for a spreadsheet" {
    local file n=0
    # In each folder a profile, whose file as well begins with the sign.
    python3 - <<'END'
import json, os
good = [json.loads(line) for line in open("good.jsonl")]
for i, sign in enumerate(["=", "+", "-", "@", "\t=", " =", '"=', "\uff1d"]):
    command = {"command": ["./app", "a," + sign + "cmd()", sign + "cmd()", ";" + sign + "cmd()"]}
    launch = {"kernel": sign + "cmd()", "skipped": sign + "cmd()"}
    lines = [good[0] | command, good[1] | {"name": sign + "cmd()"}] + [line | launch for line in good[2:]]
    os.makedirs(f"signs/{i}")
    with open(f"signs/{i}/{sign}cmd.jsonl", "w", encoding="utf-8") as file:
        print(*map(json.dumps, lines), sep="\n", file=file)
END
    for folder in signs/*; do
        file=$(cd "$folder" && printf '%s\n' *cmd.jsonl)
        for options in "--print times" "-m duration" "--print trace" "--print trace -m duration" \
            "--columns name,kernel,skipped,duration" "--side-by-side"; do
            n=$((n + 1))
            (cd "$folder" && "$gpuprof" report --csv $options -- "$file") >cells$n.csv
        done
        grep -q "cmd" cells$n.csv
    done
    [ $n -eq 48 ]
    python3 - cells*.csv <<'END'
import csv, sys
for path in sys.argv[1:]:
    for separator in ",", ";":
        for row in csv.reader(open(path, encoding="utf-8"), delimiter=separator):
            for cell in row:
                cell = cell.lstrip(' "')
                if cell[:1] in tuple("=+-@\uff1d") and not cell.startswith("==77== "):
                    float(cell)
END
    # Its name for standard input is none.
    run "$gpuprof" report --side-by-side --csv - <good.jsonl
    [[ ${lines[0]} == *',"-"' ]]
}

@test "the trace names the process that was measured, as other views do" {
    for view in trace times metrics; do
        run "$gpuprof" report --print $view good.jsonl
        [ "$status" -eq 0 ]
        [[ ${lines[0]} == "==77== "* ]]
        [ "$(grep -c '^==' <<<"$output")" -eq "$(grep -c '^==77== ' <<<"$output")" ]
    done
}

@test "a trace without a launch is sorted as well" {
    run "$gpuprof" report --columns name --sort duration header
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    run "$gpuprof" report --print trace --sort start -k nothing good.jsonl
    [ "$status" -eq 0 ]
}

@test "texts of a profile cannot move the terminal's cursor or begin a line" {
    esc='\\u001b]0;mine\\u0007\\u001b[2J\\nDETAILS\\u009b1m\\u202e' # as sed wants it
    sed "s|\./app|./app$esc|; s|node1|node1$esc|; s|NVIDIA H200|H200$esc|; s|GH100|GH$esc|" header |
        sed 's|"time":"[^"]*"|"time":"'"$esc"'","sample":"'"$esc"'"|' | sed 's|"gpuprof":"0.1.0"|"gpuprof":"'"$esc"'"|' >raw.jsonl
    sed "s|_Z9vectorAdd|$esc|; s|the counters are|$esc|; s|\"passes\":2|\"passes\":2,\"skipped\":\"$esc\"|" launch >>raw.jsonl
    sed "s|dram__bytes_read.sum|dram$esc|" launch >>raw.jsonl
    # The escapes came through, and nothing that does not show.
    for options in "" "--metrics all" "--top 0"; do
        run "$gpuprof" report $options raw.jsonl
        [ "$status" -eq 0 ]
        [[ $output == *'\x1b]0;mine\x07'* ]]
        [ "$(LC_ALL=C tr -d '\n -~' <<<"$output" | wc -c)" -eq 0 ]
        [ "$(grep -c "^DETAILS" <<<"$output")" -le 1 ]
    done
    cp raw.jsonl $'raw\e[2J\nx'
    for options in --csv --print-gpu-trace --side-by-side --merge; do
        run "$gpuprof" report $options raw.jsonl $'raw\e[2J\nx'
        [ "$(LC_ALL=C tr -d '\n -~' <<<"$output" | wc -c)" -eq 0 ]
        [ "$(grep -c '^x' <<<"$output")" -eq 0 ]
    done
    # The message on a wrong line names its mistake, with strange letters made visible; so for the name of a file.
    printf '{"type":"header","format":1}\n{"type":"launch","\x1b[2J": tru\x1b]0;x\x07}\n' >wrong.jsonl
    cp wrong.jsonl $'wrong\e[2J\nx.jsonl'
    for file in wrong.jsonl $'wrong\e[2J\nx.jsonl' $'none\e[2J\nx'; do
        run --separate-stderr "$gpuprof" report "$file"
        [ "$status" -ne 0 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ "$(LC_ALL=C tr -d '\n -~' <<<"$output$stderr" | wc -c)" -eq 0 ]
    done
    printf '{"type":"header","format":1}\n{"type' >$'cut\e[2J'
    run "$gpuprof" report $'cut\e[2J'
    [[ $output == *'cut\x1b[2J:2: the last line is incomplete'* ]]
    [ "$(LC_ALL=C tr -d '\n -~' <<<"$output" | wc -c)" -eq 0 ]
}

@test "the launches of a grid that were timed stand for those of their own grid, in each view" {
    # 2 of 4 launches take 10 us each, 1 of 8 takes 100 us: 840 us in all, 70 us a launch.
    timed() { # NANOSECONDS BLOCKS INDEX
        sed 's/"index":0/"index":'"$3"'/; s/524288/'"$2"'/; s/65000.0/'"$1"'/' launch
    }
    counted() { # LAUNCHES BLOCKS
        sed 's/"launch","index":0/"count","launches":'"$1"'/; s/524288/'"$2"'/; s/"registers".*/"shared_dynamic":0}/' launch
    }
    { sed 's/"time":/"sample":"first:2","time":/' header
        timed 10000 16 0; timed 10000 16 1; timed 100000 32 2; counted 4 16; counted 8 32; } >grids.jsonl
    run "$gpuprof" report grids.jsonl
    [[ $(flat) == *"3 of 12 70.00 us"* ]]
    run "$gpuprof" report --print times --csv -u us grids.jsonl
    [[ $output == *'"GPU activities",100.000000,840.000000,12,70.000000,10.000000,100.000000,'* ]]
    run "$gpuprof" report --side-by-side --csv grids.jsonl
    [[ $output == *',"time",0.00084'* ]]
    run "$gpuprof" report --print json grids.jsonl
    [[ $output == *'"seconds":0.00084'* ]]
    # A rule is held to the same time, in each of several runs.
    printf '[*]\ntotal duration == 840 us\nsum duration == 120 us\n' >rules.ini
    run "$gpuprof" check --thresholds rules.ini grids.jsonl grids.jsonl
    echo "$output"
    [ "$status" -eq 0 ]
    # Launches of a grid of which none was timed: those of the others stand for them.
    counted 12 64 >>grids.jsonl
    printf '[*]\ntotal duration == 1680 us\n' >rules.ini
    run "$gpuprof" check --thresholds rules.ini grids.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" report --print times --csv -u us grids.jsonl
    [[ $output == *'"GPU activities",100.000000,1680.000000,24,70.000000,10.000000,100.000000,'* ]]
}

# The launches 0 to 4 as a profile may have them: some were read late, and one came late to the profile.
out_of_order() {
    local index
    cat header
    for index in 3 1 0 4; do
        sed 's/"index":0/"index":'$index',"start_ms":'$((1000 + index))'/; s/65000.0/1'$index'000.0/' launch
    done
    sed 's/"type":"launch","index":0/"type":"early","index":2,"start_ms":1002/; s/65000.0/12000.0/' launch
}

@test "launches come, and are numbered, in the order in which the program made them" {
    out_of_order >late.jsonl
    run "$gpuprof" report --print trace --csv -u ms late.jsonl
    [ "$(cut -d, -f1 <<<"$output" | tail -5 | xargs)" = "0.000000 1.000000 2.000000 3.000000 4.000000" ]
    [ "$(cut -d, -f2 <<<"$output" | tail -5 | xargs)" = "0.010000 0.011000 0.012000 0.013000 0.014000" ]
    for from in late.jsonl -; do
        run "$gpuprof" report --csv --columns index $from <late.jsonl
        [ "$(xargs <<<"$output")" = "index 0 1 2 3 4" ]
        run "$gpuprof" report --csv --columns index --launch-skip 1 -c 2 $from <late.jsonl
        [ "$(xargs <<<"$output")" = "index 1 2" ]
        run "$gpuprof" report --csv --columns index -k ::vector:1 $from <late.jsonl
        [ "$(xargs <<<"$output")" = "index 0" ]
    done
    run "$gpuprof" report --print launches -c 2 late.jsonl
    [ "$(jq -r 'select(.type == "launch").index' <<<"$output" | xargs)" = "0 1" ]
    for view in summary times json; do
        run "$gpuprof" report --print $view -c 1 late.jsonl
        [[ $output == *10.00* || $output == *1.0000000000000001e-5* ]]
    done
}

@test "the first launch of all profiles is at the time zero of a trace" {
    sed 's/"index":0/"index":0,"start_ms":2000/' launch | cat header - >second.jsonl
    sed 's/"index":0/"index":0,"start_ms":1500/' launch | cat header - >first.jsonl
    run "$gpuprof" report --print trace --csv -u ms second.jsonl first.jsonl
    [ "$(cut -d, -f1 <<<"$output" | tail -2 | xargs)" = "500.000000 0.000000" ]
    [[ $output != *,-* ]]
}

@test "a filter that takes none says of how many launches" {
    sed 's/"launch","index":0/"count","launches":2/; s/"registers".*/"shared_dynamic":0}/' launch >count
    sed 's/}$/,"reason":"a stream was being captured"}/; s/"count"/"passed_over"/' count >passed
    cat good.jsonl count passed >counted.jsonl
    run "$gpuprof" report --launch-skip 9 counted.jsonl
    [[ $output == "gpuprof: none of 2 launches is on these GPUs and has such a number"* ]]
    sed 's/"launches":2/"launches":1/' count | cat header - >counted.jsonl
    run "$gpuprof" report --devices 3 counted.jsonl
    [[ $output == "gpuprof: none of 1 launch is on these GPUs"* ]]
}

@test "a profile that is not there for all is left out of the columns" {
    echo nonsense >bad.jsonl
    run --separate-stderr "$gpuprof" report --side-by-side --csv bad.jsonl good.jsonl
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = '"Kernel","Value","good.jsonl"' ]
}

@test "a report says that the process was killed, or not measured" {
    # Of format 2, in which a process that came to its end says so.
    sed 's/"format":1/"format":2/' good.jsonl >killed.jsonl
    cut="killed.jsonl: it has no line of the process' end: the process was killed or ended by _exit, or the file was cut"
    run "$gpuprof" report killed.jsonl
    [ "$status" -eq 0 ]
    [[ $(flat) == *"$cut"* ]]
    for view in times metrics trace json side launches; do
        run --separate-stderr "$gpuprof" report --print $view killed.jsonl
        [ "$status" -eq 0 ]
        [ "$stderr" = "gpuprof: $cut" ]
    done
    "$gpuprof" report --html page.html killed.jsonl
    grep -q "it has no line of the process" page.html
    { cat killed.jsonl; echo '{"type":"end","added_seconds":1}'; } >whole.jsonl
    run "$gpuprof" report whole.jsonl
    [[ $output != *"it has no line"* ]]
    { head -2 killed.jsonl; echo '{"type":"given_up","reason":"it may not"}'; echo '{"type":"end","added_seconds":1}'; } >given.jsonl
    run "$gpuprof" report given.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"given.jsonl: gpuprof stopped measuring: it may not"* ]]
    [[ $output != *"it has no line"* ]]
}

@test "a profile that is cut in the middle of a line is not read completely" {
    head -c -100 good.jsonl >cut.jsonl
    for view in summary times metrics trace json side launches; do
        run "$gpuprof" report --print $view cut.jsonl
        [ "$status" -eq 1 ]
        [ "$(grep -c 'last line is incomplete' <<<"$output")" -eq 1 ]
        [[ $output != *"it has no line"* ]]
    done
    run "$gpuprof" report --html page.html cut.jsonl
    [ "$status" -eq 1 ]
    run "$gpuprof" source cut.jsonl vectorAdd
    [ "$status" -eq 1 ]
    [[ $output == *"last line is incomplete"* ]]
}

@test "the unit of times is that of metrics, too" {
    run "$gpuprof" report --csv -m duration -u us good.jsonl
    [[ ${lines[-1]} == *',"duration",'*',65.000000,65.000000,65.000000' ]]
    run "$gpuprof" report --csv -m duration good.jsonl
    [[ ${lines[-1]} == *',0.000065000,0.000065000,0.000065000' ]]
    run "$gpuprof" report --print metrics -m duration -u ms good.jsonl
    [[ ${lines[-1]} == *" 0.0650ms "* ]]
    run "$gpuprof" report --print trace --csv -m duration -u ns good.jsonl
    [[ ${lines[-1]} == *',65000.000000' ]]
}

@test "Markdown has summary, advice with the command that checks it, and kernels" {
    sed 's/_Z9vectorAddPKfS0_Pfi/_Z1ki/; s/"gpu__time_duration.sum":[0-9.e+]*/"gpu__time_duration.sum":1000/' launch >short
    cat header launch short >two.jsonl
    mkdir -p mine/rules
    printf '[mine]\ncondition = dram_utilization > 0.1\nevidence = {dram_utilization:%%} is used\ntext = use * less\nestimate = 0.5\n' >mine/rules/x.ini
    run --separate-stderr env GPUPROF_METRICS_PATH=mine "$gpuprof" report --print markdown two.jsonl
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ ${lines[0]} == '## gpuprof: `./app -n 5`' ]]
    [[ $output == *"- 2 kernel launches, 2 measured"*"- GPU 0: NVIDIA H200, compute capability 9.0, 132 SMs"* ]]
    [[ $output == *"### Worth changing"*"1. **about "*" of the GPU time**: \`vectorAdd [32]\` (mine)"* ]]
    [[ $output == *"   - evidence: "*" % is used"*"   - change: use \\* less"* ]]
    [[ $output == *'`gpuprof compare --metrics duration,dram_utilization two.jsonl AFTER.jsonl`'* ]]
    [[ $output == *"| kernel [block] | time |"*'| `vectorAdd [32]` | '*'| `k [32]` | '* ]]
    # Each row has a cell for each column.
    [ "$(grep '^|' <<<"$output" | tr -cd '|\n' | sort -u | wc -l)" -eq 1 ]
    run "$gpuprof" report --print markdown --top 1 two.jsonl
    [[ $output == *"1 more kernel is not shown."* ]]
    [[ $output != *'`k [32]`'* ]]
    # Notes on the profile stand in the text.
    head -c -20 two.jsonl >torn.jsonl
    run --separate-stderr "$gpuprof" report --print markdown torn.jsonl
    [[ $output == *$'\n'"> torn.jsonl:4: "* ]]
}

@test "Markdown names each reason for missing values once, with names that people read" {
    sed 's/"launch","index":0/"count","launches":20000/; s/"registers".*/"shared_dynamic":0}/' launch >count
    cat header launch launch count >counted.jsonl
    sed 's/"passes":2/"passes":2,"skipped":"it waits"/' launch >waits
    { cat header waits; for k in _Z1av _Z1bv; do sed "s/_Z9vectorAddPKfS0_Pfi/$k/" waits; done
      sed 's/it waits/it is shared/' waits; } >skipped.jsonl
    run "$gpuprof" report --print markdown skipped.jsonl
    [ "$(grep -A9 '^### Not measured' <<<"$output" | grep '^- ')" = \
"- 3 launches of vectorAdd and 2 more kernels: it waits
- 1 launch of vectorAdd: it is shared" ]
    # Estimates are marked, and the launches on which they stand are named.
    run "$gpuprof" report --print markdown counted.jsonl
    [[ $output == *'| `vectorAdd [32]` | \~100 % | 2 of 20000 | 65.00 us |'* ]]
    # One launch, and none.
    cat header launch >one.jsonl
    run "$gpuprof" report --print markdown one.jsonl
    [[ $output == *$'\n'"- 1 kernel launch, 1 measured"* ]]
    run "$gpuprof" report --print markdown header
    [[ $output == *$'\n'"- 0 kernel launches, 0 measured"* ]]
    [[ $output != *"###"* ]]
}

@test "a program of short launches, nearly all left out by the limit, names its bound and the changes" {
    python3 "$BATS_TEST_DIRNAME/make_limited_profile.py" >limited.jsonl
    run "$gpuprof" report limited.jsonl
    [ "$status" -eq 0 ]
    # Launches without a time are those of kernels without one, and all time has a bound.
    [[ $(flat) == *"the GPU ran kernels in at least ~5.60 % of it (4000 launches have no time)"* ]]
    [[ $(flat) == *"Time bound by: 64.3 % not known, 35.7 % launch overhead Kernels of:"* ]]
    [[ $(flat) == *"Host: the GPU rests most of the time, so the bound is the host, or copies, and not the kernels: 20000 launches"* ]]
    # The first advice is on that, in the run's time; the others are shares of a small part of it.
    [[ $output == *"of the whole GPU time (~7.00 % of the run)"$'\n'"1. up to 93.0 % of the run: the program (host_launches)"* ]]
    [[ $output != *launch_overhead* ]]
    [[ $(flat) == *"2. up to 43 %: 2 kernels (tensor_fills) vectorized_elementwise_kernel<FillFunctor<long>> [128] up to 22 %, vectorized_elementwise_kernel<FillFunctor<float>> [128] up to 22 %: PyTorch fills"* ]]
    [[ $output != *separate_elementwise* ]]
    # Why so little is known, once each, and whole.
    [[ $output == *"not known, -: the limit left out all launches; 'Limit' says which one measures them"* ]]
    [[ $output != *"bound_tensor"* ]]
    [[ $(flat) == *"3 launches of vectorized_elementwise_kernel<...> and 2 more kernels: left out by the limit to the time that measuring adds (GPUPROF_OVERHEAD) More:"* ]]
    # A grid of which no launch was timed has no line, and no time in JSON.
    [[ $output != *"of these, grid 64"* ]]
    "$gpuprof" report --print json limited.jsonl >json
    [ "$(jq -c '[.profiles[0].kernels[] | select(.grids == 2) | .configurations[].seconds | if . then 1e6 * . | round else . end]' json)" = "[8000,null]" ]
    "$gpuprof" report --print markdown limited.jsonl >markdown
    grep -q '^2\. \*\*up to 43 % of the GPU time\*\*: `[^`]*FillFunctor<long>[^`]*` up to 22 %, `[^`]*FillFunctor<float>[^`]*` up to 22 % (tensor_fills)$' markdown
    grep -q 'then `gpuprof report limited.jsonl AFTER.jsonl`: how long each ran (`Program`)$' markdown
    # The occupancy that fits is known without a measurement.
    grep -q '^| `nvjet_.*| - of 1.00 |' markdown
}

@test "the details name kernels of one reason together, and no reason that there is not" {
    for i in {1..50}; do
        sed "s/9vectorAdd/4k$((100 + i))/; s/\"passes\":2/\"passes\":0,\"skipped\":\"some words\",\"cause\":\"in-capture\"/" launch
    done >many
    cat header launch many >many.jsonl
    run "$gpuprof" report --details many.jsonl
    [[ $(flat) == *" k101, 1 launch; "*"; 42 more kernels, 42 launches: some words"* ]]
    [[ $output != *"further reasons"* ]]
}

@test "the doubt of a mean is said in few digits" {
    echo '{"type":"count","kernel":"_Z9vectorAddPKfS0_Pfi","device":0,"grid":[524288,1,1],"block":[32,1,1],"launches":1000}' >count
    { cat header; sed 's/65000.0/1.0/' launch; sed 's/65000.0/1e6/' launch; cat count; } >two.jsonl
    run "$gpuprof" report --details two.jsonl
    [[ $(grep ' duration ' <<<"$output") == *"±>1000%" ]]
    # Equal values, summed up, differ in their last digits.
    { cat header; for i in {1..3}; do sed 's/134217728.0/0.1/' launch; done; cat count; } >three.jsonl
    run "$gpuprof" report --details three.jsonl
    [[ $(grep ' dram_read_bytes ' <<<"$output") == *"±0%" ]]
    [[ $output != *e-* ]]
}

@test "Markdown keeps to its limit in bytes" {
    for i in {1..40}; do sed "s/_Z9vectorAddPKfS0_Pfi/_Z8kernel${i}0i/" launch; done >many
    cat header many >many.jsonl
    for most in 1000 1500 2500; do
        "$gpuprof" report --print markdown --max-bytes $most many.jsonl >cut.md
        [ "$(stat -c %s cut.md)" -le $most ]
        [ "$(stat -c %s cut.md)" -gt $((most / 2)) ]
        [ "$(tail -1 cut.md)" = "_More would exceed the limit of the text._" ]
    done
    # Several profiles share it.
    "$gpuprof" report --print markdown --max-bytes 2600 many.jsonl many.jsonl >cut.md
    [ "$(stat -c %s cut.md)" -le 2600 ]
    [ "$(grep -c '^## gpuprof' cut.md)" -eq 2 ]
    run "$gpuprof" report --print markdown --max-bytes 2000 many.jsonl many.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --max-bytes: too few for 2 reports; each takes 1000" ]
    run "$gpuprof" report --print markdown --max-bytes 100000 many.jsonl
    [[ $output != *"exceed the limit"* ]]
    run "$gpuprof" report --max-bytes 2000 good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --max-bytes goes with --print markdown" ]
    for most in 999 -1 1k ''; do
        run "$gpuprof" report --print markdown --max-bytes "$most" good.jsonl
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: --max-bytes: '$most' is no number of bytes from 1000 on" ]
    done
}

@test "--anonymous names no command line, host or folder in any view" {
    profile_with_lines
    mkdir -p secret/folder
    { sed "s/_Z9vectorAddPKfS0_Pfi/$kernel/" launch
      echo '{"type":"remark","text":"/srv/somebody/x.so: FLOP/byte, a / b","list":["at /opt/hidden/y.c:12"]}'
      echo '{"type":"launch","broken'; } >>lines.jsonl
    mv lines.jsonl secret/folder/run.jsonl
    local hidden='node1|\./app|-n 5|secret|folder|/srv|somebody|/opt|hidden|tests/linez' view
    for view in summary times metrics trace json side launches markdown; do
        run --separate-stderr "$gpuprof" report --print $view --anonymous secret/folder/run.jsonl
        [ "$status" -le 1 ]
        [ -n "$output" ]
        if grep -aE -- "$hidden" <<<"$output"; then false; fi
        # The pattern would find them.
        echo "$view"
        [[ $view == trace || $view == side ]] || "$gpuprof" report --print $view secret/folder/run.jsonl 2>/dev/null | grep -aqE -- "$hidden"
    done
    run "$gpuprof" report --print launches --anonymous secret/folder/run.jsonl
    [[ $output == *'"text":"x.so: FLOP/byte, a / b","list":["at y.c:12"]'* ]]
    [[ $output != *'"cubin"'* ]]
    run --separate-stderr "$gpuprof" report --anonymous secret/folder/run.jsonl
    [[ ${lines[0]} == "run.jsonl (process 77, 2026-01-02T03:04:05Z, gpuprof 0.1.0)" ]]
    "$gpuprof" report --html - secret/folder/run.jsonl 2>/dev/null >page.html || [ -s page.html ] || skip "no Chart.js"
    grep -aqE 'node1.*|tests/linez' page.html
    run --separate-stderr "$gpuprof" report --html - --anonymous secret/folder/run.jsonl
    [[ $output == *'"file":"lines.cu"'* ]]
    if grep -aE -- 'node1|\./app|secret|/opt/hidden|tests/linez' <<<"$output"; then false; fi
}
