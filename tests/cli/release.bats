# What a release says of itself is the same everywhere.

load ../inherited

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    version=$(sed -n 's/#define GP_VERSION "\(.*\)"/\1/p' include/gpuprof_version.h)
}

@test "one version, in every file that names it" {
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
    [[ $("$GPUPROF_BUILD/gpuprof" --version) =~ ^"gpuprof $version"(, commit ([0-9a-f]{7,}|unknown))?$ ]]
    grep -q "^gpuprof $version\(, not released yet\|, [0-9-]*\)$" <(head -1 NEWS)
    grep -qx "version: $version" CITATION.cff
    grep -q "^gpuprof ($version) " <(head -1 debian/changelog)
    grep -qx "  version: $version" packaging/conda/recipe.yaml
}

@test "a release is a tag: NEWS has its date, and no other version has it" {
    [ -e .git ] && [ -n "$(git tag --list 'v*')" ] || skip "this is no clone with tags"
    released=$(git tag --list "v$version")
    if grep -q 'not released yet' <(head -1 NEWS); then
        [ "$released" = "" ]
    else
        [ "$released" = "v$version" ]
    fi
}

# A clone with one commit, as a stranger's is.
a_clone() {
    folder=$BATS_TEST_TMPDIR/clone
    git init -q "$folder"
    mkdir -p "$folder"/{tools,include}
    # As it is in a clone: git archive has filled in its line.
    sed "s/^archived=.*/archived='\$Format:%h, %D,\$'/" tools/version >"$folder/tools/version"
    chmod +x "$folder/tools/version"
    cp include/gpuprof_version.h "$folder/include"
    cp .gitattributes "$folder"
    cd "$folder"
    git add -A
    git_as_somebody commit -q -m "one"
    commit=$(git rev-parse --short HEAD)
}
git_as_somebody() {
    git -c user.name=a -c user.email=a@b "$@"
}

@test "the version says the commit, unless it is a release" {
    a_clone
    [ "$(tools/version)" = "$version, commit $commit" ]
    git tag v99.0.0
    [ "$(tools/version)" = "$version, commit $commit" ]
    git_as_somebody tag -a -m "a release" "v$version"
    [ "$(tools/version)" = "$version" ]
    git_as_somebody commit -q --allow-empty -m "two"
    [ "$(tools/version)" = "$version, commit $(git rev-parse --short HEAD)" ]
    git clone -q --depth 1 "file://$folder" ../shallow
    [ "$(../shallow/tools/version)" = "$version, commit $(git -C ../shallow rev-parse --short HEAD)" ]
    git clone -q --depth 1 --branch "v$version" "file://$folder" ../release 2>/dev/null
    [ "$(../release/tools/version)" = "$version" ]
}

@test "the version is known in an archive by git, and without git" {
    a_clone
    git_as_somebody tag -a -m "a release" "v$version"
    git_as_somebody commit -q --allow-empty -m "two"
    mkdir ../archive ../release ../copy
    git archive HEAD | tar -x -C ../archive
    [ "$(../archive/tools/version)" = "$version, commit $(git rev-parse --short HEAD)" ]
    git archive "v$version" | tar -x -C ../release
    [ "$(../release/tools/version)" = "$version" ]
    cp -r tools include ../copy
    [ "$(../copy/tools/version)" = "$version" ]
    # Git that does not answer, as in another user's clone.
    mkdir ../bin
    printf '#!/bin/sh\nexit 128\n' >../bin/git
    chmod +x ../bin/git
    [ "$(PATH=$(realpath ../bin):$PATH tools/version)" = "$version, commit unknown" ]
}

@test "the project's files are known where git does not answer" {
    mkdir -p "$BATS_TEST_TMPDIR"/copy/{tools,build,src}
    cp tools/list-files "$BATS_TEST_TMPDIR/copy/tools"
    cp .gitignore "$BATS_TEST_TMPDIR/copy"
    cd "$BATS_TEST_TMPDIR/copy"
    touch build/made src/{a.c,a.o}
    [ "$(tools/list-files | sort | paste -sd' ')" = ".gitignore src/a.c tools/list-files" ]
    [ "$(tools/list-files '*.c')" = src/a.c ]
    # In a clone as well, with a hook's variables.
    git init -q .
    git add -A
    [ "$(GIT_INDEX_FILE=.git/index tools/list-files '*.c')" = src/a.c ]
}

