# bats file_tags=long
# Python's wheel in fresh environments of the oldest and the newest Python that is here. It has the files of the build
# folder; WHEEL names another wheel, as tools/make-wheel does.

load ../inherited

setup_file() {
    unset "${!PIP_@}" "${!PYTHON@}"
    export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_CONFIG_FILE=/dev/null
    export SIM=$GPUPROF_BUILD/sim
    export DIR=$BATS_FILE_TMPDIR
    cd "$BATS_TEST_DIRNAME/../.."
    for file in gpuprof libgpuprof.so; do
        mkdir -p "$DIR/files"
        strip --strip-debug -o "$DIR/files/$file" "$GPUPROF_BUILD/$file"
    done
    tools/linked-licences / "$DIR/files/licences"
    WHEEL=${WHEEL:-$(tools/pack-wheel "linux_$(uname -m)" "$DIR/files" "$DIR")}
    WHEEL=$(realpath "$WHEEL")
    export WHEEL
    pythons >"$DIR/pythons"
    make_environment oldest "$(head -1 "$DIR/pythons")"
    make_environment newest "$(tail -1 "$DIR/pythons")"
    # Without CUPTI on the loader's path.
    mkdir "$DIR/driver"
    ln -s "$SIM/libcuda.so.1" "$DIR/driver"
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    program=("$SIM/programs/snippets_linked" --size 512 vector_add matrix_row)
}

# Each release of Python 3 that pip can serve: the oldest comes first.
pythons() {
    local folders folder python
    IFS=: read -r -a folders <<<"$PATH"
    for folder in "${folders[@]}" ~/.pyenv/versions/*/bin ~/.local/share/uv/python/*/bin; do
        for python in "$folder"/python3 "$folder"/python3.*; do
            [[ -x $python && $python =~ /python3(\.[0-9]+)?$ && $folder != */shims ]] || continue
            "$python" -c 'import sys, venv; sys.version_info >= (3, 6) and print("3.%d" % sys.version_info[1], sys.executable)' 2>/dev/null || true
        done
    done | sort -t. -k2,2n -u
}

