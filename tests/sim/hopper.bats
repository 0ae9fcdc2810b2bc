#!/usr/bin/env bats
# The whole tool on the simulated Hopper: whole programs, found and called in every way, the metrics
# computed from the addresses they touch, and everything that can go wrong.

load common

# ---- the program never notices -------------------------------------------------------------------

@test "a program linked with the driver computes the same" {
    same_with_and_without "$programs/snippets_linked"
    [ "$(measured)" -gt 0 ]
}

@test "a program that opens the driver itself computes the same" {
    same_with_and_without "$programs/snippets_dlopen"
    [ "$(measured)" -gt 0 ]
}

@test "a program that asks cuGetProcAddress, as the CUDA runtime does, computes the same" {
    same_with_and_without "$programs/snippets_getproc"
    [ "$(measured)" -gt 0 ]
}

@test "kernels that update in place, count and keep state are replayed from the right memory" {
    for passes in "" 5 12; do
        GPUSIM_PASSES=$passes same_with_and_without "$programs/snippets_linked" in_place globals \
            managed managed_global pinned atomics histogram
        [ "$(measured)" -gt 0 ]
        grep -q '"passes":'$((${passes:-2} + 1)) "$profile"
    done
}

@test "these very programs notice when a restore does nothing" {
    for snippet in in_place globals managed_global atomics; do
        run env GPUSIM_FAULTS=badrestore GPUPROF_LOG="$log" \
            LD_PRELOAD="$preload" "$programs/snippets_linked" "$snippet"
        [ "$status" -ne 0 ] || { echo "$snippet did not notice"; false; }
    done
}

@test "asynchronous memory, streams, libraries, cooperative launches: the same" {
    same_with_and_without "$programs/snippets_linked" async_memory streams library cooperative
    [ "$(measured)" -gt 0 ]
}

@test "a graph is captured undisturbed, and its kernels are measured when it is launched" {
    same_with_and_without "$programs/snippets_linked" graph
    [ "$(measured scale_in_place)" -eq 6 ]
}

# ---- the paper's tables, on sectors of 32 bytes --------------------------------------------------

# bats test_tags=values
@test "matrix add by rows and columns" {
    for block in 32x32 32x16; do
        profiled "$programs/snippets_linked" --size 256 --block $block matrix_row matrix_column
        is matrix_add_row gld_efficiency "100 %"
        is matrix_add_row gst_efficiency "100 %"
        is matrix_add_column gld_efficiency "12.5 %"
        is matrix_add_column gst_efficiency "12.5 %"
    done
    profiled "$programs/snippets_linked" --size 256 --block 16x16 matrix_row matrix_column
    is matrix_add_row gld_efficiency "100 %"
    is matrix_add_column gld_efficiency "25.0 %"
    is matrix_add_column gst_efficiency "25.0 %"
}

# bats test_tags=values
@test "an offset of 11 floats" {
    GPUPROF_TIMEOUT=60 profiled "$programs/snippets_linked" --size 131072 --offset 11 --block 512 read_offset write_offset
    is read_offset gld_efficiency "80.0 %"
    is read_offset gst_efficiency "100 %"
    is write_offset gld_efficiency "100 %"
    is write_offset gst_efficiency "80.0 %"
    GPUPROF_TIMEOUT=60 profiled "$programs/snippets_linked" --offset 128 --block 512 read_offset
    is read_offset gld_efficiency "100 %"
}

# bats test_tags=values
@test "an array of structs against a struct of arrays" {
    profiled "$programs/snippets_linked" structs_aos structs_soa
    is structs_aos gld_efficiency "50.0 %"
    is structs_aos gst_efficiency "50.0 %"
    is structs_soa gld_efficiency "100 %"
    is structs_soa gst_efficiency "100 %"
}

# bats test_tags=values
@test "the theoretical occupancy of blocks of 32 is half" {
    profiled "$programs/snippets_linked" --block 32 vector_add
    is vector_add theoretical_occupancy 0.500
    profiled "$programs/snippets_linked" --block 64 vector_add
    is vector_add theoretical_occupancy 1.00
}

# bats test_tags=values
@test "bank conflicts show, and padding removes them" {
    profiled "$programs/snippets_linked" transpose_shared transpose_padded transpose_naive
    [ "$(metric transpose_shared shared_efficiency)" != "100 %" ]
    is transpose_padded shared_efficiency "100 %"
    is transpose_naive shared_efficiency absent
}

# bats test_tags=values
@test "divergence and predication show" {
    profiled "$programs/snippets_linked" one_lane predicated sum_neighbours sum_interleaved
    [ "$(metric one_lane warp_execution_efficiency | cut -d. -f1)" -lt 60 ]
    whole() { metric "$1" "$2" | sed 's/[. ].*//'; }
    nonpred=$(whole predicated warp_nonpred_execution_efficiency)
    all=$(whole predicated warp_execution_efficiency)
    [ "$nonpred" -lt "$all" ]
    neighbours=$(whole sum_neighbours warp_execution_efficiency)
    interleaved=$(whole sum_interleaved warp_execution_efficiency)
    [ "$neighbours" -lt "$interleaved" ]
}

# bats test_tags=values
@test "operations are counted by precision, tensor work apart" {
    profiled "$programs/snippets_linked" flops_float flops_double flops_half tensor
    for kind in float:sp double:dp half:hp; do
        for other in sp dp hp; do
            value=$(metric "flops_${kind%:*}" flop_count_$other)
            if [ $other = "${kind#*:}" ]; then [ "$value" -gt 0 ]; else [ "$value" = 0 ]; fi
        done
    done
    is tensor_work flop_count_sp 0
    [ "$(metric tensor_work tensor_utilization)" != 0 ]
}

# 2048 threads, 8 rounds.
# bats test_tags=values
@test "constants that half precision moves are in its counters, and no operations" {
    profiled "$programs/snippets_linked" flops_constant flops_half
    is flops_constant flop_count_sp $((2048 * 8))
    is flops_constant flop_count_hp $((2 * 2048 * 8))
    is flops_constant half_operations 0
    [ "$(metric flops_constant bound_fp16)" != 0 ] # their pipe works all the same
    is flops_half half_operations $((4 * 2048 * 8))
    # Profiles of earlier versions do not say it.
    sed -i 's/"no_half_arithmetic":1,//' "$profile"
    is flops_constant half_operations $((2 * 2048 * 8))
}

# 2048 threads, 8 rounds, each of which multiplies 16 x 8 x 16 numbers for a warp.
# bats test_tags=values
@test "operations of the tensor cores are counted from how often their instructions ran" {
    for metrics in default flop_count_tensor,flop_count_tensor_fp16; do
        GPUPROF_METRICS=$metrics profiled "$programs/snippets_linked" tensor flops_float tensor
        is tensor_work flop_count_tensor $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
        is tensor_work flop_count_tensor_fp16 $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
        is flops_float flop_count_tensor 0
        [ "$(measured)" -eq 3 ]
    done
    [ "$(metric tensor_work flops)" = absent ] # not asked for: there is no duration
    GPUPROF_METRICS=flops,flops_without_tensor,flop_utilization profiled "$programs/snippets_linked" tensor
    [[ $(metric tensor_work flops) == *"FLOP/s" ]]
    is tensor_work flops_without_tensor "0 FLOP/s"
}

# bats test_tags=values
@test "they are counted as well where the hardware's counters are busy" {
    GPUSIM_FAULTS=busy GPUPROF_METRICS=flop_count_tensor profiled "$programs/snippets_linked" tensor
    is tensor_work flop_count_tensor $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
}

