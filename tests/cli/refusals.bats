# Files and words that a command cannot take: one line that says so, and one status for it.

load common

setup() {
    setup_command
    { header && vector_add; } >run.jsonl
    printf '[*]\nduration <= 1 s\n' >rules.ini
}

# says STATUS LINE COMMAND...: that line alone.
says() {
    local expected=$1 line=$2
    shift 2
    run -"$expected" "$gpuprof" "$@"
    echo "$*: $status: $output"
    [ "$output" = "gpuprof: $line" ]
}

@test "a file that is not there ends every command with 2" {
    "$gpuprof" baseline -o base.json run.jsonl
    missing="none: No such file or directory"
    says 2 "$missing" report none
    says 2 "$missing" report --print json none
    says 2 "$missing" source none vectorAdd
    says 2 "$missing" compare none run.jsonl
    says 2 "$missing" compare run.jsonl none
    says 2 "$missing" baseline none
    says 2 "$missing" thresholds --from none
    says 2 "$missing" history add none
    says 2 "$missing" check -t none run.jsonl
    says 2 "$missing" check -b none run.jsonl
    for options in "-t rules.ini" "-b base.json"; do
        # shellcheck disable=SC2086
        run "$gpuprof" check $options none
        [ "$status" -eq 2 ]
        [[ $output == *"none: No such file or directory"* ]]
    done
    run "$gpuprof" history --db none.db show
    [ "$status" -eq 2 ]
}

@test "a file that is no profile ends every command with 2" {
    echo "no profile" >text
    for command in report source compare baseline "thresholds --from" "history add" "check -t rules.ini"; do
        case $command in
        source) words=(text vectorAdd) ;;
        compare) words=(text run.jsonl) ;;
        *) words=(text) ;;
        esac
        # shellcheck disable=SC2086
        run "$gpuprof" $command "${words[@]}"
        echo "$command: $status: $output"
        [ "$status" -eq 2 ]
        [[ $output == *"text:1: not a gpuprof profile"* ]]
    done
}

@test "a profile in the stead of a baseline is named, with the command that makes one" {
    says 2 "run.jsonl: a profile, no baseline: 'gpuprof baseline -o FILE PROFILE...' makes one" check -b run.jsonl run.jsonl
    zstd -q run.jsonl
    says 2 "run.jsonl.zst: a profile, no baseline: 'gpuprof baseline -o FILE PROFILE...' makes one" check -b run.jsonl.zst run.jsonl
}

@test "words that a command does not use are refused" {
    "$gpuprof" history add run.jsonl
    says 2 "history show takes no profile: 'run.jsonl' (--metrics and --kernel say which values are shown)" history show run.jsonl
    says 2 "--facts lists all and takes no name: 'duration'" metrics --facts duration
    says 2 "--rules lists all and takes no name: 'duration'" metrics duration --rules
    says 2 "--markdown lists all and takes no name: 'duration'" metrics --markdown duration
    says 2 "help explains one command: 'report' is one too many" help run report
}

@test "a history's verb refuses the options of others" {
    "$gpuprof" history add run.jsonl --db h.db --commit c --branch main
    says 2 "history show takes no --commit (see 'gpuprof help history')" history show --db h.db --commit c
    says 2 "history add takes no --last (see 'gpuprof help history')" history add run.jsonl --db h.db --last 2
    says 2 "history check takes no --kernel (see 'gpuprof help history')" history check --db h.db -k vectorAdd
    "$gpuprof" history show --db h.db --branch main --last 1 -k 'vector*' -m duration
}

@test "- is standard output, or refused where that is the program's" {
    "$gpuprof" baseline run.jsonl >expected
    "$gpuprof" baseline -o - run.jsonl | diff expected -
    "$gpuprof" check -t rules.ini -f markdown run.jsonl >expected
    "$gpuprof" check -t rules.ini -f markdown=- run.jsonl | diff expected -
    says 2 "--output: standard output is the program's; say a file, or ./- for one of that name" -o - true
    says 2 "--log: standard output is the program's; without --log the report goes to standard error; ./- is a file of that name" --log - true
    [ ! -e - ]
}

@test "no history is made for a profile that cannot be read" {
    says 2 "none: No such file or directory" history add none --db new.db
    [ ! -e new.db ]
    "$gpuprof" history add run.jsonl --db new.db
    [ -s new.db ]
}

@test "a history in a folder that cannot be written" {
    says 2 "none/x.db: its folder none/ cannot be written: No such file or directory" history --db none/x.db add run.jsonl
    # Root may write everywhere.
    as_nobody=()
    if [ "$(id -u)" -eq 0 ]; then
        as_nobody=(setpriv --reuid 65534 --clear-groups)
    fi
    cp "$gpuprof" here
    folder=$(mktemp -d /tmp/gpuprof-folder-XXXXXX)
    cp here run.jsonl "$folder"
    chmod 555 "$folder"
    chmod 444 "$folder/run.jsonl"
    run "${as_nobody[@]}" "$folder/here" history --db "$folder/x.db" add "$folder/run.jsonl"
    chmod 755 "$folder"
    rm -rf "$folder"
    [ "$status" -eq 2 ]
    [ "$output" = "gpuprof: $folder/x.db: its folder $folder/ cannot be written: Permission denied" ]
}