@test "make demo in a folder whose name has a blank" {
    mkdir -p "$BATS_TEST_TMPDIR/a b/"{tools,bin,build/sim/programs}
    cp tools/demo "$BATS_TEST_TMPDIR/a b/tools"
    cp "$GPUPROF_BUILD/libgpuprof.so" "$BATS_TEST_TMPDIR/a b/build"
    cp "$GPUPROF_BUILD"/sim/lib*.so* "$BATS_TEST_TMPDIR/a b/build/sim"
    cp "$GPUPROF_BUILD/sim/programs/snippets_linked" "$BATS_TEST_TMPDIR/a b/build/sim/programs"
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/a b/bin/make"
    chmod +x "$BATS_TEST_TMPDIR/a b/bin/make"
    [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] || skip "it uses the GPU"
    PATH="$BATS_TEST_TMPDIR/a b/bin:$PATH" run "$BATS_TEST_TMPDIR/a b/tools/demo"
    [ "$status" -eq 0 ]
    [[ $output == *" measured with "* ]]
}

@test "make test in a folder whose name has a blank is refused in one line" {
    mkdir -p "$BATS_TEST_TMPDIR/a b/tools"
    cp tools/run-tests "$BATS_TEST_TMPDIR/a b/tools"
    run "$BATS_TEST_TMPDIR/a b/tools/run-tests"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"'$BATS_TEST_TMPDIR/a b'"* ]]
}

@test "the licence is the same text in the Debian package" {
    [ "$(tail -n +5 LICENSE | tr -s '[:space:]' ' ')" = \
        "$(sed -n '/^ Permission is hereby granted/,$p' debian/copyright | sed 's/^ \.$//; s/^ //' | tr -s '[:space:]' ' ')" ]
}

@test "tools/setup installs for a build the packages that the Debian package builds with" {
    wanted=$(tools/setup list | tr ' ' '\n' | grep -vxE 'make|gcc|g\+\+|libc6-dev|pkg-config' | sort)
    listed=$(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ *\(Build-Depends:\)\? *\([a-z][a-z0-9.-]*\).*/\2/p' debian/control |
        grep -vxE 'debhelper-compat|pkgconf' | sort)
    [ "$wanted" = "$listed" ] || { diff <(echo "$wanted") <(echo "$listed"); false; }
}

@test "the pull request's checks run the README's commands" {
    for command in "make demo" "make test"; do
        grep -q "^    $command  " README.md
        grep -q -- "- run: $command\$" .github/workflows/check.yml
    done
}

@test "workflows, forms and recipes are YAML without faults" {
    command -v yamllint >/dev/null || skip "there is no yamllint"
    style='{extends: default, rules: {line-length: {max: 160}, document-start: disable, truthy: {check-keys: false}}}'
    yamllint -s -d "$style" .github packaging CITATION.cff
    printf 'a: 1\na: 2\n' >"$BATS_TEST_TMPDIR/twice.yml"
    run yamllint -s -d "$style" "$BATS_TEST_TMPDIR/twice.yml"
    [ "$status" -ne 0 ]
}

@test "the README and the tour stay short" {
    [ "$(wc -l <README.md)" -le 150 ]
    [ "$(wc -w <docs/architecture.md)" -le 2000 ] # with the table of states
    tools/state-table --check docs/architecture.md
}

