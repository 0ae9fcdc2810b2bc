# `make install`: which files go into which folders, and that they work from there. A copy of the build folder is used.

load ../inherited

setup_file() {
    export O=$BATS_FILE_TMPDIR/build
    mkdir "$O"
    cp -a "$GPUPROF_BUILD"/{obj,compat,man,gpuprof,libgpuprof.so,libgpuprof-core.a,libgpuprof-hook.a} "$O" ||
        [ ! -e "$GPUPROF_BUILD/man" ]
    # No header changes here, and make is quicker without the lists of headers.
    find "$O" -name '*.d' -delete
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    unset LD_PRELOAD
    dest=$BATS_TEST_TMPDIR/dest
}

installed() {
    (cd "$dest" && find . -type f -name '*gpuprof*' ! -path '*/share/*' | sort | tr '\n' ' ')
}

@test "the command finds the library wherever it is installed" {
    for folder in /usr/lib /usr/lib64 /usr/lib/x86_64-linux-gnu /opt/gpuprof; do
        rm -rf "$dest"
        make -s O="$O" install DESTDIR="$dest" PREFIX=/usr LIBDIR=$folder
        [ "$(installed)" = ".$folder/libgpuprof.so ./usr/bin/gpuprof " ] ||
            [ "$(installed)" = "./usr/bin/gpuprof .$folder/libgpuprof.so " ]
        run "$dest/usr/bin/gpuprof" sh -c 'realpath "$LD_PRELOAD"'
        [ "$status" -eq 0 ]
        [ "$output" = "$(realpath "$dest")$folder/libgpuprof.so" ]
        "$dest/usr/bin/gpuprof" metrics --markdown | diff -q - "$dest/usr/share/doc/gpuprof/metrics-reference.md"
        make -s O="$O" uninstall DESTDIR="$dest" PREFIX=/usr LIBDIR=$folder
        [ "$(find "$dest" -type f)" = "" ]
    done
}

@test "the command's folder may be another one, too" {
    make -s O="$O" install DESTDIR="$dest" BINDIR=/a/b/c LIBDIR=/a/l
    run "$dest/a/b/c/gpuprof" sh -c 'realpath "$LD_PRELOAD"'
    [ "$output" = "$(realpath "$dest")/a/l/libgpuprof.so" ]
}

@test "relative folders are below PREFIX, a relative PREFIX is below here" {
    make -s O="$O" install DESTDIR="$dest" PREFIX=/usr LIBDIR=lib64 BINDIR=games
    [ "$(installed)" = "./usr/games/gpuprof ./usr/lib64/libgpuprof.so " ]
    run make -s O="$O" -n uninstall PREFIX=out
    [[ $output == *"'$PWD/out/bin/gpuprof' '$PWD/out/lib/libgpuprof.so'"* ]]
    run make -s O="$O" -n uninstall PREFIX=
    [[ $output == *"'/bin/gpuprof' '/lib/libgpuprof.so'"* ]]
}

@test "the folders may have blanks, but for the library's" {
    make -s O="$O" install DESTDIR="$dest/a b" PREFIX="/my tools" LIBDIR=/usr/lib
    [[ $("$dest/a b/my tools/bin/gpuprof" --version) == "gpuprof "* ]]
    [ -s "$dest/a b/my tools/share/man/man1/gpuprof.1" ]
    make -s O="$O" uninstall DESTDIR="$dest/a b" PREFIX="/my tools" LIBDIR=/usr/lib
    [ "$(find "$dest" -type f)" = "" ]
    run make -s O="$O" install DESTDIR="$dest" PREFIX="/my tools"
    [ "$status" -ne 0 ]
    [[ $output == *"make: LIBDIR=/my tools/lib: the dynamic linker takes no library"* ]]
    [ "$(find "$dest" -type f)" = "" ]
}

@test "uninstall leaves files that are not of gpuprof" {
    make -s O="$O" install DESTDIR="$dest" PREFIX=/usr
    mine=("$dest"/usr/{bin/mine,lib/libmine.so,share/man/man1/gpuprofs.1,share/zsh/site-functions/_mine})
    touch "${mine[@]}"
    make -s O="$O" uninstall DESTDIR="$dest" PREFIX=/usr
    [ "$(find "$dest" -type f | sort)" = "$(printf '%s\n' "${mine[@]}" | sort)" ]
}

@test "without Chart.js there is no page, and gpuprof says so" {
    run make -s O="$O" CHART_JS=/nonexistent "$O/gpuprof"
    [ "$status" -ne 0 ]
    [[ $output == *"there is no /nonexistent"*"CHART_JS=none builds without the page"* ]]
    make -s O="$O" CHART_JS=none "$O/gpuprof"
    echo '{"type":"header","format":1,"gpuprof":"0.1.0","pid":1,"host":"n","command":["a"],"time":""}' >"$BATS_TEST_TMPDIR/p.jsonl"
    run "$O/gpuprof" report --html "$BATS_TEST_TMPDIR/page.html" "$BATS_TEST_TMPDIR/p.jsonl"
    [ "$status" -eq 1 ]
    [ "$output" = "gpuprof: --html: this gpuprof was built without Chart.js (make CHART_JS=FILE)" ]
}

@test "SQLite may be linked shared" {
    make -s O="$O" SQLITE_LIBS=-lsqlite3 "$O/gpuprof"
    [ "$(readelf -d "$O/gpuprof" | grep -c 'NEEDED.*libsqlite3')" -eq 1 ]
}

@test "where a distribution has no archives the shared libraries are linked" {
    make -s O="$O" archive= "$O/libgpuprof.so" "$O/gpuprof"
    for library in libjansson libpcre2-8 libinih libzstd; do
        readelf -d "$O/libgpuprof.so" | grep -q "NEEDED.*$library\.so"
    done
    [[ $(LD_PRELOAD=$O/libgpuprof.so "$O/gpuprof" --version) == "gpuprof "* ]]
}

@test "the steps of the Spack recipe install" {
    tests/packages/spack_steps "$O" "$dest"
    [ "$("$dest/bin/gpuprof" sh -c 'realpath "$LD_PRELOAD"')" = "$(realpath "$dest")/lib/libgpuprof.so" ]
    [ -s "$dest/share/man/man1/gpuprof.1" ]
    [ "$(readelf -d "$dest/bin/gpuprof" | grep -c 'NEEDED.*libsqlite3')" -eq 1 ]
}

@test "changed flags build anew, the same ones do not" {
    object=$O/obj/base/text.c.o
    make -s O="$O" "$object"
    before=$(stat -c %Y.%y "$object")
    make -s O="$O" WERROR=1 "$object"
    [ "$(stat -c %Y.%y "$object")" = "$before" ]
    make -s O="$O" CFLAGS=-O0 "$object"
    [ "$(stat -c %Y.%y "$object")" != "$before" ]
}

@test "every target that is no file is declared to be none" {
    targets=$(grep -oE '^[a-z-]+( [a-z-]+)*:' Makefile | tr -d : | tr ' ' '\n' | sort -u)
    phony=$(sed -n '/^\.PHONY:/,/[^\\]$/p' Makefile | tr -d '\\' | sed 's/^\.PHONY://' | tr -s ' \t' '\n\n' | sort -u)
    [ "$(grep -c . <<<"$targets")" -gt 10 ]
    [ "$(comm -23 <(echo "$targets") <(echo "$phony"))" = "" ]
    # And none is declared that is not there.
    [ "$(comm -13 <(echo "$targets") <(echo "$phony") | grep -vx 'FORCE\|')" = "" ]
}