# bats test_tags=values
@test "where instructions cannot be counted the hardware says that the tensor cores rested" {
    for kernel in flops_float tensor; do
        GPUPROF_REPLAY=off GPUPROF_METRICS=flop_count_tensor,tensor_utilization \
            profiled "$programs/snippets_linked" $kernel $kernel $kernel $kernel $kernel $kernel
        cp "$profile" "$profile.$kernel"
    done
    [[ $(profile=$profile.flops_float metric flops_float flop_count_tensor) == "0 "* ]]
    [ "$(profile=$profile.tensor metric tensor_work flop_count_tensor)" = absent ]
}

# bats test_tags=values
@test "in nvprof's sense each thread's bytes count" {
    GPUPROF_METRICS=gld_efficiency,gld_efficiency_nvprof,gst_efficiency_nvprof \
        profiled "$programs/snippets_linked" vector_add matrix_column
    is vector_add gld_efficiency_nvprof "100 %"
    is vector_add gst_efficiency_nvprof "100 %"
    is matrix_add_column gld_efficiency_nvprof "12.5 %"
    # However long instrumented code took before: no other pass counts these.
    GPUSIM_FAULTS=slowflush GPUPROF_METRICS=gld_efficiency,gst_efficiency_nvprof \
        profiled "$programs/snippets_linked" vector_add matrix_column
    is matrix_add_column gst_efficiency_nvprof "12.5 %"
}

# bats test_tags=values
@test "a kernel that asks nothing of L1 has no hit rate there" {
    GPUPROF_METRICS=tex_cache_hit_rate profiled "$programs/snippets_linked" nothing vector_add
    is noop tex_cache_hit_rate absent
    is vector_add tex_cache_hit_rate "0 %"
    "$GPUPROF_BUILD/gpuprof" report --details --metrics tex_cache_hit_rate "$profile" |
        grep -q "does not apply: l1tex__t_sectors.sum is 0"
}

# ---- settings of the user ------------------------------------------------------------------------

@test "the report says that the GPU is simulated" {
    profiled "$programs/snippets_linked" vector_add
    grep -q "Simulated GPU: these numbers are computed by a model, not measured." "$log"
}

@test "only the kernels asked for are measured" {
    export GPUPROF_KERNELS='^vector'
    same_with_and_without "$programs/snippets_linked" vector_add in_place
    [ "$(measured vector_add)" -eq 1 ]
    [ "$(measured scale_in_place)" -eq 0 ]
}

@test "only the metrics asked for are counted" {
    export GPUPROF_METRICS=duration
    profiled "$programs/snippets_linked" vector_add
    grep -q gpu__time_duration "$profile"
    [ "$(grep -c __sass_ "$profile")" -eq 0 ]
}

@test "a metric that needs no counter needs no pass" {
    export GPUPROF_METRICS=theoretical_occupancy
    profiled "$programs/snippets_linked" vector_add
    grep -q '"passes":1,' "$profile"
    is vector_add theoretical_occupancy 1.00
}

@test "a bad setting is one line that names the mistake, and the default holds" {
    GPUPROF_KERNELS='[' GPUPROF_CACHE=warm GPUPROF_TIMEOUT=soon GPUPROF_VERIFY=never \
        GPUPROF_MEMORY=lots GPUPROF_METRICS=gld_eficiency \
        profiled "$programs/snippets_linked" vector_add
    grep -q 'GPUPROF_KERNELS=\[' "$log"
    grep -q 'GPUPROF_CACHE=warm' "$log"
    grep -q 'GPUPROF_TIMEOUT=soon' "$log"
    grep -q 'GPUPROF_VERIFY=never' "$log"
    grep -q 'GPUPROF_MEMORY=lots' "$log"
    grep -q 'gld_efficiency' "$log"
    [ "$(measured)" -gt 0 ]
}

# said TEXT: one line of the log names the setting, and this is its text.
said() {
    [ "$(grep -c '^gpuprof: .*GPUPROF_' "$log")" -eq 1 ] && grep -q "^gpuprof: $1" "$log" || {
        head -3 "$log"
        false
    }
}

@test "sizes, shares and times: each form is taken, anything else is one line" {
    for right in 10% 100% 64K 4G 1048576; do
        GPUPROF_MEMORY=$right profiled "$programs/snippets_linked" in_place
        [ "$(grep -c '^gpuprof: GPUPROF_' "$log")" -eq 0 ]
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    done
    # One byte is a size, too.
    GPUPROF_MEMORY=1 same_with_and_without "$programs/snippets_linked" in_place
    [ "$(grep -c '^gpuprof: GPUPROF_' "$log")" -eq 0 ]
    grep -q '"skipped":"the launch.s memory ([0-9.]* [kMG]*B) is more than GPUPROF_MEMORY allows (1 bytes)' "$profile"
    for wrong in 0 -1 -10% 0% 101% 10%% nonsense 4GB 1.5G 99999999999999999999 99999999999G; do
        GPUPROF_MEMORY=$wrong profiled "$programs/snippets_linked" in_place
        said "GPUPROF_MEMORY=$wrong: not a size such as 512M or 4G, nor a share such as 10%, from 1% to 100%; it is 25%"
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    done
    for wrong in 0 -1 soon 5s nan inf 3601; do
        GPUPROF_TIMEOUT=$wrong profiled "$programs/snippets_linked" vector_add
        said "GPUPROF_TIMEOUT=$wrong: not a number of seconds, more than 0 and at most 3600; it is 1"
        [ "$(measured)" -eq 1 ]
    done
}

@test "a selection that no kernel meets is one line" {
    GPUPROF_KERNELS=no_such profiled "$programs/snippets_linked" vector_add in_place
    said "'no_such' (--kernels, GPUPROF_KERNELS) matches no kernel that was launched"
    GPUPROF_KERNELS=vector profiled "$programs/snippets_linked" vector_add in_place
    [ "$(grep -c '^gpuprof: .*GPUPROF_' "$log")" -eq 0 ]
}

@test "a profile that cannot be written is one line, and the program runs" {
    run env GPUPROF_OUTPUT=/nowhere/at/all LD_PRELOAD="$preload" \
        "$programs/snippets_linked" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"GPUPROF_OUTPUT=/nowhere/at/all"* ]]
}

@test "a log that is the profile is one line, and messages go to standard error" {
    ln -s profile.jsonl "$BATS_TEST_TMPDIR/other"
    for name in "$profile" "$BATS_TEST_TMPDIR/./profile.jsonl" "$BATS_TEST_TMPDIR/other"; do
        rm -f "$profile"
        for case in new there; do
            GPUPROF_LOG=$name GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
                "$programs/snippets_linked" vector_add 2>"$log"
            line="gpuprof: GPUPROF_LOG=$name: GPUPROF_OUTPUT names the same file; messages go to standard error"
            [ "$(head -1 "$log")" = "$line" ]
            grep -q KERNELS "$log"
            [ "$(grep -vc '^[{[]' "$profile")" -eq 0 ]
            [ "$(measured)" -eq 1 ]
        done
    done
}

@test "a log or a profile in the program's own output leaves that whole" {
    cat >"$BATS_TEST_TMPDIR/twice" <<END
echo before
LD_PRELOAD=$preload "$programs/snippets_linked" vector_add 2>"$log"
echo after
END
    for setting in GPUPROF_LOG=/dev/stdout "GPUPROF_OUTPUT=$profile" "GPUPROF_LOG=$profile"; do
        env $setting bash "$BATS_TEST_TMPDIR/twice" >"$profile"
        [ "$(head -1 "$profile")" = before ]
        [ "$(tail -1 "$profile")" = after ]
        [ "$(grep -c '^vector_add: ' "$profile")" -eq 1 ]
        [ "$(grep -c '^gpuprof 0\|^{"type":"header"' "$profile")" -eq 1 ]
    done
    # Standard error, as programs have it that append to one file.
    echo before >"$log"
    GPUPROF_LOG=/dev/stderr LD_PRELOAD=$preload "$programs/snippets_linked" vector_add 2>>"$log"
    [ "$(head -1 "$log")" = before ]
    [ "$(grep -c '^gpuprof 0' "$log")" -eq 1 ]
    # Any other file is emptied.
    GPUPROF_LOG=$log LD_PRELOAD=$preload "$programs/snippets_linked" vector_add
    [ "$(grep -c before "$log")" -eq 0 ]
}

