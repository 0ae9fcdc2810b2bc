# `gpuprof check`, `baseline`, `thresholds`, `compare` and `history` on profiles written by hand.

load common

setup() {
    setup_command
    formats=$BATS_TEST_DIRNAME/formats
    header >header
    profile 65000 100 5 >good.jsonl
    profile 65000 12.5 5 >bad.jsonl
}

# profile NANOSECONDS EFFICIENCY LAUNCHES [KERNEL]
profile() {
    local i
    cat header
    for ((i = 0; i < $3; i++)); do
        echo '{"type":"launch","index":'$i',"kernel":"'"${4:-_Z9vectorAddPKfS0_Pfi}"'","device":0,"grid":[524288,1,1],"block":[32,1,1],"registers":16,"shared_carveout":-1,"passes":2,"counters":{"gpu__time_duration.sum":'$1',"dram__bytes_read.sum":134217728.0,"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct":'$2',"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum":4096}}'
    done
}

rules() {
    printf '%s\n' "$@" >rules.ini
}

@test "thresholds that hold answer 0, one that is violated 1, no judgement 2" {
    rules '[vector*]' 'gld_efficiency >= 90 %' 'p95 duration <= 70 us' 'launches == 5'
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 0 ]
    [ "$output" = "gpuprof check: all 3 checks held" ]
    run "$gpuprof" check --thresholds rules.ini bad.jsonl
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "violated: vectorAdd(float const*, float const*, float*, int): gld_efficiency is 12.5 %, bound: >= 90 % (launch 0; 5 of 5 launches violate it) [rules.ini:2]" ]
    [ "${lines[1]}" = "gpuprof check: 1 of 3 checks violated" ]
    cp header none.jsonl
    run "$gpuprof" check --thresholds rules.ini none.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"no kernel was launched"* ]]
    run "$gpuprof" check --thresholds rules.ini nothing.jsonl good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"nothing.jsonl: No such file or directory"* ]]
    rules '[typo*]' 'gld_efficiency >= 90 %'
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"rules.ini: no section matches a kernel that was launched"* ]]
    rules '[vector*]' 'gld_efficiency >= 90 %'
    # A violation is one, even if other profiles could not be read.
    run "$gpuprof" check --thresholds rules.ini nothing.jsonl bad.jsonl
    [ "$status" -eq 1 ]
}

@test "mistakes in options and files are reported before anything is judged" {
    rules '[*]' 'gld_eficiency >= 90 %'
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: rules.ini:2:1: there is no metric 'gld_eficiency'; did you mean gld_efficiency?" ]
    run "$gpuprof" check good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: there is nothing to check against: say --thresholds FILE"* ]]
    run "$gpuprof" check --thresholds rules.ini
    [ "$status" -eq 2 ]
    run "$gpuprof" check --thresholds nothing.ini good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: nothing.ini: No such file or directory" ]
    rules '[*]' 'duration < 1 s'
    run "$gpuprof" check --thresholds rules.ini --format sarf good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: --format: there is no format 'sarf'; did you mean sarif?"* ]]
    run "$gpuprof" check --thresholds rules.ini --format junit=/nonexistent/x good.jsonl
    [ "$status" -eq 2 ]
    run "$gpuprof" check --thresholds rules.ini --tolerance rules.ini good.jsonl
    [ "$status" -eq 2 ]
    run "$gpuprof" check --threshold rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean --thresholds?"* ]]
}

@test "every format is as its readers expect, for each verdict" {
    command -v python3 >/dev/null || skip "no python3"
    rules '[vector*]' 'gld_efficiency >= 90 %' 'duration <= 70 us' 'achieved_occupancy > 0 if present' \
        '[a, b: c]' required
    cp header none.jsonl
    mkdir 'a b'
    cp rules.ini 'a b/x%:,.ini'
    for profile in good bad none; do
        for file in rules.ini './rules.ini' 'a b/x%:,.ini'; do
            run "$gpuprof" check -t "$file" $profile.jsonl --format junit=v.junit --format=sarif=v.sarif \
                -f gitlab=v.gitlab --format github=v.github --format markdown=v.md --format text
            [ "$status" -eq 1 ]
            [[ $output == *"no kernel matches [a, b: c], and one is required"* ]]
            "$formats" junit v.junit sarif v.sarif gitlab v.gitlab github v.github markdown v.md
        done
    done
    "$gpuprof" baseline good.jsonl -o base.json
    run "$gpuprof" check --baseline base.json bad.jsonl --format junit=v.junit,sarif=v.sarif,gitlab=v.gitlab,github=v.github
    [ "$status" -eq 1 ]
    "$formats" junit v.junit sarif v.sarif gitlab v.gitlab github v.github
    # The checker itself finds fault.
    sed -i 's/tests="[0-9]*"/tests="99"/' v.junit
    run "$formats" junit v.junit
    [ "$status" -eq 1 ]
    sed -i 's/"2.1.0"/"2.0.0"/' v.sarif
    run "$formats" sarif v.sarif
    [ "$status" -eq 1 ]
}