@test "docs/advice.md has each rule of advice, and no other" {
    tools/rules-table --check docs/advice.md
    local page=$BATS_TEST_TMPDIR/advice.md
    grep -v '^| `single_lanes`' docs/advice.md >"$page"
    run tools/rules-table --check "$page"
    [ "$status" -eq 1 ]
    [[ $output == *'| `single_lanes` | any |'* ]]
    sed 's/^| `single_lanes`/| `one_more` | any | - | - |\n&/' docs/advice.md >"$page"
    run tools/rules-table --check "$page"
    [ "$status" -eq 1 ]
    [[ $output == *one_more* ]]
    sed 's/^| columns | uncoalesced /| columns | scattered /' docs/advice.md >"$page"
    run tools/rules-table --check "$page"
    [ "$status" -eq 1 ]
    [[ $output == *"measured, but no rule: scattered"* ]]
    sed 's/ | not fusion | / | not melting | /' docs/advice.md >"$page"
    run tools/rules-table --check "$page"
    [[ $output == *"measured, but no rule: melting"* ]]
    sed 's/^| columns | uncoalesced /| columns | scattered /' docs/advice.md >"$page"
    tools/rules-table --write "$page"
    run tools/rules-table --check "$page"
    [[ $output != *"another table"* ]]
}

@test "the files that the tutorial leaves in a clone are none of the project" {
    [ -e .git ] || skip "this is no clone"
    files=$(grep -oE '[a-z]+\.(jsonl|html|ini)\b' docs/tutorial.md | sort -u)
    [ "$(wc -w <<<"$files")" -ge 4 ]
    for file in $files; do
        git check-ignore -q --no-index "$file" || { echo "$file"; false; }
    done
}

# `make lint` does the same.
# bats test_tags=long
@test "source and documents keep to words, style and names of files" {
    tools/check-words
    tools/check-style
    tools/check-paths
}

@test "a forbidden word is found with its line" {
    printf 'fine\nThe launch Bears Witness.\n' >"$BATS_TEST_TMPDIR/page.md"
    run tools/check-words "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"page.md:2:The launch Bears Witness."* ]]
    printf 'static int first_look_at;\n/* A look-up in place is none. */\n' >"$BATS_TEST_TMPDIR/page.c"
    run tools/check-words "$BATS_TEST_TMPDIR/page.c"
    [ "$status" -eq 1 ]
    [[ $output == *"page.c:1:static int first_look_at;"* && $output != *page.c:2* ]]
    # A name may be `what`; a comment or a text may not say it.
    printf 'int what;\n/* Frees\n * What is left. */\nchar *s = "who asks";\n' >"$BATS_TEST_TMPDIR/page.c"
    run tools/check-words "$BATS_TEST_TMPDIR/page.c"
    [ "$status" -eq 1 ]
    [[ $output == *page.c:3:* && $output == *page.c:4:* && $output != *page.c:[12]:* ]]
    # In a script it is found everywhere; a phrase goes on in the next line.
    printf 'echo "$what"\n# The lanes of a warp tell\n# apart the rows.\n' >"$BATS_TEST_TMPDIR/steps"
    run tools/check-words "$BATS_TEST_TMPDIR/steps"
    [ "$status" -eq 1 ]
    [[ $output == *steps:1:* && $output == *steps:2:* && $output != *steps:3:* ]]
}

@test "a document or comment that names no file, or no function, is found with its line" {
    printf '# Page\nSee `launch/launch.h`, `launch/nowhere.c` and tests/sim/FILE.bats.\n' >"$BATS_TEST_TMPDIR/page.md"
    run tools/check-paths "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [ "$output" = "$BATS_TEST_TMPDIR/page.md:2: there is no launch/nowhere.c" ]
    printf 'The row of `buffers.h` and of `nowhere.h`; `gp_launch`, `struct gp_nowhere`, gp_elsewhere.\n' >"$BATS_TEST_TMPDIR/page.md"
    run tools/check-paths "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [ "$output" = "$BATS_TEST_TMPDIR/page.md:1: there is no nowhere.h
$BATS_TEST_TMPDIR/page.md:1: there is no gp_nowhere" ]
}