# Debian's Python makes environments without pip; its own pip then serves.
make_environment() { # NAME "VERSION PYTHON"
    local python=${2#* } folder=$DIR/$1
    if "$python" -m venv "$folder" >/dev/null 2>&1; then
        printf '#!/bin/sh\nexec "%s/bin/python" -m pip "$@"\n' "$folder" >"$DIR/pip-$1"
    else
        rm -rf "$folder"
        "$python" -m venv --without-pip "$folder"
        printf '#!/bin/sh\nexec "%s" -m pip --python "%s/bin/python" "$@"\n' "$python" "$folder" >"$DIR/pip-$1"
    fi
    chmod +x "$DIR/pip-$1"
    # A wheel with the tag of a release of glibc.
    if [[ $WHEEL == *manylinux* ]] && ! "$DIR/pip-$1" --version | awk '{ exit $2 < 20.3 }'; then
        PIP_NO_INDEX='' PIP_CONFIG_FILE='' "$DIR/pip-$1" install -q --upgrade pip
    fi
}

# Runs pip; its output is shown where it fails.
pip() { # ENVIRONMENT ARGUMENTS...
    "$DIR/pip-$1" "${@:2}" >"$BATS_TEST_TMPDIR/pip.log" 2>&1 || { cat "$BATS_TEST_TMPDIR/pip.log"; false; }
}

installed() { # ENVIRONMENT
    [ -x "$DIR/$1/bin/gpuprof" ] || pip "$1" install "$WHEEL"
}

# All but pip itself, which compiles its modules as it needs them.
files_of() { # ENVIRONMENT
    (cd "$DIR/$1" && find . ! -path '*/site-packages/pip/*' ! -path '*/site-packages/setuptools/*' ! -path '*/site-packages/pkg_resources/*' | sort)
}

# As in a fresh shell, but for the simulated driver. Python cannot know whether these two signals were ignored.
bare() { # ENVIRONMENT VARIABLE=VALUE... COMMAND...
    env --default-signal=PIPE,XFSZ -i HOME="$BATS_TEST_TMPDIR" PATH="$DIR/$1/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$DIR/driver" "${@:2}"
}

in_both() { # FUNCTION
    local environment
    for environment in oldest newest; do
        "$1" $environment || { echo "with Python $(cat "$DIR/$environment/pyvenv.cfg")"; false; }
    done
}

profiles() { # ENVIRONMENT
    installed "$1"
    for command in gpuprof "python -m gpuprof"; do
        # shellcheck disable=SC2086
        bare "$1" GPUPROF_CUPTI="$SIM/libcupti.so.13" $command -o run.jsonl "${program[@]}" >out 2>report || { cat report; return 1; }
        grep -q '^gpuprof [0-9.]*: 2 kernel launches, 2 measured with ' report || { cat report; return 1; }
        "${program[@]}" | diff - out || return
        [ "$(bare "$1" $command report --print launches run.jsonl | grep -c '"type":"launch"')" = 2 ] || return
        [ "$(bare "$1" $command sh -c 'realpath "$LD_PRELOAD"')" = "$(realpath "$DIR/$1")/libexec/libgpuprof.so" ] || return
    done
}

@test "the command and the module profile a program, with the oldest Python and the newest" {
    export LD_LIBRARY_PATH=$SIM
    in_both profiles
}

upgrades() { # ENVIRONMENT
    [ ! -x "$DIR/$1/bin/gpuprof" ] || pip "$1" uninstall -y gpuprof || return
    files_of "$1" >before
    pip "$1" install "$DIR/earlier/"*.whl || return
    files_of "$1" | grep -q 'gpuprof-0\.0\.1' || return
    pip "$1" install "$WHEEL" || return
    [ "$(files_of "$1" | grep -c 'gpuprof-0\.0\.1')" = 0 ] || return
    bare "$1" gpuprof --version | grep -q '^gpuprof ' || return
    pip "$1" uninstall -y gpuprof || return
    files_of "$1" | diff before -
}

@test "an upgrade and an uninstall leave nothing behind" {
    (cd "$BATS_TEST_DIRNAME/../.." && tools/pack-wheel --version 0.0.1 "linux_$(uname -m)" "$DIR/files" "$DIR/earlier")
    in_both upgrades
}

@test "pip install --target" {
    pip newest install --target there "$WHEEL"
    [ "$(bare newest there/bin/gpuprof sh -c 'realpath "$LD_PRELOAD"')" = "$PWD/there/libexec/libgpuprof.so" ]
    [ "$(bare newest PYTHONPATH=there python -m gpuprof sh -c 'realpath "$LD_PRELOAD"')" = "$PWD/there/libexec/libgpuprof.so" ]
}

# Prints all that a program is given by the process before it.
show='env | grep -v "^LD_PRELOAD=\|^GPUPROF_\|^_=\|^SHLVL=" | sort; grep "^Sig\(Ign\|Blk\)" /proc/self/status; ulimit -a; (cd /proc/$$/fd && echo *); exit 7'

@test "a program under python -m gpuprof is given the same as under gpuprof" {
    installed newest
    for locale in C.UTF-8 C; do
        bare newest LC_ALL= LANG=$locale gpuprof sh -c "$show" >plain || [ $? = 7 ]
        bare newest LC_ALL= LANG=$locale python -m gpuprof sh -c "$show" >profiled || [ $? = 7 ]
        diff plain profiled
    done
    run bare newest python -m gpuprof sh -c 'kill -TERM $$'
    [ "$status" = 143 ]
}

@test "python -m gpuprof without its command is one line" {
    installed newest
    mv "$DIR/newest/bin/gpuprof" "$DIR/moved"
    run bare newest python -m gpuprof --version
    mv "$DIR/moved" "$DIR/newest/bin/gpuprof"
    [ "$status" = 1 ]
    [ "$output" = "gpuprof: there is no $DIR/newest/bin/gpuprof" ]
}

@test "the wheel has the licences of all that is in it, and needs no package" {
    python3 -m zipfile -e "$WHEEL" .
    cmp gpuprof-*.dist-info/licenses/LICENSE "$BATS_TEST_DIRNAME/../../LICENSE"
    for package in $("$BATS_TEST_DIRNAME/../../tools/setup" list | tr ' ' '\n' | grep '^lib.*-dev$\|^uthash-dev$\|^libjs-' | grep -v '^libc6'); do
        [ -s gpuprof-*.dist-info/licenses/linked/"$package" ] || { echo "no licence of $package"; false; }
    done
    [ "$(grep -c '^License-File: ' gpuprof-*.dist-info/METADATA)" = "$(find gpuprof-*.dist-info/licenses -type f | wc -l)" ]
    [ "$(grep '^Requires-Dist' gpuprof-*.dist-info/METADATA | grep -vc '; extra == "cupti"$')" = 0 ]
    # All that is linked comes with its own licence, but for the C library.
    [ "$(readelf -d gpuprof-*.data/scripts/gpuprof gpuprof-*.data/data/libexec/libgpuprof.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vcE '^(libc|libm|libdl|libpthread|ld-linux-.*)\.so')" = 0 ]
}

# ---- CUPTI ------------------------------------------------------------------------------------

# A wheel of that name with the simulated CUPTI in the file of NVIDIA's wheel.
stand_in() { # NAME VERSION FILE
    python3 - "$@" "$SIM/libcupti.so.13" <<'END'
import sys, zipfile
name, version, file, cupti = sys.argv[1:]
info = name.replace("-", "_") + "-" + version
with zipfile.ZipFile(info + "-py3-none-any.whl", "w") as wheel:
    wheel.write(cupti, file)
    wheel.writestr(info + ".dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    wheel.writestr(info + ".dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    names = [file] + [info + ".dist-info/" + n for n in ("METADATA", "WHEEL", "RECORD")]
    wheel.writestr(info + ".dist-info/RECORD", "".join(n + ",,\n" for n in names))
END
}

# A library of that name, which the program loads.
library() { # FILE
    mkdir -p "$(dirname "$1")"
    echo 'int unused;' | ${CC:-cc} -shared -fPIC -x c -o "$1" -
}

# takes FILE VARIABLE=VALUE...: that CUPTI is taken, and said in one line, and the launches are measured.
takes() {
    bare newest "${@:2}" gpuprof "${program[@]}" >out 2>report || { cat report; return 1; }
    [ "$(grep '^gpuprof: CUPTI' report)" = "gpuprof: CUPTI is taken from $1" ] && grep -q ' 2 measured with ' report ||
        { echo "expected $1"; cat report; return 1; }
}

@test "CUPTI of NVIDIA's wheels: of the program's CUDA, else the one that the driver can serve" {
    stand_in nvidia-cuda-cupti 13.0.85 nvidia/cu13/lib/libcupti.so.13
    stand_in nvidia-cuda-cupti-cu12 12.9.79 nvidia/cuda_cupti/lib/libcupti.so.12
    cp "$WHEEL" .
    pip newest install --find-links . 'gpuprof[cupti]'
    packages=$(echo "$(realpath "$DIR/newest")"/lib/python3*/site-packages)
    of_13=$packages/nvidia/cu13/lib/libcupti.so.13 of_12=$packages/nvidia/cuda_cupti/lib/libcupti.so.12
    takes "$of_13"
    takes "$of_12" GPUSIM_FAULTS=olddriver=12
    # The toolkit comes after.
    mkdir -p toolkit/lib64 && cp "$SIM/libcupti.so.13" toolkit/lib64
    takes "$of_13" CUDA_HOME="$PWD/toolkit"
    # The program's CUDA is 12: its runtime is of a wheel, then of Conda or a toolkit.
    library other/nvidia/cuda_runtime/lib/libcudart.so.12
    mkdir -p other/nvidia/cuda_cupti/lib && cp "$SIM/libcupti.so.13" other/nvidia/cuda_cupti/lib/libcupti.so.12
    takes "$PWD/other/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12" \
        LD_PRELOAD="$PWD/other/nvidia/cuda_runtime/lib/libcudart.so.12"
    library conda/libcublas.so.12
    cp "$SIM/libcupti.so.13" conda/libcupti.so.12
    cp "$SIM/libcupti.so.13" conda/libcupti.so.13
    takes "$PWD/conda/libcupti.so.12" LD_PRELOAD="$PWD/conda/libcublas.so.12"
    # That of a CUDA before 12.6 serves GPUs before 7.0 alone.
    library old/libcudart.so.12
    echo 'int cuptiGetVersion(int *v) { return *v = 18, 0; }' | ${CC:-cc} -shared -fPIC -x c -o old/libcupti.so.12 -
    takes "$of_13" LD_PRELOAD="$PWD/old/libcudart.so.12"
    # Modules of the program are installed elsewhere than gpuprof, beside these wheels.
    library x/lib/python3.9/site-packages/module/module.so
    mkdir -p x/lib/python3.9/site-packages/nvidia/cu13/lib
    cp "$SIM/libcupti.so.13" x/lib/python3.9/site-packages/nvidia/cu13/lib
    takes "$PWD/x/lib/python3.9/site-packages/nvidia/cu13/lib/libcupti.so.13" \
        LD_PRELOAD="$PWD/x/lib/python3.9/site-packages/module/module.so"
    # The user's word is not repeated.
    bare newest GPUPROF_CUPTI="$SIM/libcupti.so.13" gpuprof "${program[@]}" >out 2>report
    [ "$(grep -c 'CUPTI' report)" = 0 ]
    # The program has loaded it already.
    mkdir own && cp "$SIM/libcupti.so.13" own
    takes "$PWD/own/libcupti.so.13" LD_PRELOAD="$PWD/own/libcupti.so.13"
    pip newest uninstall -y nvidia-cuda-cupti nvidia-cuda-cupti-cu12
}

@test "CUPTI of gpuprof[cupti] beside pip install --target, in a folder whose name is a pattern" {
    stand_in nvidia-cuda-cupti 13.0.85 nvidia/cu13/lib/libcupti.so.13
    stand_in nvidia-cuda-cupti-cu12 12.9.79 nvidia/cuda_cupti/lib/libcupti.so.12
    cp "$WHEEL" .
    pip newest install --find-links . --target 'a[b]*?' 'gpuprof[cupti]'
    bare newest 'a[b]*?/bin/gpuprof' "${program[@]}" >out 2>report
    grep -qxF "gpuprof: CUPTI is taken from $PWD/a[b]*?/nvidia/cu13/lib/libcupti.so.13" report || { cat report; false; }
}

# A machine without a toolkit: where there is one it is hidden.
without_toolkit() {
    [ -e /usr/local/cuda ] || { "$@"; return; }
    unshare -rm sh -c 'mount -t tmpfs none /usr/local/cuda && exec "$@"' sh "$@"
}

libcupti_is_known() {
    local file
    for file in $(/sbin/ldconfig -p | awk '/libcupti/ { print $NF }'); do
        without_toolkit test -e "$file" && return
    done
    return 1
}

@test "without CUPTI one line says so, and there are times" {
    without_toolkit true || skip "the toolkit in /usr/local/cuda cannot be hidden"
    libcupti_is_known && skip "the loader knows a libcupti"
    installed newest
    without_toolkit env -i HOME="$PWD" PATH="$DIR/newest/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$DIR/driver" \
        gpuprof -o run.jsonl "${program[@]}" >out 2>report
    [ "$(grep -c '^gpuprof: only times, shapes and theoretical occupancy of launches are measured: libcupti.so was not found; .*pip install .gpuprof\[cupti\].$' report)" = 1 ] ||
        { cat report; false; }
    [ "$(bare newest gpuprof report --print launches run.jsonl | grep -c '"gpu__time_duration.sum":')" = 2 ]
}