@test "Markdown shows names and messages letter by letter, and makes no link of them" {
    command -v cmark-gfm >/dev/null || skip "no cmark-gfm"
    local name shown
    while IFS= read -r name; do
        rules "[regex:^\\Q$name\\E\$]" 'gld_efficiency >= 90 %' "[no $name]" required
        profile 65000 50 3 "${name//\\/\\\\}" >odd.jsonl
        run "$gpuprof" check -t rules.ini odd.jsonl --format markdown=v.md
        [ "$status" -eq 1 ]
        "$formats" markdown v.md
        shown=$(cmark-gfm -e table -e autolink v.md | python3 -c 'import re, sys, html
cells = re.findall("<t[dh]>(.*?)</t[dh]>", sys.stdin.read(), re.S)
print(*(html.unescape(re.sub("</?code>", "", cell)) for cell in cells), sep="\n")')
        grep -qxF -- "$name" <<<"$shown"
        grep -qF -- "no kernel matches [no $name]" <<<"$shown"
    done <<'END'
see http://example.com/x and www.example.com, ftp://a.bc
me@example.com and @me cost $1 or $2
a|b `c` **d** ~~e~~ f_g_h <i>j</i> ![k](l) & &amp; \*
END
}

@test "JUnit and SARIF are as their published schemas say" {
    "$formats" --published sarif /dev/null 2>&1 | grep -q "was not called" && skip "build/schemas is not there"
    rules '[*]' 'gld_efficiency >= 90 %' 'achieved_occupancy > 0' 'allow = 1' '[none]' required
    profile 65000 50 3 'odd|<b>`x`*_[1](y)&amp;"' >odd.jsonl
    for i in 1 2 3 4; do "$gpuprof" history add good.jsonl --db h.db; done
    "$gpuprof" baseline good.jsonl -o base.json
    cp header none.jsonl
    local all=junit=v.junit,sarif=v.sarif,markdown=v.markdown,gitlab=v.gitlab,github=v.github
    for verdict in "check -t rules.ini good.jsonl" "check -t rules.ini bad.jsonl odd.jsonl" "check -t rules.ini none.jsonl" \
        "check --baseline base.json good.jsonl" "check --baseline base.json bad.jsonl odd.jsonl" \
        "check --baseline base.json none.jsonl" "history check --db h.db" "history check --db h.db odd.jsonl"; do
        run "$gpuprof" $verdict --format $all
        [ "$status" -le 2 ]
        "$formats" --published junit v.junit sarif v.sarif markdown v.markdown gitlab v.gitlab github v.github
    done
    # The schemas find mistakes that the checker's own rules do not find.
    run "$gpuprof" check -t rules.ini bad.jsonl --format $all
    sed -i 's/<testsuites/<testsuites unknown="1"/' v.junit
    run "$formats" junit v.junit
    [ "$status" -eq 1 ]
    sed -i 's/"ruleIndex"/"unknown":1,"ruleIndex"/' v.sarif
    run "$formats" sarif v.sarif
    [ "$status" -eq 1 ]
}

@test "a baseline is small and sorted, and later runs are compared with it" {
    run --separate-stderr "$gpuprof" baseline good.jsonl -o base.json
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ "$(wc -c <base.json)" -lt 1200 ]
    run --separate-stderr "$gpuprof" baseline good.jsonl
    [ "$output" = "$(cat base.json)" ]
    # Metrics that no kernel has are named; one that was asked for by its name has to be there.
    [[ $stderr == "gpuprof: not kept, as no kernel has a value: achieved_occupancy, "*", inst_executed, "*" (achieved_occupancy: counter "*": not measured)" ]]
    [[ $stderr != *"duration,"* && $stderr != *"gld_efficiency"* ]]
    run "$gpuprof" baseline -m gld_efficiency,duration good.jsonl
    [ "$output" = "$("$gpuprof" baseline -m gld_efficiency,duration good.jsonl 2>/dev/null)" ]
    run "$gpuprof" baseline -m gld_efficiency,inst_executed,flops good.jsonl -o none.json
    [ "$status" -eq 2 ]
    [ ! -e none.json ]
    [[ $output == "gpuprof: --metrics: no kernel has a value of inst_executed, flops: counter "*": not measured" ]]
    run "$gpuprof" check --baseline base.json good.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" check --baseline base.json bad.jsonl
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "violated: vectorAdd(float const*, float const*, float*, int) [grid 524288, block 32]: gld_efficiency is 12.5 %, was 100 %: -87.5 %, worse (up to 1 % is let pass)" ]]
    printf '[vector*]\ngld_efficiency = ignore\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini bad.jsonl
    [ "$status" -eq 0 ]
    printf '[vector*]\ngld_efficiency = some\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini bad.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: tolerance.ini:2:18: 'some' is no tolerance; write '5 %', 'exact', 'ignore' or 'if present'" ]
    echo '{"type": 3}' >no.json
    run "$gpuprof" check --baseline no.json good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: no.json: not a baseline of gpuprof"* ]]
    echo '{' >no.json
    run "$gpuprof" check --baseline no.json good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: no.json:"*":"*": "* ]]
}

@test "resources of kernels that were only counted are not compared" {
    { cat header; echo '{"type":"count","kernel":"_Z9vectorAddPKfS0_Pfi","device":0,"grid":[524288,1,1],"block":[32,1,1],"launches":5}'; } >counted.jsonl
    run "$gpuprof" compare good.jsonl counted.jsonl
    [[ $output == *"vectorAdd("*"time in a run"* ]]
    [[ $output != *registers* ]]
    "$gpuprof" baseline -o base.json good.jsonl
    run "$gpuprof" check --baseline base.json counted.jsonl
    [[ $output != *registers* ]]
    # Where both are known they are.
    sed 's/"registers":16/"registers":24/g' good.jsonl >more.jsonl
    run "$gpuprof" compare good.jsonl more.jsonl
    [[ $output == *"registers 24, was 16"* ]]
}