@test "no file has a path of somebody's machine" {
    home=/home # this file is read as well
    printf 'In /usr/share/x, ~/x, %s/USER/x and $out/root/x.\nIn src%s/x.\n' "$home" "$home" >"$BATS_TEST_TMPDIR/page.md"
    tools/check-paths "$BATS_TEST_TMPDIR/page.md"
    printf '\nThere is no %s/me/build/x.bin.\n-I%s/me/include\n' "$home" "$home" >"$BATS_TEST_TMPDIR/page.md"
    run tools/check-paths "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [ "$output" = "$BATS_TEST_TMPDIR/page.md:2: $home/me/build/x.bin is a path of one machine
$BATS_TEST_TMPDIR/page.md:3: $home/me/include is a path of one machine" ]
}

@test "the scripts for a GPU print their usage and check themselves" {
    count=0
    for script in tests/gpu/*; do
        [ -f "$script" ] && [ -x "$script" ] && grep -q '"--self-test"' "$script" || continue
        if grep -q argparse "$script"; then
            PYTHONDONTWRITEBYTECODE=1 "$script" --help >"$BATS_TEST_TMPDIR/help"
            grep -q "${script##*/}" "$BATS_TEST_TMPDIR/help"
        fi
        PYTHONDONTWRITEBYTECODE=1 "$script" --self-test
        count=$((count + 1))
    done
    [ "$count" -ge 10 ]
}

@test "the result of the bench names no folder of the machine" {
    mkdir "$BATS_TEST_TMPDIR/build"
    cp "$GPUPROF_BUILD/libgpuprof.so" "$BATS_TEST_TMPDIR/build"
    tests/gpu/bench "$BATS_TEST_TMPDIR/build" --cases bandwidth,small >"$BATS_TEST_TMPDIR/page.md"
    grep -q 'skipped, there is no tests/gpu/bandwidth_drv\.$' "$BATS_TEST_TMPDIR/page.md"
    ! grep -F "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/page.md" "$BATS_TEST_TMPDIR"/build/bench/performance.{md,json,svg}
}

@test "another style of comments and headers is found with its line" {
    mkdir -p "$BATS_TEST_TMPDIR/src/base"
    header=$BATS_TEST_TMPDIR/src/base/thing.h
    printf '/* A thing. */\n#ifndef GPUPROF_BASE_THING_H\n#define GPUPROF_BASE_THING_H\n#endif\n' >"$header"
    tools/check-style "$header"
    printf '/* A thing. Owns nothing; calls base/. */\n#ifndef THING_H\n#define THING_H\n// short\n/* Two words\n and no star. */\n/* This sentence never ends */\n#endif\n' >"$header"
    run tools/check-style "$header"
    [ "$status" -eq 1 ]
    for problem in ":1: a header lists" ":1: the header's guard is GPUPROF_BASE_THING_H" ":4: a comment is" \
        ":5: each further line" ":7: a sentence ends"; do
        [[ $output == *"thing.h$problem"* ]] || { echo "$problem: $output"; false; }
    done
    printf 'bool a = gp_is_same_file(")", f(b));\nbool c = gp_is_same_file(\n    a, b) == 0;\n' >"${header%.h}.c"
    run tools/check-style "${header%.h}.c"
    [ "$status" -eq 1 ]
    [ "$output" = "${header%.h}.c:2: gp_is_same_file answers true or false" ]
    # A tag is that of one thing; a comment begins with a noun.
    printf 'struct gp_device {\n    int x;\n};\n' >"${header%.h}.c"
    run tools/check-style "${header%.h}.c"
    [[ $output == *"thing.c:1: gp_device is also the tag of"* ]]
    for words in "Of a launch, the time." "That of a launch." "Those that ran." "The same." "The same of a graph."; do
        printf '/* %s */\n' "$words" >"${header%.h}.c"
        run tools/check-style "${header%.h}.c"
        [[ $output == *"thing.c:1: a comment begins with a noun"* ]] || { echo "$words: $output"; false; }
    done
    printf '/* The same launch again. */\n/* Offsets. */\n' >"${header%.h}.c"
    tools/check-style "${header%.h}.c"
}
