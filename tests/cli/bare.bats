# tools/bare-debian: the mirror and its key out of apt's own sources, in each form. apt and debootstrap are replaced: the
# one knows some mirrors, the other writes down its arguments.

load ../inherited

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    etc=$BATS_TEST_TMPDIR/etc bin=$BATS_TEST_TMPDIR/bin asked=$BATS_TEST_TMPDIR/asked
    mkdir -p "$etc/parts" "$bin"
    command_of id 'echo "${USER_ID:-0}"'
    command_of apt-config 'if [ "$1" = shell ]; then printf "%s=%s\n" "$2" "'"$etc"'/sources.list" "$4" "'"$etc"'/parts/"
        else cat "'"$etc"'/settings" 2>/dev/null; fi'
    # Debian, its security updates, and somebody else with the same names of releases.
    command_of apt-helper 'case "$1 $2" in
        "download-file http://mirror/debian/dists/"*) printf "Origin: Debian\nLabel: Debian\n" >"$3" ;;
        "download-file http://mirror/security/dists/"*) printf "Origin: Debian\nLabel: Debian-Security\n" >"$3" ;;
        "download-file http://other/dists/"*) printf "Origin: Other\nLabel: Debian\n" >"$3" ;;
        "download-file file:"*) cp "${2#file:}" "$3" ;;
        "auto-detect-proxy "*) echo "Using proxy '"'\${PROXY:-}'"' for URL" ;;
        *) exit 1 ;; esac'
    # It fetches something, and shows the key.
    command_of debootstrap 'echo "$@" >"'"$asked"'"; echo "wget: $(command -v wget)" >>"'"$asked"'"
        for a; do case $a in --keyring=*) cat "${a#--keyring=}" >>"'"$asked"'" ;; esac; done; mkdir -p "'"$BATS_TEST_TMPDIR/made/etc"'"'
    export PATH=$bin:$PATH APT_HELPER=$bin/apt-helper
    unset MIRROR KEYRING
    made=$BATS_TEST_TMPDIR/made
}