@test "a baseline is written to the file that its name leads to" {
    # A link stays one, a pipe is written to, and the file has the rights that it had.
    echo old >there
    chmod 640 there
    ln -s there link
    "$gpuprof" baseline good.jsonl -o link
    [ -L link ]
    [ "$(stat -c %a there)" = 640 ]
    grep -q '"gpuprof baseline"' there
    ln -s yet_to_be_made dangling
    "$gpuprof" baseline good.jsonl -o dangling
    [ -L dangling ]
    cmp yet_to_be_made there
    run "$gpuprof" baseline good.jsonl -o /dev/full
    [ "$status" -ne 0 ]
    [ -c /dev/full ]
    mkfifo pipe
    cat pipe >read &
    "$gpuprof" baseline good.jsonl -o pipe
    wait
    [ -p pipe ]
    cmp read there
    # Files beside it are left alone.
    echo mine >new.json.new
    "$gpuprof" baseline good.jsonl -o new.json
    [ "$(cat new.json.new)" = mine ]
    [ "$(stat -c %a new.json)" = "$(printf %o $((0666 & ~$(umask))))" ]
    [ "$(ls new.json*)" = "new.json
new.json.new" ]
}

@test "a kernel that takes longer is found, with the test, its significance and the smallest change it can find" {
    for i in 1 2 3 4 5; do
        profile $((65000 + i * 100)) 100 20 >a$i.jsonl
        profile $((68500 + i * 100)) 100 20 >b$i.jsonl
    done
    "$gpuprof" baseline a?.jsonl -o base.json
    run "$gpuprof" check --baseline base.json a?.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" check --baseline base.json b?.jsonl
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *": duration is 68.8 us, was 65.3 us: +5.36 %, worse (5 and 5 runs; a change is found from 2.5 % on, t test with 8 degrees of freedom at 0.002)" ]]
    [[ $output == *"1 of "*"checks violated"* ]]
    # The rates that follow from it are not reported again.
    [[ $output != *"throughput"* ]]
    run "$gpuprof" compare base.json b1.jsonl,b2.jsonl,b3.jsonl,b4.jsonl,b5.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"duration"*"65.3 us"*"68.8 us"*"+5.36 %"*"worse"* ]]
    run "$gpuprof" compare base.json
    [ "$status" -eq 2 ]
}

@test "a kernel with another name is paired by hand, in a comparison and in a verdict" {
    local pair command
    profile 65000 100 5 _Z8sum_slowPfi >slow.jsonl
    profile 65000 50 5 _Z8sum_fastPfi | sed 's/524288,1,1/262144,1,1/; s/\[32,1,1\]/[32,2,1]/' >fast.jsonl
    "$gpuprof" baseline slow.jsonl -o base.json
    "$gpuprof" history add slow.jsonl --db h.db
    # Nothing says that they are one kernel.
    run "$gpuprof" compare slow.jsonl fast.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"sum_fast(float*, int)"*"new: only B has it"*"launches in a run "*" - "*" 5"*"time in a run by the median launch "*" - "*" 325 us"* ]]
    [[ $output == *"sum_slow(float*, int)"*"gone: only A has it"*"launches in a run "*" 5 "*" -"*"time in a run by the median launch "*" 325 us "*" -"* ]]
    [[ $output == *"of kernels that one side has "*" 325 us "*" 325 us"* ]]
    run "$gpuprof" check --baseline base.json fast.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"sum_slow(float*, int) [grid 524288, block 32]: is gone: it was not launched; 5 launches in a run, 325 us"* ]]
    [[ $output == *"sum_fast(float*, int) [grid 262144, block 32x2]: is new: the other side does not have it; 5 launches in a run, 325 us"* ]]
    for pair in sum_slow=sum_fast 'sum_slow(float*, int)=*fast*' 'regex:slow=regex:fast'; do
        run "$gpuprof" compare slow.jsonl fast.jsonl --pair "$pair"
        [ "$status" -eq 0 ]
        [[ $output == *"was sum_slow(float*, int): paired by hand"* ]]
        [[ $output == *"grid 262144, block 32x2, was grid 524288, block 32"* ]]
        [[ $output == *"gld_efficiency "*" 100 % "*" 50 % "*"-50 %  worse"* ]]
        [[ $output != *gone* && $output != *"of kernels that one side has"* ]]
        for command in "check --baseline base.json" "history check --db h.db"; do
            run "$gpuprof" $command fast.jsonl --pair "$pair" --format text --format junit=v.junit,sarif=v.sarif,markdown=v.md,gitlab=v.gitlab,github=v.github
            [ "$status" -eq 1 ]
            [[ $output == *"note: sum_fast(float*, int) [grid 262144, block 32x2]: its name was 'sum_slow(float*, int)': paired by hand; grid 262144, block 32x2, was grid 524288, block 32"* ]]
            [[ $output == *"violated: sum_fast(float*, int) [grid 262144, block 32x2]: gld_efficiency is 50 %, was 100 %"* ]]
            [[ $output != *gone* ]]
            "$formats" junit v.junit sarif v.sarif markdown v.md gitlab v.gitlab github v.github
            grep -q "its name was" v.junit
            grep -q "its name was" v.sarif
            grep -q "its name was" v.md
        done
    done
    printf '[*]\nchanged = fail\n[sum_fast]\ngld_efficiency = 60 %%\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json fast.jsonl --pair sum_slow=sum_fast --tolerance tolerance.ini
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == "violated: sum_fast(float*, int) [grid 262144, block 32x2]: its name was"* ]]
    [[ $output == *"1 of "*"checks violated"* ]]
    # Two kernels of one profile.
    cat slow.jsonl <(tail -n +2 fast.jsonl) >both.jsonl
    run "$gpuprof" compare both.jsonl both.jsonl --pair sum_slow=sum_fast
    [[ $output == *"was sum_slow(float*, int): paired by hand"* ]]
    # Wrong ones.
    run "$gpuprof" compare slow.jsonl fast.jsonl --pair sum_slow
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --pair: 'sum_slow' is no pair: write OLD=NEW, two names of kernels" ]
    run "$gpuprof" compare slow.jsonl fast.jsonl --pair sum_slow=sum_slow
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --pair: no kernel of the second side is called 'sum_slow'" ]
    run "$gpuprof" check --baseline base.json fast.jsonl --pair sum_fast=sum_fast
    [ "$status" -eq 2 ]
    [[ $output == *"--pair: no kernel of the first side is called 'sum_fast'"* ]]
    run "$gpuprof" check -t rules.ini fast.jsonl --pair a=b
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --pair is for a comparison: say --baseline FILE as well" ]
    run "$gpuprof" history add fast.jsonl --db h.db --pair a=b
    [ "$status" -eq 2 ]
}