@test "thresholds of a percentile that there is not" {
    for percentile in p99.9 p100 p999; do
        printf '[*]\n%s duration <= 1 s\n' $percentile >wrong.ini
        says 2 "wrong.ini:2:1: '$percentile': percentiles are p0 to p99, in whole numbers; max is the largest" check -t wrong.ini run.jsonl
    done
    printf '[*]\np99 duration <= 1 s\np0 duration <= 1 s\n' >right.ini
    "$gpuprof" check -t right.ini run.jsonl
}

@test "a pattern that no kernel of the history matches" {
    "$gpuprof" history add run.jsonl
    says 1 "no kernel of these runs matches 'nothing*' and has the metric duration" history show --kernel 'nothing*'
    run "$gpuprof" history show --kernel 'vector*'
    [[ ${lines[0]} == "vectorAdd("* ]]
}

@test "a program that is not there, and a side without a profile" {
    says 127 "reprot: No such file or directory; did you mean 'gpuprof report'?" reprot run.jsonl
    says 127 "./reprotx: No such file or directory" ./reprotx
    says 127 "the program's name is empty" ""
    says 2 "a side names no profile" compare , run.jsonl
}

@test "rules that are a file of the kernel's, which may have nothing to read" {
    [ -r /proc/kmsg ] || skip "/proc/kmsg cannot be read"
    dd if=/proc/kmsg of=/dev/null iflag=nonblock bs=64k 2>/dev/null || true # its text so far
    run timeout 20 "$gpuprof" check -t /proc/kmsg run.jsonl
    [ "$status" -eq 2 ]
    [[ $output == "gpuprof: /proc/kmsg"* ]]
}

@test "a command of another profiler is no program, unless the word run says so" {
    mkdir bin
    for word in diff open stats record profile top script memcheck shutdown; do
        printf '#!/bin/sh\necho "$0 ran" "$@"\n' >"bin/$word"
        chmod +x "bin/$word"
    done
    export PATH=$PWD/bin:$PATH
    cp run.jsonl other.jsonl
    says 2 "'diff' is a command of perf, uftrace and go tool pprof: did you mean 'gpuprof compare A B'? ('gpuprof run diff' runs a program of that name)" diff run.jsonl other.jsonl
    says 2 "'open' is a command of other profilers: did you mean 'gpuprof report FILE'? ('gpuprof run open' runs a program of that name)" open run.jsonl
    says 2 "'diff' is a command of perf, uftrace and go tool pprof: did you mean 'gpuprof compare A B'? ('gpuprof help' lists the commands)" help diff
    for word in stats record profile top script memcheck shutdown; do
        run "$gpuprof" -o new.jsonl "$word" run.jsonl
        [ "$status" -eq 2 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == "gpuprof: '$word' is a command of "*": "*" ('gpuprof run $word' runs a program of that name)" ]]
        [ ! -e new.jsonl ]
    done
    for way in "run diff" "-- diff" bin/diff "$PWD/bin/diff" "run -- diff"; do
        run --separate-stderr "$gpuprof" $way a b
        [ "$status" -eq 0 ]
        [[ $output == *"bin/diff ran a b" ]]
    done
    # Words that begin or end like one are programs.
    says 127 "diffs: No such file or directory" diffs
    says 127 "record-x: No such file or directory" record-x
}

@test "a file that is read is not written to" {
    "$gpuprof" baseline -o base.json run.jsonl
    printf '[*]\nduration = 10 %%\n' >tolerance.ini
    ln -s run.jsonl link
    cp -p rules.ini base.json tolerance.ini run.jsonl "$(mktemp -d kept.XXX)"
    over="this file is read, and would be overwritten"
    says 2 "--html: run.jsonl: $over" report --html run.jsonl run.jsonl
    says 2 "--html: ./link: $over" report --html ./link - run.jsonl
    says 2 "--output: run.jsonl: $over" baseline run.jsonl -o run.jsonl
    says 2 "--format: run.jsonl: $over" check -t rules.ini --format text,sarif=run.jsonl run.jsonl
    says 2 "--format: rules.ini: $over" check --format sarif=rules.ini -t rules.ini run.jsonl
    says 2 "--format: base.json: $over" check -b base.json --format junit=base.json run.jsonl
    says 2 "--format: tolerance.ini: $over" check -b base.json --tolerance tolerance.ini --format junit=tolerance.ini run.jsonl
    says 2 "--format: two formats cannot be written to one file, ./v" check -t rules.ini --format sarif=v,junit=./v run.jsonl
    "$gpuprof" history --db runs.db add run.jsonl
    says 2 "--format: runs.db: $over" history --db runs.db check --format sarif=runs.db run.jsonl
    says 2 "--output: rules.ini: $over" --check rules.ini -o rules.ini true
    says 2 "--log: rules.ini: $over" --check rules.ini --log-file rules.ini true
    says 2 "--format: ./rules.ini: $over" --check rules.ini --format sarif=./rules.ini true
    says 2 "--format: v: --log names the same file" --check rules.ini --log v --format sarif=v true
    GPUPROF_OUTPUT=rules.ini says 2 "GPUPROF_OUTPUT: rules.ini: $over" --check rules.ini true
    for file in rules.ini base.json tolerance.ini run.jsonl; do
        cmp $file kept.*/$file
    done
}
