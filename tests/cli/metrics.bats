#!/usr/bin/env bats
# `gpuprof metrics`, and counters by their own names. Questions to CUPTI's host library, which needs no
# GPU, go to the simulated one here, and to the real one where there is one.

load ../inherited

setup() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR
    export LD_LIBRARY_PATH=$GPUPROF_BUILD/sim GPUPROF_CUPTI=$GPUPROF_BUILD/sim/libcupti.so.13
}

# real_cupti: from here on the toolkit's own library, which knows all chips.
real_cupti() {
    local wheels=$BATS_TEST_DIRNAME/../../build/cuda
    unset LD_LIBRARY_PATH GPUPROF_CUPTI
    [ ! -e "$wheels/lib/libcupti.so.13" ] || export CUDA_HOME=$wheels
    "$gpuprof" metrics --chip GH100 --passes duration >/dev/null 2>&1 || skip "there is no libcupti"
}

@test "one metric is explained: meaning, formula, source, counters, passes" {
    run "$gpuprof" metrics gld_efficiency
    [ "$status" -eq 0 ]
    [[ $output == *"gld_efficiency (%), default"* ]]
    [[ $output == *"= smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct, where not 0: gld_transactions"* ]]
    [[ $output == *"counters: smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct,"* ]]
    [[ $output == *"passes on GH100: 1 of instrumented code"* ]]
}

@test "our own counters are of every chip" {
    run "$gpuprof" metrics flop_count_tensor_bf16
    [[ $output == *"counters: gpuprof__sass_ops_tensor_src_bf16.sum"$'\n'* ]]
    run "$gpuprof" --metrics gpuprof__sass_ops_tensor_src_bf16.sum sh -c 'echo $GPUPROF_METRICS'
    [ "$output" = gpuprof__sass_ops_tensor_src_bf16.sum ]
}