@test "kernels that are new, gone, renamed or changed are named" {
    profile 65000 100 5 _Z3addIfEvPT_ >float.jsonl
    profile 65000 100 5 _Z3addIdEvPT_ >double.jsonl
    "$gpuprof" baseline float.jsonl -o base.json
    run "$gpuprof" check --baseline base.json double.jsonl
    [ "$status" -eq 2 ] # nothing could be compared
    [[ $output == *"void add<float>(float*) [grid 524288, block 32]: is gone; 'void add<double>(double*)' may be the same kernel under another name: the same name but for template arguments, hashes or numbers, the same configuration, launched as often; 5 launches in a run, 325 us"* ]]
    [[ $output == *"--pair OLD=NEW says that a kernel has another name"* ]]
    printf '[*]\ngone = fail\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini double.jsonl
    [ "$status" -eq 1 ]
    sed 's/"registers":16/"registers":40,"local_bytes":24/' float.jsonl >spills.jsonl
    run "$gpuprof" check --baseline base.json spills.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"note: void add<float>(float*) [grid 524288, block 32]: registers 40, was 16; bytes of local memory (spills, arrays) 24, was 0"* ]]
    sed 's/524288,1,1/262144,1,1/; s/\[32,1,1\]/[64,1,1]/' float.jsonl >block.jsonl
    run "$gpuprof" check --baseline base.json block.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"grid 262144, block 64, was grid 524288, block 32"* ]]
}

# unfinished FILE: the same run, without the line that a process writes at its end.
unfinished() {
    sed 's/"format":1/"format":2/' "$1"
}

@test "launches that an unfinished run may have had besides are not taken for proof" {
    unfinished bad.jsonl >cut.jsonl
    # One launch more would be one violation too many.
    rules '[vector*]' 'gld_efficiency >= 90 %' 'allow = 5'
    run "$gpuprof" check -t rules.ini bad.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" check -t rules.ini cut.jsonl
    [ "$status" -eq 2 ]
    # A kernel may have been to come.
    profile 65000 100 5 _Z3addPf >add.jsonl
    rules '[vector*]' 'launches <= 5'
    run "$gpuprof" check -t rules.ini good.jsonl add.jsonl
    [ "$status" -eq 0 ]
    unfinished add.jsonl >cut.jsonl
    for order in "good.jsonl cut.jsonl" "cut.jsonl good.jsonl"; do
        run "$gpuprof" check -t rules.ini $order
        [ "$status" -eq 2 ]
        [[ $output == *"launches is 5, bound: <= 5 so far"* ]]
    done
    "$gpuprof" baseline good.jsonl add.jsonl -o base.json
    printf '[*]\ngone = fail\nlaunches = exact\n' >t.ini
    run "$gpuprof" check --baseline base.json --tolerance t.ini add.jsonl
    [ "$status" -eq 1 ]
    run "$gpuprof" check --baseline base.json --tolerance t.ini cut.jsonl
    [ "$status" -eq 2 ]
}

@test "counters that were not read before a run ended are no violation" {
    profile 65000 100 1 >last.jsonl
    sed 's/"counters".*/"counters":{"gpu__time_duration.sum":65000},"absent":{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct":"the process ended before it was read"}}/' \
        last.jsonl | tail -1 | sed 's/"index":0/"index":9/' >tail
    cat good.jsonl tail >all.jsonl
    rules '[vector*]' 'gld_efficiency >= 90 %'
    run "$gpuprof" check -t rules.ini all.jsonl
    [ "$status" -eq 1 ]
    unfinished all.jsonl >cut.jsonl
    run "$gpuprof" check -t rules.ini cut.jsonl
    [ "$status" -eq 2 ]
    [[ $output != *violated:* ]]
    # Where none was read at all.
    { cat header tail; } >all.jsonl
    unfinished all.jsonl >cut.jsonl
    run "$gpuprof" check -t rules.ini cut.jsonl
    [ "$status" -eq 2 ]
    [[ $output != *violated:* ]]
    # An allowed excess is no violation.
    rules '[vector*]' 'gld_efficiency >= 90 %' 'allow = 1'
    run "$gpuprof" check -t rules.ini all.jsonl
    [ "$status" -eq 0 ]
    # Nothing judged is violated, and not all was judged.
    rules '[vector*]' 'duration <= 1 s'
    run "$gpuprof" check -t rules.ini good.jsonl nothing.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"checks held, not all were made"* ]]
    # A profile that cannot be read does not lack a kernel.
    rules '[vector*]' 'required' 'duration <= 1 s'
    run "$gpuprof" check -t rules.ini nothing.jsonl
    [ "$status" -eq 2 ]
}

