# The shared part of the tests of the command with profiles written by hand.

load ../inherited

bats_require_minimum_version 1.5.0

# In an empty folder, without definitions of the user's own.
setup_command() {
    gpuprof=$GPUPROF_BUILD/gpuprof
    cd "$BATS_TEST_TMPDIR"
    export XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
    unset GPUPROF_METRICS_PATH
}

# header ARGUMENT...: how a profile of ./app with these arguments begins, on an H200.
header() {
    local arguments
    printf -v arguments ',"%s"' "$@"
    cat <<END
{"type":"header","format":1,"gpuprof":"0.1.0","pid":77,"host":"node1","command":["./app"${1:+$arguments}],"time":"2026-01-02T03:04:05Z"}
{"type":"device","ordinal":0,"name":"NVIDIA H200","chip":"GH100","cc_major":9,"cc_minor":0,"sm_count":132,"clock_khz":1980000,"memory_clock_khz":3201000,"memory_bus_bits":6016,"sp_dp_ratio":2,"warp_size":32,"max_threads_per_sm":2048,"max_blocks_per_sm":32,"max_threads_per_block":1024,"registers_per_sm":65536,"registers_per_block":65536,"shared_per_sm":233472,"shared_per_block":49152,"shared_per_block_optin":232448,"reserved_shared_per_block":1024,"driver_version":13000}
END
}

# vector_add [STREAM]: a launch with counters, one of them absent.
vector_add() {
    echo '{"type":"launch","index":0,"kernel":"_Z9vectorAddPKfS0_Pfi","device":0,'${1:+'"stream":'$1,}'"grid":[524288,1,1],"block":[32,1,1],"registers":16,"shared_carveout":-1,"passes":2,"counters":{"gpu__time_duration.sum":65000.0,"dram__bytes_read.sum":134217728.0,"dram__bytes_write.sum":67108864.0},"absent":{"sm__warps_active.avg.pct_of_peak_sustained_active":"the counters are in use by another process"}}'
}

# A profile with nvcc's cubin of tests/lines, whose sources are not there; its kernel with that in its
# name in $kernel.
profile_with_lines() {
    cubin=$GPUPROF_BUILD/tests/lines.cubin
    [ -f "$cubin" ] || skip "there is no cubin of nvcc's"
    sed 's|/tests/lines|/tests/linez|g' "$cubin" >moved.cubin
    kernel=$(grep -ao "\.text\._Z[A-Za-z0-9_]*$1[A-Za-z0-9_]*" moved.cubin | head -1 | cut -c7-)
    hash=$(sha256sum <moved.cubin | cut -d' ' -f1)
    { cat header
      echo "{\"type\":\"instructions\",\"kernel\":\"$kernel\",\"cc\":90,\"launches\":1,\"code\":\"$hash\",\"counts\":[\"smsp__sass_sectors_mem_global\"],\"functions\":[\"$kernel\"],\"at\":[[0,16,64]]}"
      echo "{\"type\":\"cubin\",\"hash\":\"$hash\",\"size\":$(stat -c %s moved.cubin),\"zstd\":\"$(zstd -c moved.cubin | base64 -w0)\"}"
    } >lines.jsonl
}
