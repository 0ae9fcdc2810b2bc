# `gpuprof report --html` on profiles written by hand: the file, not how a browser shows it (tests/page).

load common

setup() {
    setup_command
    header -n 5 >header
    vector_add 7 >launch
    cat header launch launch >good.jsonl
}

# The page's data of the first profile, by a Python expression over p.
holds() {
    python3 - "$1" "$2" <<'END'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
p = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))["profiles"][0]
print(eval(sys.argv[2]))
END
}

@test "the page holds the data of the profile" {
    run "$gpuprof" report --html page.html good.jsonl
    [ "$status" -eq 0 ]
    [ "$output" = "" ]
    [ "$(holds page.html 'p["processes"][0]["command"]')" = "['./app', '-n', '5']" ]
    [ "$(holds page.html 'p["totals"]["launches"], p["totals"]["measured"], p["totals"]["seconds"]')" = "(2, 2, 0.00013)" ]
    [ "$(holds page.html 'p["kernels"][0]["name"]')" = "vectorAdd(float const*, float const*, float*, int)" ]
    [ "$(holds page.html 'p["kernels"][0]["stats"][[m["name"] for m in p["metrics"]].index("dram_read_bytes")]')" = 134217728 ]
    [ "$(holds page.html 'p["kernels"][0]["stats"][[m["name"] for m in p["metrics"]].index("achieved_occupancy")]["why"]')" = "counter sm__warps_active.avg.pct_of_peak_sustained_active: the counters are in use by another process" ]
    [ "$(holds page.html 'p["kernels"][0]["occupancy"]["warps"], p["kernels"][0]["occupancy"]["limits"]["blocks"]')" = "(32, 32)" ]
    [ "$(holds page.html '[r["name"] for r in p["devices"][0]["roofs"] if r["nominal"]]')" = "['tensor FP16', 'FP16', 'FP32', 'FP64', 'L1', 'DRAM']" ]
    [ "$(holds page.html '[r["name"] for r in p["devices"][0]["roofs"] if r["measured"]]')" = "['tensor FP16', 'FP16', 'FP32', 'FP64', 'L1', 'L2', 'DRAM']" ]
}

@test "names for tables and pictures are short, and different from one another" {
    local i
    for i in 1 2; do
        sed 's/_Z9vectorAddPKfS0_Pfi/'"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x${i}_stage3_warpsize2x2x1_ffma"'/; s/"index":0/"index":'$i/ launch
    done >long
    cat header launch long >names.jsonl
    "$gpuprof" report --html page.html names.jsonl
    [ "$(holds page.html 'sorted(k["label"] for k in p["kernels"])[2], sorted(k["short"] for k in p["kernels"])[2]')" = "('vectorAdd', 'vectorAdd')" ]
    [ "$(holds page.html '[len(k["brief"]) > 60 for k in p["kernels"] if k["brief"] != "vectorAdd"]')" = "[True, True]" ]
    [ "$(holds page.html 'max(len(k["label"]) for k in p["kernels"]) <= 44, max(len(k["short"]) for k in p["kernels"]) <= 24')" = "(True, True)" ]
    [ "$(holds page.html '[len(set(k[name] for k in p["kernels"])) for name in ("brief", "label", "short")]')" = "[3, 3, 3]" ]
}

@test "--metrics chooses, and - is standard output" {
    "$gpuprof" report --metrics duration --html - good.jsonl >page.html
    [ "$(holds page.html '[m["name"] for m in p["metrics"]]')" = "['duration']" ]
    run "$gpuprof" report --metrics duraton --html page.html good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --metrics: there is no metric 'duraton'; did you mean duration?" ]
}

@test "only the scripts of the build are admitted, and nothing is loaded" {
    "$gpuprof" report --html page.html good.jsonl
    python3 - <<'END'
import base64, hashlib, re
page = open("page.html", "rb").read()
policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page).group(1).decode()
def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text).digest()).decode() + "'"
scripts = [hash_of(s) for s in re.findall(rb"<script>(.*?)</script>", page, re.S)]
styles = [hash_of(s) for s in re.findall(rb"<style>(.*?)</style>", page, re.S)]
assert policy == (f"default-src 'none'; script-src {' '.join(scripts)}; style-src {styles[0]}; img-src data:; "
                  "base-uri 'none'; form-action 'none'"), policy
assert len(scripts) == 2 and len(styles) == 1
assert not re.search(rb'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?!data:)', page)
assert b"Permission is hereby granted" in page
END
}

@test "a text of the profile is no markup" {
    sed -i 's|"_Z9vectorAddPKfS0_Pfi"|"</script><script>alert(1)</script><!--\&\\u2028"|; s|"./app"|"<b>"|' good.jsonl
    "$gpuprof" report --html page.html good.jsonl
    # The scripts' own ends, and no others.
    [ "$(grep -c '</script>' page.html)" -eq "$(grep -c '</script>' <("$gpuprof" report --html - <(cat header launch)))" ]
    ! grep -q 'alert(1)<' page.html || false
    [ "$(holds page.html 'p["kernels"][0]["name"] == "</script><script>alert(1)</script><!--&\\u{2028}"')" = True ]
}

@test "two profiles, in the order given" {
    sed 's/65000.0/32500.0/' good.jsonl >faster.jsonl
    "$gpuprof" report --html page.html good.jsonl faster.jsonl
    [ "$(grep -o '"path":"[a-z.]*"' page.html | tr '\n' ' ')" = '"path":"good.jsonl" "path":"faster.jsonl" ' ]
}

@test "a file that cannot be written or read is one line" {
    run "$gpuprof" report --html nowhere/page.html good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --html: nowhere/page.html: No such file or directory" ]
    run "$gpuprof" report --html page.html missing.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: missing.jsonl: No such file or directory" ]
    [ ! -e page.html ]
    run "$gpuprof" report --html /dev/full good.jsonl
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: --html: /dev/full: No space left on device" ]
    run "$gpuprof" report --html page.html
    [ "$status" -eq 2 ]
}

@test "options on launches and on several profiles hold for the page" {
    sed 's/_Z9vectorAddPKfS0_Pfi/_Z5otherPf/; s/"index":0/"index":1/' launch >other
    cat header launch other >both.jsonl
    "$gpuprof" report --kernels other --html page.html both.jsonl
    [ "$(holds page.html '[k["brief"] for k in p["kernels"]], p["launches"]["count"]')" = "(['other'], 1)" ]
    "$gpuprof" report --merge --html page.html good.jsonl both.jsonl
    [ "$(holds page.html 'p["totals"]["launches"], len(p["processes"]), p["path"]')" = "(4, 2, 'good.jsonl and 1 more')" ]
    [ "$(grep -o '"path":' page.html | wc -l)" -eq 1 ]
    run "$gpuprof" report --csv --html page.html good.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: --html: a page has all views of its own; leave out the other one" ]
}

@test "of a damaged profile the page has the readable part" {
    { cat good.jsonl; echo '{"type":"launch","index":"x"}'; cat launch; } >damaged.jsonl
    run "$gpuprof" report --html page.html damaged.jsonl
    [ "$status" -eq 1 ]
    [[ $output == "gpuprof: damaged.jsonl:5: "* ]]
    [ "$(holds page.html 'p["totals"]["launches"]')" = 3 ]
    [ "$(holds page.html '"damaged.jsonl:5: " in p["notes"]')" = True ]
}