@test "a tolerance names a metric, and is for kernels as thresholds are" {
    "$gpuprof" baseline good.jsonl -o base.json
    printf '[*]\nduration = 5 %%\nduratoin = 5 %%\n' >t.ini
    run "$gpuprof" check --baseline base.json --tolerance t.ini good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: t.ini:3:1: there is no metric 'duratoin'; did you mean duration?" ]
    profile 65000 100 5 _Z4gemmIfLi16EEvPKT_S2_PS0_i >template.jsonl
    profile 85000 100 5 _Z4gemmIfLi16EEvPKT_S2_PS0_i >slower.jsonl
    printf '[*]\nunfinished = no\n' >t.ini
    run "$gpuprof" check --baseline base.json --tolerance t.ini good.jsonl
    [ "$output" = "gpuprof: t.ini:2:14: expected 'unfinished = note'" ]
    "$gpuprof" baseline template.jsonl -o base.json
    for pattern in 'gemm*' 'gemm<float, 16>' 'regex:^gemm' 'regex:^void gemm'; do
        printf '[*]\n*throughput = ignore\n[%s]\nduration = ignore\n' "$pattern" >t.ini
        run "$gpuprof" check --baseline base.json --tolerance t.ini slower.jsonl
        [ "$status" -eq 0 ]
    done
    run "$gpuprof" check --baseline base.json slower.jsonl
    [ "$status" -eq 1 ]
    run "$gpuprof" check --baseline base.json slower.jsonl --format junit=same,text=same
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --format: two formats cannot be written to one file, same" ]
}

@test "of another GPU's baseline only counts are compared" {
    "$gpuprof" baseline good.jsonl -o base.json
    sed -i 's/NVIDIA H200/NVIDIA A100/; s/"cc_major": 9/"cc_major": 8/' base.json
    profile 650000 100 5 >slow.jsonl
    run "$gpuprof" check --baseline base.json slow.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"duration"*"not compared: it depends on the GPU, and this is another model"* ]]
    [[ $output == *"measured on NVIDIA A100, now on NVIDIA H200"* ]]
    run "$gpuprof" check --baseline base.json bad.jsonl
    [ "$status" -eq 1 ]
}

@test "proposed thresholds hold, and are violated by a worse profile" {
    run "$gpuprof" thresholds --from good.jsonl --margin 10%
    [ "$status" -eq 0 ]
    [[ $output == *"; 100.0 % of the time, 5 launches in a run, 1 configuration"$'\n'* ]]
    echo "$output" >rules.ini
    run "$gpuprof" check -t rules.ini good.jsonl
    [ "$status" -eq 0 ]
    run "$gpuprof" check -t rules.ini bad.jsonl
    [ "$status" -eq 1 ]
    profile 65000 100 1 >once.jsonl
    run "$gpuprof" thresholds --from once.jsonl
    [[ $output == *" 1 launch in a run,"* ]]
    run "$gpuprof" thresholds --from good.jsonl --margin 10
    [ "$status" -eq 2 ]
    run "$gpuprof" thresholds good.jsonl
    [ "$status" -eq 2 ]
}

@test "a history finds a change and a drift, and SQL can be asked" {
    for i in 1 2 3 4 5 6 7 8; do
        profile $((65000 + i % 3 * 50)) 100 20 >p.jsonl
        "$gpuprof" history add p.jsonl --db h.db --commit c$i --branch main
        profile $((65000 + i * 500)) 100 20 >p.jsonl
        "$gpuprof" history add p.jsonl --db drift.db --commit c$i --branch main
    done
    run "$gpuprof" history check --db h.db
    [ "$status" -eq 0 ]
    run "$gpuprof" history check --db h.db --branch other
    [ "$status" -eq 2 ]
    profile 75000 100 20 >slow.jsonl
    run "$gpuprof" history check --db h.db slow.jsonl --format junit=v.junit --format text
    [ "$status" -eq 1 ]
    [[ $output == *"duration is 75 us, was 65.05 us: +15.3 %, worse (8 and 1 runs"* ]]
    run "$gpuprof" history check --db drift.db --last 8
    [ "$status" -eq 1 ]
    [[ $output == *"duration drifts: 65.5 us at first, 69 us at last, +5.2 % over 8 runs"* ]]
    # A profile that is not in the history is the last of its runs.
    for i in 1 2 3 4; do
        profile $((65000 + i * 1200)) 100 20 >p.jsonl
        "$gpuprof" history add p.jsonl --db short.db
    done
    run "$gpuprof" history check --db short.db
    [ "$status" -eq 0 ]
    profile 71000 100 20 >p.jsonl
    run "$gpuprof" history check --db short.db p.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"duration drifts: 66.2 us at first, 71 us at last"*"over 5 runs"* ]]
    run "$gpuprof" history show --db h.db
    [ "${#lines[@]}" -eq 9 ]
    run "$gpuprof" history show --db h.db --kernel 'vector*' --last 2
    [ "${#lines[@]}" -eq 3 ]
    command -v sqlite3 >/dev/null || return 0
    [ "$(sqlite3 h.db "SELECT count(*) FROM history WHERE metric = 'duration' AND branch = 'main'")" -eq 8 ]
    [ "$(sqlite3 h.db "PRAGMA journal_mode")" = wal ]
}