command_of() { # NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# makes ARGUMENTS...: such a Debian, with these words for debootstrap.
makes() {
    rm -rf "$made" "$asked" "$made.made"
    run tools/bare-debian trixie "$made" --include=git
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$(head -1 "$asked")" = "--variant=minbase $* --include=git trixie $made http://mirror/debian" ] || { cat "$asked"; false; }
    grep -qx "deb .*http://mirror/debian trixie main" "$made/etc/apt/sources.list"
}

@test "sources of one line, with a key and without" {
    printf '%s\n' '# deb http://no/debian trixie main' 'deb-src http://no/debian x main' 'deb http://other x main' \
        'deb http://mirror/security bookworm-security main' 'deb http://mirror/debian/ bookworm main' >"$etc/sources.list"
    makes --force-check-gpg
    echo key >"$etc/key.gpg"
    echo "deb [arch=amd64 signed-by=$etc/key.gpg] http://mirror/debian bookworm main # ours" >"$etc/sources.list"
    makes --force-check-gpg "--keyring=$etc/key.gpg"
    cmp "$etc/key.gpg" "$made/etc/apt/trusted.gpg.d/as-outside.gpg"
    echo "deb [trusted=yes] http://mirror/debian bookworm main" >"$etc/sources.list"
    makes --no-check-gpg
}

@test "sources in paragraphs, with a key, with a key in the text, and switched off" {
    printf '%s\n' 'Enabled: no' 'Types: deb' 'URIs: http://mirror/debian' 'Signed-By: /no' '' \
        'Types: deb-src' 'URIs: http://mirror/debian' '' '# a comment' 'types: deb deb-src' 'URIs: http://other' \
        '  http://mirror/debian' "signed-by: $etc/key.gpg" 'Suites: bookworm' >"$etc/parts/a.sources"
    echo key >"$etc/key.gpg"
    makes --force-check-gpg "--keyring=$etc/key.gpg"
    # "key" and a checksum, with armour.
    printf '%s\n' 'Types: deb' 'URIs: http://mirror/debian' 'Signed-By:' ' -----BEGIN PGP PUBLIC KEY BLOCK-----' ' .' \
        ' a2V5Cg==' ' =abcd' ' -----END PGP PUBLIC KEY BLOCK-----' 'Suites: bookworm' >"$etc/parts/a.sources"
    run tools/bare-debian trixie "$made"
    [ "$status" -eq 0 ]
    [ "$(tail -1 "$asked")" = key ]
}

@test "a list of mirrors stands for its first one" {
    printf 'http://mirror/debian\tpriority:1\nhttp://no\n' >"$etc/mirrors"
    echo "deb mirror+file:$etc/mirrors bookworm main" >"$etc/sources.list"
    makes --force-check-gpg
}

@test "apt's proxies serve as well, inside and out" {
    echo 'deb http://mirror/debian bookworm main' >"$etc/sources.list"
    makes --force-check-gpg
    [[ $(grep "^wget:" "$asked") != "wget: ${TMPDIR:-/tmp}"* ]]
    printf '%s\n' 'Acquire::http::Proxy "http://proxy:3128";' 'Acquire::http::Proxy-Auto-Detect "/usr/bin/find-it";' \
        'DPkg::Post-Invoke "no";' 'Acquire::Retries "3";' >"$etc/settings"
    PROXY=http://found:1 makes --force-check-gpg
    # apt fetches in place of wget.
    [[ $(grep "^wget:" "$asked") == "wget: ${TMPDIR:-/tmp}"* ]]
    [ "$(cat "$made/etc/apt/apt.conf.d/90as-outside")" = 'Acquire::http::Proxy "http://proxy:3128";
Acquire::Retries "3";
Acquire::http::Proxy "http://found:1";' ]
}

@test "where it cannot be done one line says why" {
    echo 'deb http://other bookworm main' >"$etc/sources.list"
    run tools/bare-debian trixie "$made"
    [ "$status" -eq 77 ]
    [ "$output" = "bare-debian: no source of apt's has Debian's trixie; MIRROR=URI names one" ]
    MIRROR=http://mirror/debian run tools/bare-debian trixie "$made"
    [ "$status" -eq 0 ]
    USER_ID=1000 run tools/bare-debian bookworm "$made"
    [ "$status" -eq 77 ]
    [ "$output" = "bare-debian: debootstrap and chroot need root" ]
    USER_ID=1000 run tests/packages/fresh "$BATS_TEST_TMPDIR" trixie
    [ "$status" -eq 77 ]
    [ "$output" = "fresh: debootstrap and chroot need root" ]
    command_of debootstrap 'echo "E: it failed"; exit 1'
    MIRROR=http://mirror/debian run tools/bare-debian bookworm "$made"
    [ "$status" -eq 1 ]
    [[ $output == *"E: it failed"*"bare-debian: debootstrap failed: $made.log" ]]
}

@test "a system that was made with the same arguments stays" {
    echo 'deb http://mirror/debian bookworm main' >"$etc/sources.list"
    makes --force-check-gpg
    rm "$asked"
    run tools/bare-debian trixie "$made" --include=git
    [ "$status" -eq 0 ]
    [ ! -e "$asked" ]
    run tools/bare-debian bookworm "$made" --include=git
    [ -e "$asked" ]
}

@test "the project's own check is make test, the long tests, and then the README's commands on bare Debians" {
    clone=$BATS_TEST_TMPDIR/clone
    mkdir -p "$clone/.ci" "$clone/tools" "$clone/tests/packages"
    cp .ci/run "$clone/.ci/run"
    command_of make 'echo "make $*" >>"'"$asked"'"; [ "$*" != "${FAILING:-}" ]'
    printf '#!/bin/sh\nexit 1\n' >"$clone/tools/setup"
    printf '#!/bin/sh\necho "fresh $*" >>"%s"\necho "fresh: a reason"\nexit "$FRESH_STATUS"\n' "$asked" >"$clone/tests/packages/fresh"
    chmod +x "$clone/tools/setup" "$clone/tests/packages/fresh"
    # Its status, but for that of a machine that cannot run it.
    for status_of in "0 0" "1 1" "77 0"; do
        rm -f "$asked"
        FRESH_STATUS=${status_of% *} run "$clone/.ci/run"
        [ "$status" -eq "${status_of#* }" ]
        [ "$output" = "fresh: a reason" ]
        [ "$(cat "$asked")" = $'make test\nmake test-long\nfresh -s build' ]
    done
    for failing in test test-long; do
        rm -f "$asked"
        FAILING=$failing FRESH_STATUS=0 run "$clone/.ci/run"
        [ "$status" -eq 1 ]
        [ "$(tail -1 "$asked")" = "make $failing" ]
    done
}
