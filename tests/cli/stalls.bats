# Samples of instructions in a profile written by hand: why warps wait, and where, in each view.

load common

setup() {
    setup_command
    header -n 5 >header
    vector_add 7 >launch
}

flat() {
    tr -s ' \n' ' ' <<<"$output"
}

# sampled KERNEL [CODE [OFFSET...]]: 8000 samples in two runs, at three offsets. The second one has
# 70 % of them.
sampled() {
    local stalled=smsp__pcsamp_warps_issue_stalled_
    echo '{"type":"instructions","kernel":"'"$1"'","cc":90,"launches":1,"code":"'"$2"'","sampled":2,"counts":["smsp__pcsamp_sample_count","'$stalled'long_scoreboard","'$stalled'barrier","'$stalled'selected","'$stalled'of_later"],"functions":["'"$1"'"],"at":[[0,'"${3:-16}"',800,0,0,800,0],[0,'"${4:-32}"',5600,4800,800,0,0],[0,'"${5:-48}"',1600,0,800,400,400]]}'
}

# offsets KERNEL: of instructions of three lines of it.
offsets() {
    "$gpuprof" source --sass lines.jsonl "$1" |
        awk '/^   ; lines\.cu:/ {fresh = !seen[$2]++; next}
             fresh && match($0, /[0-9a-f]+  [A-Z@]/) {split(substr($0, RSTART), part, " "); print part[1]; fresh = 0}' |
        head -3 | while read -r offset; do echo $((16#$offset)); done
}

@test "the report says under a kernel why its warps wait, once, and where it matters" {
    # The same kernel with another block, and one with too little of the time.
    sed 's/"block":\[32/"block":[64/' launch >wider
    sed 's/_Z9vectorAddPKfS0_Pfi/_Z5smallPf/; s/"gpu__time_duration.sum":[0-9.]*/"gpu__time_duration.sum":900.0/' launch >small
    { cat header launch wider small; sampled _Z9vectorAddPKfS0_Pfi; sampled _Z5smallPf; } >run.jsonl
    run "$gpuprof" report run.jsonl
    [ "$status" -eq 0 ]
    [ "$(grep -c 'warps wait' <<<"$output")" -eq 1 ]
    [[ $output == *"
   warps wait: 60 % for a load from memory (long_scoreboard), at +0x20; 20 % at a barrier, 50 % of it at +0x20
"* ]]
    run "$gpuprof" report --details run.jsonl
    [[ $(flat) == *"8000 samples in 2 runs, so shares are sure to ±1.1 points"*"60.0 % long_scoreboard waits for the result of a load"*"; 100 % of it at +0x20 20.0 % barrier "*" 15.0 % selected issues its instruction; 67 % of it at +0x10 the instructions with most samples"*" 70.0 % +0x20: long_scoreboard 60 %, barrier 10 % 20.0 % +0x30: barrier 10 %, selected 5.0 %"* ]]
    # Its line stands among the first ones in Markdown, too.
    run "$gpuprof" report --print markdown run.jsonl
    [[ $output == *'### Why warps wait'*'- `vectorAdd`: warps wait: 60 % for a load from memory (long\_scoreboard), at +0x20; '* ]]
    [ "$(grep -c 'warps wait:' <<<"$output")" -eq 1 ]
    # Without samples there is no word of them.
    cat header launch >bare.jsonl
    for view in summary markdown; do
        run "$gpuprof" report --print $view bare.jsonl
        [[ $output != *"arps wait"* ]]
    done
    run "$gpuprof" report --details bare.jsonl
    [[ $output != *samples* ]]
}

@test "samples in JSON are as docs/report-json.md describes them" {
    profile_with_lines first
    sed "s/_Z9vectorAddPKfS0_Pfi/$kernel/" launch >>lines.jsonl
    mapfile -t offsets < <(offsets "$kernel")
    sampled "$kernel" "$hash" "${offsets[@]}" >>lines.jsonl
    cat launch >>lines.jsonl
    "$gpuprof" report --print json lines.jsonl >x.json
    "$gpuprof" report --print json --anonymous lines.jsonl >hidden.json
    run python3 - x.json hidden.json "$BATS_TEST_DIRNAME/../../docs/report-json.md" "${offsets[@]}" <<'END'
import json, re, sys
of = lambda p: {k["symbol"]: k["stalls"] for k in json.load(open(p))["profiles"][0]["kernels"]}
shown = of(sys.argv[1])
assert shown.pop("_Z9vectorAddPKfS0_Pfi") is None
[s] = shown.values()
assert s["runs"] == 2 and s["samples"] == 8000 and 0.010 < s["error"] < 0.011
assert [(r["name"], r["samples"], r["share"], r["waits"]) for r in s["reasons"]] == [
    ("long_scoreboard", 4800, 0.6, True), ("barrier", 1600, 0.2, True), ("selected", 1200, 0.15, False)], s
assert s["reasons"][0]["where"].startswith("lines.cu:") and s["reasons"][0]["where_share"] == 1
assert abs(sum(l["share"] for l in s["lines"]) - 1) < 1e-9
hottest = s["lines"][0]
assert hottest["share_with_inlined"] >= hottest["share"] == 0.7 and hottest["file"].endswith("/tests/linez/lines.cu")
assert hottest["reasons"] == [{"name": "long_scoreboard", "share": 0.6}, {"name": "barrier", "share": 0.1}]
offsets = [int(o) for o in sys.argv[4:]]
assert [(i["offset"], i["share"]) for i in s["instructions"]] == list(zip([offsets[1], offsets[2], offsets[0]], [0.7, 0.2, 0.1]))
assert all(i["mnemonic"] for i in s["instructions"])
[t] = [t for t in of(sys.argv[2]).values() if t]
assert t["lines"][0]["file"] == "lines.cu" and "linez" not in json.dumps(t)
# Each field is described, and each that is described is there.
text = open(sys.argv[3]).read()
part = text[text.index("## The samples of a kernel"):]
part = part[:part.index("\n## ", 3)]
named = {n for row in re.findall(r"^\| (`.*?`) \|", part, re.M) for n in re.findall("`([a-z_]+)`", row)}
def keys(x):
    return set(x) | set().union(*map(keys, x.values())) if isinstance(x, dict) else \
        set().union(*map(keys, x)) if isinstance(x, list) else set()
assert keys(s) == named, keys(s) ^ named
END
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "source shows the samples of each line, and sorts by them" {
    profile_with_lines first
    mapfile -t offsets < <(offsets "$kernel")
    [ "${#offsets[@]}" -eq 3 ]
    sampled "$kernel" "$hash" "${offsets[@]}" >sampled
    { grep -v '"instructions"' lines.jsonl; cat sampled; } >only.jsonl
    cat sampled >>lines.jsonl
    # Counts and samples of two processes.
    run "$gpuprof" source lines.jsonl "$kernel"
    [ "$status" -eq 0 ]
    [[ $(flat) == *" counts of one launch, the mean of 1; sm_90 "*" 8000 samples in 2 runs"*"the lines with most samples"*" sectors samples most of them line"* ]]
    [[ $(flat) =~ " 70.00 % long_scoreboard "[0-9]+ ]]
    run "$gpuprof" source only.jsonl "$kernel"
    [[ $(flat) == *" samples alone, as nothing was counted; sm_90 "* ]]
    # The most first, and all of them.
    for option in '' --sass; do
        run "$gpuprof" source --sort heat $option only.jsonl "$kernel"
        [ "$status" -eq 0 ]
        mapfile -t shares < <(sed -n '/the most first/,$p' <<<"$output" | grep -oE '^ +[0-9.]+ %' | tr -d ' %')
        [ "${shares[*]}" = "70.00 20.00 10.00" ]
    done
    [[ $(flat) =~ " 70.00 % long_scoreboard +0x"[0-9a-f]+" "[A-Z0-9@!]+ ]]
    [[ $output == *"; lines.cu:"* ]]
    run "$gpuprof" source --sort line only.jsonl "$kernel"
    diff <(echo "$output") <("$gpuprof" source only.jsonl "$kernel")
    # Without a line table the instructions.
    { cat header; sampled k; } >bare.jsonl
    run "$gpuprof" source --sort heat bare.jsonl k
    [[ $(flat) == *"instructions with samples and without a line, the most first samples most of them offset 70.00 % long_scoreboard +0x20 20.00 % barrier +0x30 10.00 % selected +0x10 "* ]]
}

@test "source says that samples are not there, or that the order is none" {
    { cat header; sampled k | sed 's/"sampled":2,//; s/smsp__pcsamp[a-z_]*/later/g'; } >none.jsonl
    run "$gpuprof" source --sort heat none.jsonl k
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: --sort heat needs samples, and no launch of this kernel was sampled" ]
    run "$gpuprof" source --sort time none.jsonl k
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --sort: there is no order 'time'; say line or heat" ]
}

@test "samples of profiles that are taken together add up" {
    { cat header launch; sampled _Z9vectorAddPKfS0_Pfi one; } >a.jsonl
    # The other process saw other instructions and reasons.
    sed 's/\[0,16,800,0,0,800,0\],//; s/barrier/wait/; s/"pid":77/"pid":78/' a.jsonl >b.jsonl
    "$gpuprof" report --merge --print json a.jsonl b.jsonl >x.json
    run python3 -c 'import json
s = json.load(open("x.json"))["profiles"][0]["kernels"][0]["stalls"]
print(s["runs"], s["samples"], [(r["name"], r["samples"]) for r in s["reasons"]])'
    [ "$output" = "4 15200 [('long_scoreboard', 9600), ('barrier', 1600), ('selected', 1600), ('wait', 1600)]" ]
}

@test "a busy loop with samples fits a screen of 60 lines and 120 columns" {
    python3 "$BATS_TEST_DIRNAME/make_busy_profile.py" >busy.jsonl
    for kernel in $(grep -o '"kernel": *"[^"]*"' busy.jsonl | cut -d'"' -f4 | sort -u); do sampled "$kernel"; done >samples
    cat samples >>busy.jsonl
    "$gpuprof" report busy.jsonl >screen
    [ "$(grep -c '^   warps wait: ' screen)" -eq 6 ]
    [ "$(wc -l <screen)" -le 60 ]
    [ "$(awk 'length($0) > 120' screen | wc -l)" -eq 0 ]
    # Each kernel has its line where there is room, or more are asked for.
    grep -v '"skipped"' busy.jsonl >roomy.jsonl
    "$gpuprof" report roomy.jsonl >screen
    [ "$(grep -c '^   warps wait: ' screen)" -gt 6 ]
    [ "$(wc -l <screen)" -le 60 ]
    "$gpuprof" report --top 12 busy.jsonl >screen
    [ "$(grep -c '^   warps wait: ' screen)" -eq 12 ]
}

@test "the page has the reasons, the tree of lines, and samples beside the source" {
    profile_with_lines first
    sed "s/_Z9vectorAddPKfS0_Pfi/$kernel/" launch >>lines.jsonl
    mapfile -t offsets < <(offsets "$kernel")
    sampled "$kernel" "$hash" "${offsets[@]}" >>lines.jsonl
    "$gpuprof" report --html page.html lines.jsonl || [ -s page.html ] || skip "no Chart.js"
    run python3 - <<'END'
import json, re
page = open("page.html", encoding="utf-8").read()
k = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))["profiles"][0]["kernels"][0]
s, near = k["stalls"], lambda a, b: abs(a - b) < 1e-6
assert s["samples"] == 8000 and s["runs"] == 2
assert [r["name"] for r in s["reasons"]] == ["long_scoreboard", "barrier", "selected"]
assert s["reasons"][0]["meaning"].startswith("waits for the result of a load") and near(s["reasons"][0]["share"], 0.6)
tree = s["tree"]
assert near(tree["share"], 1) and near(sum(c["share"] for c in tree["children"]), 1)
assert all(c["name"].startswith("lines.cu:") for c in tree["children"])
assert tree["reasons"][0] == ["long_scoreboard", 0.6]
hot = max(k["source"], key=lambda l: l.get("heat", 0))
assert near(hot["heat"], 0.7) and hot["heat_inlined"] >= hot["heat"] and hot["reasons"][0] == ["long_scoreboard", 0.6]
assert near(sum(l.get("heat", 0) for l in k["source"]), 1)
END
    echo "$output"
    [ "$status" -eq 0 ]
}