@test "a drift too slow for ten runs is found over sixty" {
    local files=()
    for i in $(seq 60); do
        profile $((65000 + i * 163)) 100 3 >d$i.jsonl
        files+=("d$i.jsonl")
        profile $((65000 + i * 7919 % 650)) 100 3 >s$i.jsonl
    done
    "$gpuprof" history add "${files[@]}" --db h.db
    run "$gpuprof" history check --db h.db
    [ "$status" -eq 1 ]
    [[ $output == *"duration drifts: "*"over 60 runs by its slope (Theil-Sen; Mann-Kendall test, two-sided, significance 0.01; a drift is found from 3 % on)"* ]]
    "$gpuprof" history add "${files[@]/#d/s}" --db steady.db
    run "$gpuprof" history check --db steady.db
    [ "$status" -eq 0 ]
    [[ $output == *"slow drifts: slope by Theil and Sen over up to 60 runs, Mann-Kendall test, two-sided, significance 0.01; found from 1.5 times the tolerance on, 3 % of a duration"* ]]
}

@test "the text of a file reaches no terminal as control characters" {
    local odd
    odd=$(printf 'odd\033[31m.jsonl')
    { cat header; printf '{"type":"launch" \033[31m}\n'; tail -n 1 good.jsonl; } >"$odd"
    rules '[*]' 'launches >= 1'
    "$gpuprof" history add good.jsonl --db h.db --branch "$(printf 'b\033[31m')"
    for arguments in "check -t rules.ini" "check --baseline base.json" "compare good.jsonl" baseline; do
        "$gpuprof" baseline good.jsonl -o base.json
        # shellcheck disable=SC2086
        run "$gpuprof" $arguments "$odd"
        [[ $output == *'\x1b'* ]]
        [[ $output != *$'\033'* ]]
    done
    run "$gpuprof" history show --db h.db
    [[ $output == *'b\x1b[31m'* ]]
    [[ $output != *$'\033'* ]]
}

@test "a history that is damaged or foreign is reported and left as it is" {
    "$gpuprof" history add good.jsonl --db h.db
    echo 'no database, but long enough to be taken for the beginning of one' >text.db
    cp text.db before
    run "$gpuprof" history add good.jsonl --db text.db
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: text.db: damaged, or no database"* ]]
    cmp text.db before
    run "$gpuprof" history check --db nothing.db
    [ "$status" -eq 2 ]
    [ ! -e nothing.db ]
    cp h.db torn.db
    # A page in the middle is overwritten.
    dd if=/dev/urandom of=torn.db bs=4096 seek=3 count=2 conv=notrunc 2>/dev/null
    cp torn.db before
    run "$gpuprof" history add good.jsonl --db torn.db
    [ "$status" -eq 2 ]
    [[ $output == *"torn.db: damaged"* ]]
    cmp torn.db before
    command -v sqlite3 >/dev/null || skip "no sqlite3"
    sqlite3 other.db 'CREATE TABLE t (x)'
    run "$gpuprof" history add good.jsonl --db other.db
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: other.db: a database, but no history of gpuprof" ]
    sqlite3 h.db 'PRAGMA user_version = 9'
    run "$gpuprof" history show --db h.db
    [ "$status" -eq 2 ]
    [[ $output == *"version 9; this gpuprof knows version 1" ]]
}

@test "a history that another process keeps locked is reported, and nothing in it is lost" {
    "$gpuprof" history add good.jsonl --db h.db --commit first
    command -v python3 >/dev/null || skip "no python3"
    # The lock of a process that writes, longer than it is waited for.
    python3 - <<'END' 3>&- &
import os, sqlite3, time
db = sqlite3.connect("h.db", isolation_level=None)
db.execute("BEGIN IMMEDIATE")
open("locked", "w").close()
while not os.path.exists("over"):
    time.sleep(0.05)
db.execute("ROLLBACK")
END
    local holder=$!
    until [ -e locked ]; do sleep 0.05; done
    run "$gpuprof" history add good.jsonl --db h.db --commit second
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: h.db: locked by another process for more than 10 s"* ]]
    # Readers are not locked out.
    run "$gpuprof" history show --db h.db
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    : >over
    wait $holder
    "$gpuprof" history add good.jsonl --db h.db --commit second
    run "$gpuprof" history show --db h.db
    [ "${#lines[@]}" -eq 3 ]
}

@test "processes add to a history at the same time, and none is lost" {
    for round in 1 2; do # to begin the file together is where they meet
        rm -f h.db*
        for i in 1 2 3 4 5 6 7 8; do
            "$gpuprof" history add good.jsonl --db h.db --commit c$i &
        done
        wait
        run "$gpuprof" history show --db h.db
        [ "${#lines[@]}" -eq 9 ]
    done
}

@test "a kernel that is launched ten times as often is named" {
    profile 65000 100 20 >few.jsonl
    profile 65000 100 200 >many.jsonl
    "$gpuprof" baseline few.jsonl few.jsonl -o base.json
    run "$gpuprof" check --baseline base.json many.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"note: vectorAdd(float const*, float const*, float*, int) [grid 524288, block 32]: launched 200 times in a run, was 20: +900 % (up to 10 % is let pass)"* ]]
    printf '[*]\nlaunches = 20 %%\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini many.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"violated: "*"launched 200 times in a run"* ]]
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini few.jsonl
    [ "$status" -eq 0 ]
    for rule in 'launches = ignore' '* = 5 %'; do
        printf '[*]\n%s\n' "$rule" >tolerance.ini
        run "$gpuprof" check --baseline base.json --tolerance tolerance.ini many.jsonl
        [ "$status" -eq 0 ]
    done
}