@test "the command does the same as LD_PRELOAD" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    run "$GPUPROF_BUILD/gpuprof" --metrics duration -o "$profile" "$programs/snippets_linked" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"vector_add: "* ]]
    [ "$(measured)" -eq 1 ]
}

@test "the command's relative names hold for a program that changes its folder" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the command does not know of sanitizers"
    cd "$BATS_TEST_TMPDIR"
    mkdir -p mine
    printf '[twice]\nformula = 2 * duration\n' >mine/my.ini
    GPUPROF_METRICS_PATH=mine GPUPROF_LOG=log GPUPROF_OUTPUT=profile.jsonl \
        "$GPUPROF_BUILD/gpuprof" --metrics twice bash -c "cd /; exec '$programs/snippets_linked' vector_add"
    grep -q " twice " "$log"
    [ "$(measured)" -eq 1 ]
}

# ---- memory that a kernel reaches--------------------------------------------------------------------

# saved: the bytes saved for each launch, each number once.
saved() {
    grep -o '"saved_bytes":[0-9]*' "$profile" | cut -d: -f2 | sort -n -u | tr '\n' ' '
}

@test "only memory that a kernel reaches is saved, by any way it comes there" {
    # Of two mappings side by side, which are 4 MB, launches save the half that their address begins, and its edge.
    for case in unaligned:4008 interior:4008 table:721208 host_table:721208 list:152 variable:152 \
        'neighbours:2113544 4194312'; do
        same_with_and_without "$programs/reach_linked" "${case%:*}"
        [ "$(saved)" = "${case#*:} " ] || { echo "$case: $(saved)"; false; }
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
        [ "$(measured)" -ge 5 ]
    done
}

@test "numbers side by side that are equal to a low address are no address" {
    if sanitized; then skip "the sanitizers have the low addresses"; fi
    GPUSIM_ADDRESSES=0x300000000 same_with_and_without "$programs/reach_linked" numbers
    [ "$(saved)" = "4008 " ]
    [ "$(measured)" -eq 5 ]
}

# compiled WHY: no launch has its operations on matrices, and the reason is said.
compiled() {
    same_with_and_without "$programs/reach_linked" compiled
    [ "$(measured)" -eq 5 ]
    [ "$(launches | grep -c "\"gpuprof__sass_ops_tensor_src_fp16.sum\":\"$1\"")" -gt 0 ]
    [ "$(launches | grep -c '"gpuprof__sass_ops_tensor_src_fp16.sum":[0-9]')" -eq 0 ]
}

@test "the machine code of PTX is had from the driver by way of CUPTI" {
    same_with_and_without "$programs/reach_linked" compiled
    [ "$(measured)" -eq 5 ]
    # Of four warps, three rounds of m16n8k16.
    [ "$(launches | grep -c "\"gpuprof__sass_ops_tensor_src_fp16.sum\":$((4 * 3 * 2 * 16 * 8 * 16))[.,}]")" -eq 5 ]
}

@test "the machine code of PTX that CUPTI does not give, or that is other code" {
    GPUSIM_FAULTS=nocubin compiled "the PTX of the kernel's module could not be compiled once more"
    GPUSIM_FAULTS=otherregisters \
        compiled "the machine code made of the PTX of the kernel's module is not that of the driver"
    GPUSIM_FAILS=cuptiEnableCallback@1+ compiled "the kernel's module has no machine code for this GPU, only PTX"
}

@test "these programs notice, too, when a restore does nothing" {
    for case in unaligned interior table host_table list variable neighbours; do
        run env GPUSIM_FAULTS=badrestore GPUPROF_LOG="$log" \
            LD_PRELOAD="$preload" "$programs/reach_linked" "$case"
        [ "$status" -ne 0 ] || { echo "$case did not notice"; false; }
    done
}

@test "a kernel that hides its pointer is found out, and then everything is saved for it" {
    same_with_and_without "$programs/reach_linked" hidden
    [ "$(grep -c '"skipped":"the kernel wrote memory that its parameters do not lead to"' "$profile")" -eq 1 ]
    [ "$(grep -c '"passes":[2345]' "$profile")" -eq 4 ]
    [ "$(saved)" = "8 1052584 " ]
}