@test "a metric that no present chip has is explained, with the nearest, and refused before the program starts" {
    run "$gpuprof" metrics nc_gld_efficiency
    [ "$status" -eq 0 ]
    [[ $output == *"absent: there is no read-only cache apart from L1"*"the nearest is gld_efficiency"* ]]
    run "$gpuprof" --metrics nc_gld_efficiency touch "$BATS_TEST_TMPDIR/started"
    [ "$status" -eq 2 ]
    [ ! -e "$BATS_TEST_TMPDIR/started" ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "the list has every class, and the sets" {
    run "$gpuprof" metrics
    for class in memory instructions stalls event absent "speed of light" sets; do
        [[ $output == *$'\n'"$class"$'\n'* ]]
    done
    [[ $output == *"  paper "* ]]
}

@test "the reference has every metric and set, and is the same for every user and machine" {
    run "$gpuprof" metrics --markdown
    [ "$status" -eq 0 ]
    reference=$output
    listed=$("$gpuprof" metrics | sed -nE 's/^  ([a-z0-9_]+) .*/\1/p' | sort -u)
    [ "$(wc -l <<<"$listed")" -gt 150 ]
    described=$(sed -nE 's/^### ([a-z0-9_]+)$/\1/p; s/^\| ([a-z0-9_]+)[: ].*/\1/p' <<<"$reference" | sort -u)
    [ "$(comm -23 <(echo "$listed") <(echo "$described"))" = "" ]
    grep -qx -- '- compute capability 3.5, 6.0: `.*`' <<<"$reference"
    mkdir -p "$XDG_CONFIG_HOME/empty"
    unset LD_LIBRARY_PATH
    [ "$(XDG_CONFIG_HOME=$XDG_CONFIG_HOME/empty GPUPROF_CUPTI=/nonexistent "$gpuprof" metrics --markdown)" = "$reference" ]
}

@test "--passes says how often a kernel runs, for each set and for named metrics" {
    run "$gpuprof" metrics --passes
    [ "$status" -eq 0 ]
    [[ $output == "runs of a kernel on GH100"* ]]
    [[ $output == *$'\n'"default             1            1"* ]]
    [[ $output == *$'\n'"launch              1            0"* ]]
    run "$gpuprof" metrics --passes ipc gld_efficiency
    [[ $output == *$'\n'"together            1            1        2" ]]
    # The configuration that counts the one counts nothing of the other.
    real_cupti
    run "$gpuprof" metrics --chip GH100 --passes flops pcie_total_data_received
    [[ $output == *$'\n'"together            1            1        1"$'\n'"NVLink, PCIe        1            0        1"$'\n'* ]]
    [[ $output == *"NVLink's and PCIe's counters are counted with no others: ask for these metrics in a run of their own." ]]
    run "$gpuprof" metrics --chip GH100 --passes pcie_total_data_received
    [[ $output == *$'\n'"pcie_total_data_received        1            0        1" ]]
}

@test "--rules lists rules with their files, and the values that they may name" {
    mkdir -p "$XDG_CONFIG_HOME/gpuprof/rules"
    printf '[latency]\nuse = no\n[mine]\ncondition = share > 0.5\nevidence = e\ntext = t\nestimate = headroom\n' \
        >"$XDG_CONFIG_HOME/gpuprof/rules/mine.ini"
    run "$gpuprof" metrics --rules
    [ "$status" -eq 0 ]
    [[ $output == *$'\n'"  latency "*"/rules/mine.ini, line 1; switched off"$'\n'* ]]
    [[ $output == *$'\n'"  mine "*"/rules/mine.ini, line 3; bound by: any"* ]]
    [[ $output == *$'\n'"  close_dram "*"'DRAM'"*" 0.9 of its peak"$'\n'* ]]
    [ "$(awk 'length > 120' <<<"$output")" = "" ]
    # Each value that a shipped rule names is a metric, a fact, or in this list.
    grep -hoE '\b(lines_[a-z_0-9]+|close_[a-z0-9]+|headroom|closeness|busiest|short_[a-z_]+|gpu_seconds|is_library)\b' \
        "$BATS_TEST_DIRNAME"/../../metrics/rules/*.ini | grep -v '^lines_if$' | sort -u >"$BATS_TEST_TMPDIR/named"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/named")" -gt 20 ]
    while read -r name; do [[ $output == *$'\n'"  $name "* ]]; done <"$BATS_TEST_TMPDIR/named"
    run "$gpuprof" metrics headroom duration
    [ "$status" -eq 0 ]
    [[ $output == *"headroom, a value for rules of advice"*"1 - closeness"*"duration (s), default"* ]]
}

@test "a set that is named like a metric is dropped, and said" {
    mkdir -p "$XDG_CONFIG_HOME/gpuprof"
    printf '[set gld_efficiency]\nmetrics = flops\n' >"$XDG_CONFIG_HOME/gpuprof/mine.ini"
    run "$gpuprof" metrics gld_efficiency
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == *"mine.ini:1: set gld_efficiency: there is a metric of this name; give the set another one" ]]
    [[ $output == *"global load bytes"* ]]
}

@test "the set of a user's own file" {
    mkdir -p "$BATS_TEST_TMPDIR/gpuprof"
    printf '[set mine]\ndescription = my own\nmetrics = ipc, dram__bytes_read.sum\n' \
        >"$BATS_TEST_TMPDIR/gpuprof/mine.ini"
    run "$gpuprof" metrics --passes mine
    [[ $output == *$'\n'"mine                1            0        2" ]]
    printf '[set mine]\nmetrics = ipcc\n' >"$BATS_TEST_TMPDIR/gpuprof/mine.ini"
    run "$gpuprof" metrics ipc
    [[ $output == *"gpuprof/mine.ini:1: set mine: there is no metric 'ipcc'; did you mean ipc?"* ]]
}

@test "a counter that the GPU does not have is reported before the program starts" {
    run "$gpuprof" --metrics dram__bytes_reed.sum touch "$BATS_TEST_TMPDIR/started"
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: --metrics: GH100 has no counter 'dram__bytes_reed.sum'"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/started" ]
}

@test "real CUPTI: near names and ends, patterns, chips" {
    real_cupti
    run "$gpuprof" --chip GH100 --metrics dram__bytes_reed.sum true
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --metrics: GH100 has no counter 'dram__bytes_reed.sum'; did you mean dram__bytes_read.sum?" ]
    run "$gpuprof" --chip GH100 --metrics dram__bytes_read true
    [ "$status" -eq 2 ]
    [[ $output == *"; dram__bytes_read ends in one of .avg, "* ]]
    run "$gpuprof" --chip GH100 --metrics 'ipc,smsp__warps_issue_stalled_b*,dram__bytes_r*.sum' sh -c 'echo $GPUPROF_METRICS'
    [ "$output" = "ipc,smsp__warps_issue_stalled_barrier.sum,smsp__warps_issue_stalled_branch_resolving.sum,dram__bytes_read.sum" ]
    run "$gpuprof" --chip GH100 --metrics 'nothing__like_it*' true
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --metrics: 'nothing__like_it*': no counter of the chip fits it" ]
    run "$gpuprof" --chip GH100 --metrics 'sm*' true
    [ "$status" -eq 2 ]
    run "$gpuprof" --chip GB202 --metrics dram__bytes_read.sum true
    [ "$status" -eq 2 ]
    run "$gpuprof" metrics --chip GB202 dram_read_bytes
    [[ $output == *"= dram__bytes_op_read.sum"* ]]
    run "$gpuprof" metrics --chip GH10 ipc
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --chip: there is no chip 'GH10'; did you mean GH100?" ]
}

@test "without CUPTI counters are taken at their word, patterns are not" {
    export GPUPROF_CUPTI=/nonexistent
    run "$gpuprof" --metrics dram__bytes_read.sum sh -c 'echo $GPUPROF_METRICS'
    [ "$output" = "dram__bytes_read.sum" ]
    run "$gpuprof" --metrics 'dram__bytes_*' true
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: --metrics: 'dram__bytes_*': the file GPUPROF_CUPTI names cannot be loaded"* ]]
    run "$gpuprof" metrics ipc
    [ "$status" -eq 0 ]
    run "$gpuprof" metrics --passes
    [ "$status" -eq 1 ]
}

@test "docs/report.md says the weight of each ratio of the default set" {
    cd "$BATS_TEST_TMPDIR"
    "$gpuprof" metrics --cc 9.0 default 2>/dev/null | awk '
        /^[a-z0-9_]+ \(/ { name = $1 }
        /^    mean of several launches weighted by: / { sub(/^[^:]*: /, ""); print "| `" name "` | " (/^time$/ ? $0 : "`" $0 "`") " |" }' |
        grep -v "| .launches. |" | sort >defined # amounts
    [ "$(wc -l <defined)" -gt 30 ]
    sed -n '/^| ratio of the default set | weight |/,/^$/p' "$BATS_TEST_DIRNAME/../../docs/report.md" | tail -n +3 | sed '/^$/d' | sort >written
    diff defined written
}