@test "values that a baseline has and the profile lacks are no pass" {
    "$gpuprof" baseline good.jsonl -o base.json
    sed 's/"dram__bytes_read.sum":134217728.0,//' good.jsonl >less.jsonl
    run "$gpuprof" check --baseline base.json less.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"dram_read_bytes, dram_read_throughput not compared: not measured"* ]]
    [[ $output == *"base.json: 2 values of 1 kernel could not be compared"*"'METRIC = if present'"* ]]
    for rule in 'dram_read_* = if present' 'dram_read_* = 5 % if present' '* = ignore
duration = 2 %'; do
        printf '[*]\n%s\n' "$rule" >tolerance.ini
        run "$gpuprof" check --baseline base.json --tolerance tolerance.ini less.jsonl
        [ "$status" -eq 0 ]
    done
    printf '[*]\ndram_read_* = 5 %%\n' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini less.jsonl
    [ "$status" -eq 2 ]
    # A violation is one all the same.
    sed 's/"dram__bytes_read.sum":134217728.0,//' bad.jsonl >less.jsonl
    run "$gpuprof" check --baseline base.json less.jsonl
    [ "$status" -eq 1 ]
}

@test "a run that gpuprof could not measure is not judged, and says why" {
    why="no permission to read the GPU's counters"
    { sed 's/"format":1/"format":2/' header
      echo '{"type":"given_up","reason":"'"$why"'"}'
      echo '{"type":"end","added_seconds":0.5}'; } >given.jsonl
    for rule in required 'launches >= 1' 'gld_efficiency >= 90 %' 'unfinished = note'; do
        rules '[vector*]' "$rule" required
        run "$gpuprof" check --thresholds rules.ini given.jsonl
        [ "$status" -eq 2 ]
        [[ $output == *"given.jsonl: gpuprof stopped measuring: $why"* ]]
        [[ $output != *"no kernel was launched"* ]]
        [[ $output != *"violated:"* ]]
    done
    # Launches before that prove a violation, and nothing else.
    { sed 's/"format":1/"format":2/' bad.jsonl; tail -2 given.jsonl; } >part.jsonl
    rules '[vector*]' 'gld_efficiency >= 90 %'
    run "$gpuprof" check --thresholds rules.ini part.jsonl
    [ "$status" -eq 1 ]
    rules '[vector*]' 'gld_efficiency >= 1 %' 'launches >= 9'
    run "$gpuprof" check --thresholds rules.ini part.jsonl
    [ "$status" -eq 2 ]
    [[ $output != *"violated:"* ]]
    "$gpuprof" baseline -o base.json good.jsonl
    run "$gpuprof" check --baseline base.json given.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"given.jsonl: gpuprof stopped measuring: $why"* ]]
}

@test "kernels that the history does not have are a missing part" {
    "$gpuprof" history --db h.db add good.jsonl
    run "$gpuprof" history --db h.db show --kernel none
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: no kernel of these runs matches 'none' and has the metric duration" ]
    run "$gpuprof" history --db h.db show --kernel 'vector*'
    [ "$status" -eq 0 ]
}

@test "a section for no kernel is noted with its line, and the name that was perhaps meant" {
    rules '[*]' 'gld_efficiency >= 1 %' '[vectorAd]' 'gld_efficiency >= 1 %' '[regex:sgemm]' 'launches >= 1'
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"rules.ini:3: no kernel matches [vectorAd]; did you mean [vectorAdd]?"* ]]
    [[ $output == *$'rules.ini:5: no kernel matches [regex:sgemm]\n'* ]]
    "$gpuprof" baseline -o base.json good.jsonl
    printf '%s\n' '[vector*]' 'duration = 50 %' '' '[vectorAd]' 'duration = ignore' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini good.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"tolerance.ini:4: no kernel matches [vectorAd]; did you mean [vectorAdd]?"* ]]
    [ "$(grep -c 'no kernel matches' <<<"$output")" -eq 1 ]
    # A kernel that is gone is one all the same.
    profile 65000 100 5 _Z5otherPf >other.jsonl
    printf '%s\n' '[vectorAdd]' 'gone = fail' >tolerance.ini
    run "$gpuprof" check --baseline base.json --tolerance tolerance.ini other.jsonl
    [[ $output != *"no kernel matches"* ]]
}

@test "a profile that is given twice is said" {
    ln -s good.jsonl link.jsonl
    twice="this profile is given more than once, and counts each time"
    rules '[*]' 'gld_efficiency >= 1 %'
    "$gpuprof" baseline -o base.json good.jsonl
    said() { # COMMAND...
        run --separate-stderr "$gpuprof" "$@"
        [ "$status" -eq 0 ]
        [ "$(grep -c "^gpuprof: .*: $twice\$" <<<"$stderr")" -eq 1 ]
    }
    said check -t rules.ini good.jsonl ./good.jsonl
    [[ $stderr == *"gpuprof: ./good.jsonl: $twice"* ]]
    said check -t rules.ini -b base.json good.jsonl link.jsonl
    said baseline -m duration good.jsonl good.jsonl
    said compare good.jsonl,link.jsonl good.jsonl
    said thresholds --from good.jsonl --from good.jsonl
    said history --db h.db add good.jsonl good.jsonl
    said report --merge good.jsonl bad.jsonl good.jsonl
    run "$gpuprof" report good.jsonl good.jsonl
    [[ $output != *"$twice"* ]]
}