@test "one that begins to do so later is found out where every launch is verified" {
    GPUPROF_VERIFY=always same_with_and_without "$programs/reach_linked" hidden_late
    [ "$(grep -c '"skipped":"the kernel wrote' "$profile")" -eq 1 ]
    [ "$(grep -c '"passes":[34]' "$profile")" -eq 8 ]
}

@test "one that begins to do so at its tenth launch, or with another grid, is found out" {
    # With an idle GPU, and behind work that takes far longer than was to be expected.
    for case in hidden_tenth hidden_behind hidden_grid; do
        same_with_and_without "$programs/reach_linked" $case
        [ "$(grep -c '"skipped":"the kernel wrote' "$profile")" -eq 1 ]
        [ "$(launches | tail -4 | grep -c '"saved_bytes":10525[0-9]*,')" -eq 4 ]
    done
}

@test "launches for which all memory was copied do not show that a kernel hides no pointer" {
    # The driver tells no parameters. A block of them is known by its size.
    GPUSIM_FAULTS=noparameters same_with_and_without "$programs/reach_linked" hidden_packed
    [ "$(grep -c '"skipped":"the kernel wrote memory that its parameters do not lead to"' "$profile")" -eq 1 ]
    # The first launch that has one is verified: all later ones are copied for whole.
    [ "$(grep -o '"saved_bytes":[0-9]*' "$profile" | sort | uniq -c | tr -s ' \n' ' ')" = \
        ' 9 "saved_bytes":1052584 1 "saved_bytes":8 ' ]
}

@test "parameters that the driver does not tell lead everywhere" {
    GPUSIM_FAULTS=noparameters same_with_and_without "$programs/reach_linked" unaligned hidden
    [ "$(saved)" = "1052584 " ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "an answer of our own kernels that cannot be right is not used" {
    for fault in index count; do
        GPUSIM_FAULTS=wronganswer=$fault same_with_and_without "$programs/reach_linked" table list interior
        grep -q '"skipped":"the answer of gpuprof.s own kernel cannot be right"' "$profile"
    done
}

@test "a parameter that points to the host's ordinary memory" {
    same_with_and_without "$programs/reach_linked" pageable
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    GPUSIM_FAULTS=pageable same_with_and_without "$programs/reach_linked" pageable interior
    [ "$(grep -c '"skipped":"a parameter points to host memory that is not page-locked"' "$profile")" -eq 5 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 5 ]
}

@test "more memory than the user allows: one clear reason, and the launch runs once" {
    GPUPROF_MEMORY=2K same_with_and_without "$programs/reach_linked" interior
    [ "$(grep -c 'skipped":"the launch.s memory (4.5 kB) is more than GPUPROF_MEMORY allows (2.0 kB)' "$profile")" -ge 5 ]
    grep -q "more than GPUPROF_MEMORY allows" "$log"
    GPUPROF_MEMORY=1M same_with_and_without "$programs/reach_linked" interior
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "four thousand buffers, with launches between" {
    same_with_and_without "$programs/reach_linked" several
    [ "$(measured)" -eq 8 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

# bats test_tags=long
@test "twenty thousand buffers, with launches between" {
    same_with_and_without "$programs/reach_linked" many
    [ "$(measured)" -eq 40 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

# ---- failures ------------------------------------------------------------------------------------

# alike COUNTxELEMENTS...: each launch has the sectors of its elements, or none where it was assumed alike
# by mistake: $lost says how many. Not to be called in $(): nothing would fail there.
alike() {
    same_with_and_without "$programs/alike_linked" "$@"
    for part; do
        for i in $(seq "${part%x*}"); do
            elements=${part#*x}
            echo $(((elements < 256 ? elements : 256) / 8)).0
        done
    done >"$profile.wanted"
    grep '"type":"launch"' "$profile" |
        sed 's/.*_pipe_lsu_mem_global_op_ld.sum":\("[^"]*"\|[0-9.]*\).*/\1/' >"$profile.found"
    [ "$(wc -l <"$profile.found")" -eq "$(wc -l <"$profile.wanted")" ]
    paste -d' ' "$profile.wanted" "$profile.found" >"$profile.both"
    awk '!/another kind/ && $1 != $2 { print "launch " NR ": sectors wanted, found: " $0; wrong = 1 }
        END { exit wrong }' "$profile.both"
    lost=$(grep -c 'another kind' "$profile.both" || true)
}

@test "launches are assumed alike, and one that is not has no counters of others" {
    # Of the kernel's parameters the number of elements has not changed before.
    alike 100x256 30x200 60x256
    [ "$lost" -eq 0 ]
    grep '"type":"launch"' "$profile" | grep '"passes":2,' | grep -q '"recalled":[12],'
    # One length after the other: most launches are as the others of the same length, and are not compared.
    both=$(for _ in $(seq 30); do echo 1x256 1x200; done)
    # Counters are as slow as on a GPU: else a pass that the machine holds up makes comparing too dear.
    # shellcheck disable=SC2086
    GPUSIM_FAULTS=slowcounters alike $both
    [ "$lost" -eq 0 ]
    [ "$(grep '"type":"launch"' "$profile" | grep '"passes":2,' | grep -c '"recalled":[12],')" -gt 40 ]
    # One pass that took long by chance does not decide for the rest.
    export GPUSIM_FAULTS=slowflush
    alike 400x256
    [ "$lost" -eq 0 ]
    grep '"type":"launch"' "$profile" | grep '"passes":2,' | grep -q '"recalled":[12],'
    unset GPUSIM_FAULTS
    # It has changed before, and nothing with it. Counters of the hardware show that in time.
    alike 40x256 40x300 40x200 40x256
    [ "$lost" -eq 0 ]
    grep '"type":"launch"' "$profile" | grep -q '"recalled":[12],'
    # At the launch it cannot be known: there each launch is compared.
    GPUPROF_REPLAY=now alike 40x256 40x300 40x200 40x256
    [ "$lost" -eq 0 ]
    export GPUPROF_VERIFY=always
    alike 40x256 40x300 40x200 40x256
    [ "$lost" -eq 0 ]
    [ "$(grep -c '"recalled":[12],' "$profile")" -eq 0 ]
}

# bats test_tags=time
@test "launches with asynchronous copies are alike although their sectors differ from run to run" {
    same_with_and_without "$programs/alike_linked" staged 40x256
    [ "$(measured scale_staged)" -eq 40 ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"recalled":[12],')" -gt 20 ]
    # The 300th is measured again: its bytes of these copies are others, and those behind it are alike all the same.
    same_with_and_without "$programs/alike_linked" staged 400x256
    [ "$(launches | grep -c '"recalled":0,')" -lt 10 ]
    # Other work is not alike all the same.
    same_with_and_without "$programs/alike_linked" staged 1x256 1x255
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"recalled":0,')" -eq 2 ]
}

@test "launches that swap values of shared memory have counts of launches with as many swaps" {
    instructions() { launches | grep -o '"smsp__inst_executed.sum":[0-9]*' | sed 's/.*://' | uniq -c | awk '{ printf "%s*%s ", $1, $2 }'; }
    same_with_and_without "$programs/alike_linked" swap all=1 300x256 all=50 5x256 all=1 300x256
    [ "$(instructions)" = "300*56 5*856 300*56 " ]
    [ "$(launches | grep -c '"recalled":[12],')" -gt 590 ]
    same_with_and_without "$programs/alike_linked" swap all=2 300x256 all=50 5x256 all=2 300x256
    [ "$(instructions)" = "300*88 5*856 300*88 " ]
    # Their instrumented counters are those of launches with as many, too: in the model each warp swaps in each round.
    [ "$(launches | grep -o 'inst_executed_op_shared_atom.sum":[0-9]*' | sed 's/.*://' | uniq -c | awk '{ printf "%s*%s ", $1, $2 }')" = \
        "300*16 5*400 300*16 " ]
    same_with_and_without "$programs/alike_linked" swap all=50 300x256 all=54 1x256 all=50 300x256
    [ "$(instructions)" = "300*856 1*920 300*856 " ]
    [ "$(launches | grep -c '"recalled":1,')" -gt 590 ]
    same_with_and_without "$programs/alike_linked" swap all=50 5x256 all=1 300x256 all=50 300x256
    [ "$(instructions)" = "5*856 300*56 300*856 " ]
    [ "$(launches | grep -c '"recalled":[12],')" -gt 590 ]
}

# bats test_tags=time
@test "launches that wait at barriers in memory are alike however often they ask" {
    same_with_and_without "$programs/alike_linked" awaited 100x256
    [ "$(measured scale_awaited)" -eq 100 ]
    # In bundles, whose sums differ by as much as all their launches may.
    [ "$(launches | grep -c '"recalled":2,')" -gt 80 ]
    [ "$(grep -c "not counted together any more" "$log")" -eq 0 ]
    # The 300th is measured again, and some that ask for very long; launches behind them are alike all the same.
    same_with_and_without "$programs/alike_linked" awaited 600x256
    [ "$(launches | grep -c '"recalled":0,')" -lt 20 ]
    # Other work is not alike, although its counts are near.
    same_with_and_without "$programs/alike_linked" awaited 1x256 1x255
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"recalled":0,')" -eq 2 ]
}

# one_with_more_is_seen: the 61st launch of 121 that ask has values of its own, and nearly all others have each other's.
one_with_more_is_seen() {
    same_with_and_without "$programs/alike_linked" turns 60x256x64 more 1x256x64 60x256x64 &&
        cmp "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out" || return 1
    launches | grep scale_asking >"$BATS_TEST_TMPDIR/turns"
    sed -n 61p "$BATS_TEST_TMPDIR/turns" | grep -q '"recalled":0,' &&
        [ "$(grep -c '"recalled":[12],' "$BATS_TEST_TMPDIR/turns")" -gt 100 ]
}

@test "launches that ask memory until others have come are alike if their work is the same" {
    # The first one has more to do by a number in memory, which no parameter shows, and each is drained before the next one.
    same_with_and_without "$programs/alike_linked" turns 1x256x64 awaited 300x256 turns 1x256x64 awaited 300x256 \
        turns 100x256x64
    [ "$(measured scale_asking)" -eq 102 ]
    launches | grep scale_asking >"$BATS_TEST_TMPDIR/turns"
    [ "$(grep -c '"recalled":[12],' "$BATS_TEST_TMPDIR/turns")" -gt 90 ]
    grep -o '"smsp__sass_inst_executed_op_global_ld.sum":[0-9]*' "$BATS_TEST_TMPDIR/turns" | cut -d: -f2 >"$BATS_TEST_TMPDIR/loads"
    sort -n "$BATS_TEST_TMPDIR/loads" | uniq -c
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/loads")" -gt 10000 ]
    [ "$(tail -n +2 "$BATS_TEST_TMPDIR/loads" | awk '$1 > 8600 && $1 < 9000' | wc -l)" -eq 101 ]
    # In one batch all of them are taken for the first one: their bundles are wrong, and others' are right all the same.
    same_with_and_without "$programs/alike_linked" turns 1x256x64 awaited 300x256 turns 100x256x64
    [ "$(grep -c "not counted together any more" "$log")" -eq 0 ]
    [ "$(launches | grep -c '"recalled":2,')" -gt 250 ]
    # One between others has 1.4 % more instructions, by a number in memory: too much for launches known by their work. On a
    # busy machine launches may ask so often that others are taken for them: one of three runs has to show it.
    one_with_more_is_seen || one_with_more_is_seen || one_with_more_is_seen
}

# bats test_tags=time
@test "where instrumented code takes long, some launches of each kind are counted in it" {
    # Each of 8 kinds of launches, four of each kind, is like none before, and takes 0.15 s for each pass of
    # instrumented code, and more on a busy machine. Ten times the longest wait, three seconds, is spent on that.
    launches=$(for n in 1 2 3 4; do seq -f "1x%g" $((32 * n)) 31 256; done)
    # shellcheck disable=SC2086
    GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/alike_linked" $launches
    [ "$(measured scale_in_place)" -eq "$(echo "$launches" | wc -l)" ]
    left_out=$(grep '"type":"launch"' "$profile" | grep -c 'counted in other launches: instrumented code takes long')
    [ "$left_out" -gt 0 ]
    [ "$left_out" -le 24 ]
    [ "$(grep -c "instrumented code has taken" "$log")" -eq 1 ]
    # Of 48 grids of one kernel those are left out that come after twice the time.
    # shellcheck disable=SC2046
    GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=0.05 same_with_and_without "$programs/alike_linked" $(seq -f 1x256x%g 1 48)
    left_out=$(grep '"type":"launch"' "$profile" | grep -c 'counted in other launches: instrumented code takes long')
    [ "$left_out" -gt 24 ]
    [ "$left_out" -lt 48 ]
    # Where every launch is to be verified there is no limit.
    # shellcheck disable=SC2086
    GPUPROF_VERIFY=always GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=0.1 \
        same_with_and_without "$programs/alike_linked" $(echo "$launches" | head -10)
    [ "$(grep -c 'instrumented code takes long' "$profile")" -eq 0 ]
    # Other kernels are counted all the same, once each.
    GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=0.01 same_with_and_without "$programs/snippets_linked" --launches 1
    [ "$(grep -c 'instrumented code takes long' "$profile")" -eq 0 ]
    grep -q "instrumented code" "$log" && false
    [ "$(grep '"type":"launch"' "$profile" | grep -vc '"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum":[0-9]')" -eq 0 ]
}

# bats test_tags=time
@test "launches that take turns keep to the time for instrumented code, too" {
    export GPUSIM_SLEEPS=$BATS_TEST_TMPDIR/sleeps
    GPUPROF_REPLAY=off GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/alike_linked" 100x256
    # Two seconds of 0.15 s each, of 28 turns.
    made=$(grep -c '^150' "$GPUSIM_SLEEPS")
    [ "$made" -ge 2 ]
    [ "$made" -le 14 ]
    [ "$(grep -c "instrumented code has taken" "$log")" -eq 1 ]
    left_out=$(grep '"type":"launch"' "$profile" | grep -c 'counted in other launches: instrumented code takes long')
    [ $((made + left_out)) -eq 28 ]
    # With enough of it no turn is left out.
    rm "$GPUSIM_SLEEPS"
    GPUPROF_REPLAY=off GPUSIM_FAULTS=slowcode GPUPROF_TIMEOUT=60 same_with_and_without "$programs/alike_linked" 100x256
    [ "$(grep -c '^150' "$GPUSIM_SLEEPS")" -eq 28 ]
}

# instrument ARGUMENT...: $instrumented is the number of passes of instrumented code that alike_linked takes,
# 0.15 s each.
instrument() {
    export GPUSIM_SLEEPS=$BATS_TEST_TMPDIR/sleeps
    rm -f "$GPUSIM_SLEEPS"
    GPUSIM_FAULTS=slowcode same_with_and_without "$programs/alike_linked" "$@"
    [ "$(grep -c "instrumented code has taken" "$log")" -eq 0 ]
    instrumented=$(grep -c '^150' "$GPUSIM_SLEEPS")
}

# bats test_tags=time
@test "launches that take long in instrumented code are drained together before their memory is freed" {
    # One by one each would be compared with those before it; in a batch check counters do that.
    instrument 100x256
    together=$instrumented
    instrument 40x256 free 20x256 free 20x256 free 20x256 free
    [ "$(measured scale_in_place)" -eq 100 ]
    echo "$instrumented passes, $together without a free"
    [ "$instrumented" -lt $((together + 20)) ]
}

@test "kernels of one name and other code have no counters of each other" {
    # Of the 256 threads each adds, or each multiplies. All else that is counted is the same.
    for metrics in default flop_count_sp_add,flop_count_sp_mul,inst_executed; do
        for steps in "add:40 multiply:40" "add:1 multiply:1" "add:3 unload multiply:3" "multiply:1 add:20 multiply:9"; do
            # shellcheck disable=SC2086
            GPUPROF_METRICS=$metrics same_with_and_without "$programs/one_name_linked" $steps
            for step in $steps; do
                [ "$step" = unload ] || yes "${step%:*}" | head -n "${step#*:}"
            done | sed 's/add/256.0 0.0/; s/multiply/0.0 256.0/' >"$profile.wanted"
            launches | sed 's/.*_op_fadd_pred_on.sum":\([0-9.]*\).*_op_fmul_pred_on.sum":\([0-9.]*\).*/\1 \2/' |
                diff "$profile.wanted" -
        done
    done
    # They are recalled all the same.
    [ "$(launches | grep -c '"recalled":[12],')" -gt 20 ]
    # The counts of their instructions are not added up either.
    profiled "$programs/one_name_linked" add:1 multiply:1
    [ "$(grep '"type":"instructions"' "$profile" | grep -c '"launches":1,')" -eq 2 ]
    [ "$(grep -c '"type":"cubin"' "$profile")" -eq 2 ]
}

@test "launches that are alike are counted together, or known by their fingerprints" {
    # Which of the two, the machine code says. Their times are their own.
    for word in ever ""; do
        # shellcheck disable=SC2086
        same_with_and_without "$programs/alike_linked" $word 250x256
        [ "$(measured)" -eq 250 ]
        [ "$(launches | grep -c '"recalled":2,')" -gt 220 ]
        [ "$(launches | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 250 ]
        [ "$(launches | grep -c '"gpu__time_duration.sum":[0-9]')" -eq 250 ]
    done
    "$GPUPROF_BUILD/gpuprof" report --details "$profile" | grep -q ", and the hardware's of 2[2-4][0-9], are those of"
    # With several passes of the hardware they cannot share a range.
    GPUSIM_PASSES=3 same_with_and_without "$programs/alike_linked" ever 100x256
    [ "$(launches | grep -c '"recalled":2,')" -eq 0 ]
    GPUPROF_VERIFY=always same_with_and_without "$programs/alike_linked" 20x256
    [ "$(launches | grep -c '"recalled":0,')" -eq 20 ]
}

@test "launches that differ in their lanes alone have no counters of each other" {
    # The first 79 launches add in each of 256 lanes, and enough is known of such a launch by then. The next ones
    # add in four lanes less each.
    same_with_and_without "$programs/alike_linked" until 120x256
    [ "$(measured add_until)" -eq 120 ]
    for k in $(seq 0 119); do
        echo $((k < 79 ? 256 : 256 - 4 * (k - 78))).0
    done >"$profile.wanted"
    launches | sed 's/.*_op_fadd_pred_on.sum":\("[^"]*"\|[0-9.]*\).*/\1/' | diff "$profile.wanted" -
    [ "$(launches | grep -c '"recalled":2,')" -gt 20 ]
}

@test "launches that find other data in the caches have no counters of each other" {
    # All of them execute the same instructions on as many sectors.
    # shellcheck disable=SC2046
    same_with_and_without "$programs/alike_linked" $(for _ in 1 2 3 4; do echo sum 20x256 twice 20x256; done)
    [ "$(measured vector_add_float)" -eq 160 ]
    for k in $(seq 0 159); do
        echo $((k / 20 % 2 ? 1024 : 2048)).0
    done >"$profile.wanted"
    launches | sed 's/.*"dram__bytes_read.sum":\("[^"]*"\|[0-9.]*\).*/\1/' | diff "$profile.wanted" -
    [ "$(launches | grep -c '"recalled":2,')" -gt 100 ]
}

@test "launches with another part of the L1 have no counters of the hardware of each other" {
    same_with_and_without "$programs/alike_linked" 60x256 carveout 60x256
    [ "$(launches | head -60 | grep -c '"recalled":2,')" -gt 40 ]
    [ "$(launches | tail -60 | grep -c '"recalled":2,')" -gt 40 ]
    [ "$(launches | tail -60 | grep -vc '"recalled":2,')" -ge 4 ]
}

@test "launches that reach as many sectors in other lines have no counters of each other" {
    same_with_and_without "$programs/alike_linked" 20x256 ahead 20x256
    [ "$(measured)" -eq 40 ]
    for k in $(seq 0 39); do
        echo $((k < 20 ? 16 : 32)).0
    done >"$profile.wanted"
    launches | sed 's/.*"smsp__sass_l1tex_tags_mem_global.sum":\("[^"]*"\|[0-9.]*\).*/\1/' | diff "$profile.wanted" -
}

@test "a fingerprint that cannot be taken is not that of other launches" {
    # Where launches are compared that were assumed to be alike.
    GPUSIM_FAILS=cuptiSassMetricsEnable@2+ alike 40x256 40x300 40x200 40x256 40x200
    [ "$lost" -eq 0 ]
}

@test "where a call of CUPTI fails while a batch is drained the counters have that reason" {
    for n in 2 11 14; do
        GPUSIM_FAILS=cuptiRangeProfilerPushRange@$n same_with_and_without "$programs/alike_linked" 60x256 ever 60x256
        grep -q '"cuptiRangeProfilerPushRange: CUPTI_ERROR_UNKNOWN"' "$profile"
        ! grep -e 'ended before it was read' -e 'counted nothing to divide by' "$profile" || false
    done
    # Its code is taken out of the kernels later, before their module goes.
    for n in 1 2; do
        GPUSIM_FAILS=cuptiSassMetricsDisable@$n same_with_and_without "$programs/alike_linked" 60x256 ever 60x256
        [ "$(measured)" -eq 120 ]
    done
}

@test "a launch whose counts are lost stands for no other" {
    GPUSIM_FAILS=cuptiRangeProfilerCounterDataGetRangeInfo@2 profiled "$programs/alike_linked" 250x256
    [ "$(launches | grep -c 'CUPTI dropped the launch.s counts')" -eq 1 ]
    [ "$(launches | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 249 ]
}

@test "counts that CUPTI drops are not those of a launch that had the range before" {
    # All of them are different: in the first round of the batch, and in later ones.
    launches=$(seq -f "1x%g" 100 399)
    for n in 40 100 150; do
        # shellcheck disable=SC2086
        GPUSIM_FAILS=cuptiRangeProfilerCounterDataGetRangeInfo@$n profiled "$programs/alike_linked" $launches
        [ "$(launches | grep -c 'CUPTI dropped the launch.s counts')" -eq 1 ]
        [ "$(launches | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 299 ]
    done
}

# drifted METRIC N PASSES: of 250 launches that are alike those from the Nth on have one more of it; a fingerprint
# does not tell their lanes. $taken says how many of these have the counters of another launch, $lost how many have lost them; PASSES
# is the passes in the profile of the launches that are counted.
drifted() {
    GPUSIM_DRIFT=$1@$2 profiled "$programs/alike_linked" ever 250x256
    launches | tail -n +"$2" | grep '"recalled":[12],' |
        grep -E "\"passes\":$3," >"$profile.drifted" || true
    lost=$(grep -c 'another kind' "$profile.drifted" || true)
    taken=$(grep -vc 'another kind' "$profile.drifted" || true)
}

# loses COUNTER FROM PASSES: launches that were recalled lose their counters, none takes others'. The launches
# that are compared depend on the cost of passes, hence on the other work of the machine: so one of three times.
loses() {
    for _ in 1 2 3; do
        drifted "$@"
        [ "$taken" -eq 0 ] || { echo "$1 from $2: $taken taken for others"; return 1; }
        [ "$lost" -eq 0 ] || return 0
    done
    echo "$1 from $2: no launch was recalled"
    return 1
}

# equals_to_the_digit COUNTER...
equals_to_the_digit() {
    local counter
    # A launch that is held is measured where the hardware does not confirm its fingerprint.
    for counter in "$@"; do
        drifted $counter.sum 80 '[0-9]*'
        [ "$lost" -eq 0 ]
        [ "$taken" -eq 0 ] || { echo "$counter: $taken taken for others"; false; }
        absent=$(launches | grep -vc '"smsp__sass_data_bytes_mem_global_op_ld.sum":[0-9]' || true)
        [ "$absent" -eq 0 ]
    done
    drifted l1tex__t_sectors.sum 80 2
    [ "$lost" -eq 0 ]
    [ "$taken" -eq 0 ]
    # At the launch the hardware's counters are not known, only the instructions.
    export GPUPROF_REPLAY=now
    for counter in "$@"; do
        loses $counter.sum 20 3
        # Once that is seen no launch is taken for another one any more.
        launches | tail -n 1 | grep -q '"smsp__sass_data_bytes_mem_global_op_ld.sum":[0-9]'
    done
}

@test "the check counters of a launch equal those of the one it is taken for, to the digit" {
    equals_to_the_digit smsp__thread_inst_executed
}

# bats test_tags=long
@test "the other check counters, too, equal those of the launch that one is taken for" {
    equals_to_the_digit smsp__inst_executed smsp__thread_inst_executed_pred_on
}

@test "a launch that is held has no counters of others before it is drained" {
    local early=
    # The last launch may drain all, where a second has just passed.
    for _ in 1 2 3; do
        rm -f "$profile"
        GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile LD_PRELOAD=$preload \
            "$programs/alike_linked" 100x256 kill 2>/dev/null || [ $? -eq 137 ]
        # Of the last launches there are early lines only, which become launches.
        early=$("$GPUPROF_BUILD/gpuprof" report --print launches "$profile" |
            grep 'the process ended before it was read' | grep '"passes":1,' || true)
        [ -z "$early" ] || break
    done
    [ -n "$early" ]
    [ "$(grep -c '"smsp__sass[a-z_]*\.[a-z]*":[0-9]' <<<"$early")" -eq 0 ]
}

@test "a kernel's time is without that of the events around it" {
    # Each event takes 20 ms: as a duration that would be seen.
    GPUSIM_FAULTS=slowmarks profiled "$programs/snippets_linked" --launches 3 in_place
    times=$(grep '"type":"launch"' "$profile" | sed 's/.*"gpu__time_duration.sum":\([0-9]*\).*/\1/')
    [ "$(wc -l <<<"$times")" -eq 3 ]
    for time in $times; do
        [ "$time" -gt 0 ]
        [ "$time" -lt 12000000 ]
    done
}

# profiler CALL: how often the Range Profiler did that.
profiler() {
    grep -c "^$1\$" "$GPUSIM_PROFILER" || true
}

@test "launches that are new take the passes alternately from front and back, and count the same" {
    export GPUPROF_REPLAY=now
    kernels=(vector_add read_offset write_offset structs_aos structs_soa one_lane predicated
        sum_neighbours flops_float flops_double flops_half transpose_shared)
    counted() { grep '"type":"launch"' "$profile" | sed 's/.*"counters":\({[^}]*}\).*/\1/; s/"[^"]*time_duration[^,}]*//'; }
    for kernel in "${kernels[@]}"; do
        profiled "$programs/snippets_linked" "$kernel"
        counted
    done >"$BATS_TEST_TMPDIR/one_by_one"
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    profiled "$programs/snippets_linked" "${kernels[@]}"
    counted >"$BATS_TEST_TMPDIR/alternately"
    diff "$BATS_TEST_TMPDIR/one_by_one" "$BATS_TEST_TMPDIR/alternately"
    launches=$(wc -l <"$BATS_TEST_TMPDIR/alternately")
    [ "$launches" -eq 12 ]
    # Once for two of them, and once for the launches that the last one left to be read.
    [ "$(profiler "start 0")" -eq $((launches / 2 + 1)) ]
    [ "$(profiler "start 1")" -eq $((launches / 2 + 1)) ]
    [ "$(profiler "empty 0")" -eq 1 ]
}

@test "a kernel that is launched again before its first launch was read is recognised" {
    # After the first kernel the session stands in the pass of instrumented code, which the second
    # one's first launch makes first; the hardware's counters of that are not read until the end. They are as
    # slow as on a GPU: else a pass that the machine holds up makes comparing too dear.
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler GPUPROF_REPLAY=now GPUSIM_FAULTS=slowcounters
    same_with_and_without "$programs/snippets_linked" vector_add in_place
    [ "$(measured scale_in_place)" -eq 3 ]
    [ "$(grep '"kernel":"scale_in_place"' "$profile" | grep '"type":"launch"' | grep -c '"recalled":[12],')" -eq 2 ]
    [ "$(profiler "start 0")" -eq 2 ]
    [ "$(profiler "start 1")" -eq 2 ]
}

@test "a batch of new launches is counted and measured in one session" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    # Each launch but the first of each row is new; the first batch is not the only one.
    # shellcheck disable=SC2046
    same_with_and_without "$programs/alike_linked" $(seq -f "1x%g" 100 227)
    [ "$(measured)" -eq 128 ]
    [ "$(grep -c '"recalled":[12],' "$profile" || true)" -eq 0 ]
    [ "$(profiler "start 0")" -eq 2 ]
    [ "$(profiler "start 1")" -eq 2 ]
    [ "$(grep -c '^decode' "$GPUSIM_PROFILER")" -eq 2 ]
}

@test "new launches whose instrumented code is refused have the hardware's counters" {
    export GPUSIM_FAULTS=refusedcode
    same_with_and_without "$programs/snippets_linked" vector_add in_place one_lane
    launches=$(grep -c '"type":"launch"' "$profile")
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"dram__bytes_read.sum":[0-9]')" -eq "$launches" ]
    [ "$(grep -c '"smsp__sass[a-z_]*.sum":[0-9]' "$profile")" -eq 0 ]
}

@test "where CUPTI's image for the ranges gets too big there are fewer" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    # All of them are different.
    launches=$(seq -f "1x%g" 100 199)
    # shellcheck disable=SC2086
    same_with_and_without "$programs/alike_linked" $launches
    [ "$(measured)" -eq 100 ]
    [ "$(profiler "start 0")" -eq 2 ]
    rm "$GPUSIM_PROFILER"
    # shellcheck disable=SC2086
    GPUSIM_FAULTS=bigimage same_with_and_without "$programs/alike_linked" $launches
    [ "$(measured)" -eq 100 ]
    [ "$(profiler "start 0")" -eq 3 ]
}

@test "a CUPTI that counts nothing: launches are replayed, and their counters are absent" {
    GPUPROF_CUPTI=$GPUPROF_BUILD/tests/gpu/libcupti_null.so GPUPROF_VERIFY=always \
        same_with_and_without "$programs/snippets_linked" in_place globals atomics
    launches=$(grep -c '"type":"launch"' "$profile")
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":[34],')" -eq "$launches" ]
    [ "$(grep -c '"[a-z]*__[a-z_]*\.[a-z_]*":[0-9]' <(sed 's/"gpu__time_duration.sum":[0-9.]*//' "$profile"))" -eq 0 ]
}

@test "counters in use elsewhere: one line, and counters of instrumented code" {
    GPUSIM_FAULTS=busy same_with_and_without "$programs/snippets_linked" vector_add flops_float
    [ "$(grep -c "^gpuprof: " "$log")" -eq 1 ]
    grep -q "only times, shapes and counters of instrumented code are measured: the GPU's counters are in use" "$log"
    is flops_float flop_count_sp "$(GPUSIM_FAULTS= plain_count flops_float flop_count_sp)"
    is vector_add dram_read_bytes absent
    # Not known without the Range Profiler, and not guessed.
    is vector_add gld_efficiency absent
}

# plain_count KERNEL METRIC: its value where the counters are free.
plain_count() {
    (
        profile=$BATS_TEST_TMPDIR/free.jsonl
        profiled "$programs/snippets_linked" vector_add flops_float
        metric "$1" "$2"
    )
}

@test "any allocation of ours may fail" {
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
        plain=0 ours=0
        GPUSIM_FAULTS=alloc=$n "$programs/snippets_linked" in_place globals >/dev/null 2>&1 || plain=$?
        GPUSIM_FAULTS=alloc=$n profiled "$programs/snippets_linked" in_place globals || ours=$?
        # An allocation that fails without us may be ours with us; then the program must come out right.
        [ "$ours" -eq 0 ] || [ "$plain" -ne 0 ] || { echo "allocation $n"; false; }
    done
}

@test "there is no room for a list of the memory that held launches reach" {
    # The program itself makes 302 allocations.
    for n in $(seq 303 320); do
        GPUSIM_FAULTS=alloc=$n+ same_with_and_without "$programs/reach_linked" table
        ! grep "could not be put back" "$log" || { echo "allocation $n"; false; }
    done
}

@test "no room for a copy: launches take turns, with the reason" {
    GPUSIM_FAULTS=alloc=3+ profiled "$programs/snippets_linked" --launches 3 in_place
    [ "$(grep -c "no room for" "$profile")" -eq 3 ]
    [ "$(measured)" -eq 3 ] # the first launch shows that the kernel ends, and is only timed
    [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile")" -eq 1 ]
    [ "$(grep -c '"smsp__sass[a-z_]*.sum":[0-9]' "$profile")" -eq 1 ]
}

@test "a driver without a newer function" {
    for function in cuLaunchKernelEx cuCtxRecordEvent cuKernelGetLibrary cuFuncGetName; do
        GPUSIM_FAULTS=nodriverfunction=$function same_with_and_without "$programs/snippets_getproc"
    done
}

# Code that the driver loads at a kernel's first launch takes 30 ms here, and the kernel far less.
@test "no launch's time holds the loading of its code" {
    for fault in lazyload lazyload=always; do
        GPUSIM_FAULTS=$fault same_with_and_without "$programs/snippets_linked" in_place
        times=$(grep -o '"gpu__time_duration.sum":[0-9.]*' "$profile" | cut -d: -f2)
        [ -n "$times" ]
        for ns in $times; do [ "${ns%.*}" -lt 20000000 ]; done
    done
}

# Every run, one after the other: each launch's own one, and each replay.
@test "a launch that was held up is timed again" {
    time_of() { # FAULT: the different times of six launches
        GPUSIM_FAULTS=$1 same_with_and_without "$programs/snippets_linked" --launches 6 in_place
        [ "$(grep -c '"gpu__time_duration.sum":[0-9]' "$profile")" -eq 6 ]
        grep -o '"gpu__time_duration.sum":[0-9.]*' "$profile" | sort -u | tr '\n' ' '
    }
    plain=$(time_of none)
    for run in 1 3 5 7 8 9 12 15; do
        [ "$(time_of "heldup=$run")" = "$plain" ]
    done
    # From the fourth launch on each takes as long: that is its time.
    time_of heldup=5+
    [ "$(time_of heldup=5+ | wc -w)" -eq 2 ]
}

# Nothing is known of launches with that grid: the last one is longer than it took in a pass.
@test "a launch of a new configuration that was held up is timed again" {
    for replay in batch now; do
        times=
        for run in none 2 3 4 5 6 7 8 9 10; do
            GPUSIM_FAULTS=heldlong=$run GPUPROF_REPLAY=${replay#batch} profiled "$programs/alike_linked" 2x256 1x256x2
            [ "$(grep -c '"gpu__time_duration.sum":[0-9]' "$profile")" -eq 3 ]
            now=$(launches | grep -o '"gpu__time_duration.sum":[0-9.]*')
            [ "${times:=$now}" = "$now" ] || { echo "$replay, run $run: $now"; false; }
        done
    done
}

# A GPU that drives a display ends a kernel that takes some seconds, and the program's context with it. Each kernel takes 20 ms here.
# bats test_tags=time
@test "instrumented code is left out where it may take longer than a GPU with a display allows" {
    local reason="drives a display, lets a kernel run" column='"smsp__sass_inst_executed_op_tma.sum":0'
    # A busy machine may make a kernel or two take as long by itself.
    GPUSIM_FAULTS=display profiled "$programs/snippets_linked" --launches 6 in_place
    [ "$(grep -c "$column" "$profile")" -gt 0 ]
    for replay in "" off; do
        GPUSIM_FAULTS=display,slow GPUPROF_REPLAY=$replay \
            same_with_and_without "$programs/snippets_linked" --launches 6 in_place
        [ "$(grep -c "$reason" "$profile")" -gt 0 ]
        [ "$(grep -c "$column" "$profile")" -eq 0 ]
        grep -q '"dram__bytes_read.sum":[0-9]' "$profile"
    done
}

@test "a CUPTI whose parameter structures are longer than ours" {
    GPUSIM_FAULTS=laterparams same_with_and_without "$programs/snippets_linked" in_place
    [ "$(measured scale_in_place)" -gt 0 ]
}

@test "calls after the driver's teardown" {
    GPUSIM_FAULTS=teardown same_with_and_without "$programs/snippets_linked"
    grep -q KERNELS "$log"
}

@test "slow asynchronous operations" {
    GPUSIM_FAULTS=slow same_with_and_without "$programs/snippets_linked" in_place globals streams
}

# ---- counters by their own names -----------------------------------------------------------------

@test "a counter that the GPU does not have takes no other with it" {
    GPUPROF_METRICS=no__such_counter.sum,dram__bytes_read.sum,smsp__sass_inst_executed.sum \
        profiled "$programs/snippets_linked" matrix_row
    grep -q '"dram__bytes_read.sum": *[0-9]' "$profile"
    grep -q '"smsp__sass_inst_executed.sum": *[0-9]' "$profile"
    grep -q '"no__such_counter.sum": *"this GPU has no such counter"' "$profile"
}

# ---- single instructions --------------------------------------------------------------------------

# counted KERNEL COLUMN: the sum over its instructions of all launches that were counted.
counted() {
    grep "\"type\":\"instructions\",\"kernel\":\"$1\"" "$profile" | grep -o '\[[0-9]*,[0-9]*,[0-9,]*\]' |
        tr -d '[]' | awk -F, -v column="$2" '{ sum += $(column + 2) } END { print sum + 0 }'
}

# column METRIC: its position among the counts of the line in $counts.
column() {
    grep -o '"counts":\[[^]]*\]' <<<"$counts" | grep -o '"smsp[^"]*"' | grep -nx "\"$1\"" | cut -d: -f1
}

# bats test_tags=values
@test "counts of instructions sum up to the metrics" {
    # The first kernel of a process is compared, of which they come, however long that takes.
    profiled "$programs/snippets_linked" vector_add
    [ "$(counted vector_add 1)" -eq $(($(metric vector_add gld_transactions) + $(metric vector_add gst_transactions))) ]
    profiled "$programs/snippets_linked" in_place
    launches=$(grep -o '"kernel":"scale_in_place","cc":90,"launches":[0-9]*' "$profile" | grep -o '[0-9]*$')
    [ "$launches" -ge 1 ]
    each=$(($(metric scale_in_place gld_transactions) + $(metric scale_in_place gst_transactions)))
    [ "$(counted scale_in_place 1)" -eq $((launches * each)) ]
    profiled "$programs/snippets_linked" sum_shared
    counts=$(grep '"type":"instructions","kernel":"sum_shared"' "$profile")
    wavefronts=$(counted sum_shared "$(column smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared)")
    [ "$wavefronts" -gt 0 ]
    [[ "$(metric sum_shared smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum)" == *"$wavefronts" ]]
}

# percent THREADS WARPS: as a report has it, with three digits.
percent() { awk "BEGIN { printf \"%.3g %%\", 100 * $1 / 32 / $2 }"; }

@test "with GPUPROF_LINES=instructions every instruction is counted, and sums up to the metrics" {
    GPUPROF_LINES=instructions profiled "$programs/snippets_linked" predicated one_lane
    for kernel in predicated one_lane; do
        counts=$(grep "\"type\":\"instructions\",\"kernel\":\"$kernel\"" "$profile")
        launches=$(grep -o '"launches":[0-9]*' <<<"$counts" | grep -o '[0-9]*$')
        warps=$(counted $kernel "$(column smsp__sass_inst_executed)")
        threads=$(counted $kernel "$(column smsp__sass_thread_inst_executed)")
        on=$(counted $kernel "$(column smsp__sass_thread_inst_executed_pred_on)")
        [ "$warps" -eq $((launches * $(metric $kernel inst_executed))) ]
        is $kernel warp_execution_efficiency "$(percent $threads $warps)"
        is $kernel warp_nonpred_execution_efficiency "$(percent $on $warps)"
    done
    run "$GPUPROF_BUILD/gpuprof" source "$profile" predicated
    [[ $output == *warps*"idle lanes"*"off lanes"* ]]
    # Of instructions that compute nothing branches have names, all others opcodes.
    [[ $output == *" EXIT"* ]]
    ! grep OTHER <<<"$output" || false
}

@test "else only accesses and branches are counted one by one; another word is said" {
    GPUPROF_LINES=all profiled "$programs/snippets_linked" vector_add
    ! grep -q '"smsp__sass_inst_executed"' "$profile" || false
    grep -q "GPUPROF_LINES=all: unknown; say accesses (the default) or instructions" "$log"
    run "$GPUPROF_BUILD/gpuprof" --lines all true
    [ "$status" -eq 2 ]
    [[ $output == *"--lines: 'all' is neither accesses nor instructions"* ]]
}

@test "the profile has the counts of each instruction, with its cubin once" {
    profiled "$programs/snippets_linked" vector_add
    [ "$(grep -c '"type":"cubin"' "$profile")" -eq 1 ]
    run "$GPUPROF_BUILD/gpuprof" source "$profile" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"2048"*"+0x60  LDG, 4 bytes a thread"* ]]
    run "$GPUPROF_BUILD/gpuprof" source --sass "$profile" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *"machine code, by "* ]]
}