@test "a file of another kind is one mistake" {
    head -c 20000 "$gpuprof" >rules.ini
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: rules.ini:"*":1: no text: there is a NUL in this line" ]]
    "$gpuprof" baseline -o base.json good.jsonl 2>/dev/null
    run "$gpuprof" check --baseline base.json --tolerance rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    run "$gpuprof" --check rules.ini true
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    { echo '[*]'; for i in {1..200}; do echo "nonsense $i"; done; } >rules.ini
    run "$gpuprof" check --thresholds rules.ini good.jsonl
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 21 ]
    [ "${lines[20]}" = "gpuprof: rules.ini: so many mistakes that the rest is not read" ]
    mkdir mine
    head -c 20000 "$gpuprof" >mine/x.ini
    run env GPUPROF_METRICS_PATH=mine "$gpuprof" report good.jsonl
    [ "$(grep -c 'mine/x.ini' <<<"$output")" -eq 1 ]
}

# shows ARGUMENT...: none of the outputs of the command has a byte that a terminal acts on, or a line that
# begins in the middle of a name.
shows() {
    "$gpuprof" "$@" >shown 2>&1 || [ $? -le 2 ]
    [ "$(LC_ALL=C tr -d '\n -~' <shown | wc -c)" -eq 0 ]
    run grep -n '^line two' shown
    [ "$status" -eq 1 ]
}

@test "no command lets a name move the terminal's cursor or begin a line" {
    local odd=$'\e[2J\nline two' file format
    cp good.jsonl "good$odd.jsonl"
    printf '{"type":"header","format":1}\n{"type":"launch","x": tru}\n' >"wrong$odd.jsonl"
    rules '[*]' 'duration < 1 s' '[no such]' 'launches < 1'
    cp rules.ini "rules$odd.ini"
    rules '[*]' 'durtion < 1 s'
    cp rules.ini "wrong$odd.ini"
    { sed 's/"format":1/"format":2/' good.jsonl; echo '{"type":"given_up","reason":"no more"}'; } >"unfinished$odd.jsonl"
    for file in "good$odd.jsonl" "wrong$odd.jsonl" "none$odd.jsonl" "unfinished$odd.jsonl"; do
        shows report "$file"
        shows report --details --merge "$file" "$file"
        shows source "$file" vectorAdd
        shows thresholds --from "$file"
        shows baseline "$file" -o "base$odd.json"
        shows baseline "$file" -o "none$odd/base.json"
        shows compare "base$odd.json" "$file"
        shows compare "$file" "good$odd.jsonl,$file"
        shows history add "$file" --db "h$odd.db" --commit "c$odd" --branch "b$odd"
        shows history check --db "h$odd.db" "$file"
        shows history check --db "$file"
        for format in text junit github gitlab sarif markdown; do
            shows check -t "rules$odd.ini" "$file" -f $format
            shows check --baseline "base$odd.json" "$file" -f $format
        done
        shows check -t "rules$odd.ini" "$file" -f "text=none$odd/x"
        shows check -t "wrong$odd.ini" "$file"
        shows check --baseline "base$odd.json" --tolerance "wrong$odd.ini" "$file"
    done
    shows history show --db "h$odd.db"
    shows history show --db "h$odd.db" -k '*'
    # A baseline and a history come from anywhere as well.
    sed -i 's/vectorAdd/\\u001b[2J\\nline two/; s/NVIDIA H200/\\u001b[2J\\nline two/' "base$odd.json"
    shows compare "base$odd.json" good.jsonl
    shows check --baseline "base$odd.json" good.jsonl
}

@test "a limit on the size of files keeps a run out of the history, and leaves nothing beside it" {
    local limit
    for limit in 0 4 40 100; do
        run bash -c "ulimit -f $limit; exec '$gpuprof' history add good.jsonl --db new.db"
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: new.db: the limit on the size of a file (ulimit -f) is $((1024 * limit)) bytes, and has to be 131072 at least; nothing was changed" ]
        [ -z "$(ls new.db* 2>/dev/null)" ]
    done
    # It stops SQLite in the middle.
    for ((i = 0; i < 400; i++)); do echo; done |
        awk -v line="$(tail -1 good.jsonl)" '{ l = line; sub("vectorAdd", "v" 100000 + NR "rAdd", l); sub("_Z9", "_Z11", l); print l }' >launches
    cat header launches >many.jsonl
    "$gpuprof" history add good.jsonl --db h.db
    cp h.db before.db
    run bash -c "ulimit -f 160; exec '$gpuprof' history add many.jsonl --db h.db"
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: h.db: disk I/O error, perhaps as the limit on the size of a file (ulimit -f) is 163840 bytes; nothing was changed" ]
    [ "$(ls h.db*)" = h.db ]
    run "$gpuprof" history show --db h.db
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    "$gpuprof" history add many.jsonl --db h.db
}

@test "names that are no file to SQLite are no histories" {
    local name
    for name in :memory: :x file::memory: 'file:x?mode=memory'; do
        for verb in "add good.jsonl" show check; do
            run "$gpuprof" history $verb --db "$name"
            [ "$status" -eq 2 ]
            [[ $output == *"$name: SQLite takes that for no name of a file; './$name' is one, in this folder"* ]]
        done
        "$gpuprof" history add good.jsonl --db "./$name"
        run "$gpuprof" history show --db "./$name"
        [ "${#lines[@]}" -eq 2 ]
    done
    run "$gpuprof" history add good.jsonl --db ''
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: the history has no name" ]
    run "$gpuprof" history add good.jsonl --db /dev/null
    [ "$status" -eq 2 ]
}
