#!/usr/bin/env bats
# The library in a program that has nothing to do with CUDA, and under the loader.

load ../inherited

setup() {
    library=$GPUPROF_BUILD/libgpuprof.so
}

@test "the library needs nothing but libc" {
    run bash -c "readelf -d '$library' | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libdl|libpthread|ld-linux-.*)\.so'"
    [ "$output" = "" ]
}

@test "our own code calls nothing that glibc 2.28 does not have" {
    # The first version of each function, of those it has had. Earlier ones had some by other names.
    for l in libc.so.6 libm.so.6; do
        objdump -T "$(ldd "$GPUPROF_BUILD/gpuprof" | awk -v l="$l" '$1 == l { print $3 }')"
    done | sed -nE 's/.*GLIBC_2\.([0-9]+)[0-9.]*\)? +([a-z_0-9]+)$/\2 \1/p' >"$BATS_TEST_TMPDIR/has"
    find "$GPUPROF_BUILD/obj" -name '*.o' ! -path '*/sim/*' -exec nm -u {} + | sed -n 's/^ *U //p' | sort -u |
        grep -vxE 'f?stat|__isoc23_.*' >"$BATS_TEST_TMPDIR/calls"
    grep -qx malloc "$BATS_TEST_TMPDIR/calls"
    later=$(awk 'FNR == NR { if (!($1 in first) || $2 + 0 < first[$1]) first[$1] = $2 + 0; next }
        $1 in first && first[$1] > 28 { print $1 }' "$BATS_TEST_TMPDIR/has" "$BATS_TEST_TMPDIR/calls")
    [ "$later" = "" ] || { echo "of glibc 2.29 or later: $later"; false; }
}

@test "the library does not heed the environment in a program with more rights" {
    [ "$(nm -D -u "$library" | grep -c 'secure_getenv@')" -eq 1 ]
    [ "$(nm -D -u "$library" | grep -c ' getenv@')" -eq 0 ]
    # Nor does our own code in the command.
    run grep -nE '(^|[^_a-z])getenv\(' src/*/*.c
    [ "$status" -eq 1 ]
}

@test "the library exports only the functions that it intercepts" {
    run bash -c "nm -D --defined-only '$library' | awk '{print \$3}' |
        grep -vxE 'dlsym|InitializeInjection|cu[A-Z][A-Za-z0-9_]*|cupti[A-Z][A-Za-z0-9_]*'"
    [ "$output" = "" ]
    exports=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vx 'dlsym\|InitializeInjection' | sort)
    listed=$({
        sed -n 's/^\(HOOK\|GATE\|WRITES\|COPY\|BARS\|HOLDS\|WAITS\)([A-Za-z0-9]*, *[0-9]*, *\(_pt[ds][sz]\)\?, *\(cu[A-Za-z0-9_]*\).*/\3/p' src/cuda/functions.def
        sed -n 's/^TOOL(\(cupti[A-Za-z0-9_]*\),.*/\1/p' src/hook/cupti.def
    } | sort)
    [ "$exports" = "$listed" ]
}

@test "our own code calls no exported wrapper, which would lead back into the hook" {
    run bash -c "nm -D -u '$library' | awk '{print \$2}' | grep '^cu[A-Z]'"
    [ "$output" = "" ]
}

@test "a program without CUDA is as it was" {
    run env LD_PRELOAD="$library" bash -c 'echo out; echo err >&2; exit 7'
    [ "$status" -eq 7 ]
    [ "$output" = $'out\nerr' ]
}

@test "dlsym still answers for everybody else" {
    run env LD_PRELOAD="$library" python3 -c '
import ctypes
libc = ctypes.CDLL(None)
libc.dlsym.restype = ctypes.c_void_p
libc.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
print(libc.dlsym(None, b"malloc") is not None, libc.dlsym(None, b"no_such_function"))
print(libc.dlsym(None, b"cuInit"))   # not loaded, so not there, though we export it
print(libc.dlsym(2**64 - 1, b"cuMemAlloc_v2"))
'
    [ "$status" -eq 0 ]
    [ "$output" = $'True None\nNone\nNone' ]
}

@test "a C++ program throws and catches through us" {
    cat > "$BATS_TEST_TMPDIR/t.cc" <<'C'
#include <dlfcn.h>
#include <cstdio>
int main()
{
    try {
        if (!dlsym(RTLD_DEFAULT, "no_such_function"))
            throw 3;
    } catch (int n) {
        std::printf("caught %d, %s\n", n, dlerror() ? "with a reason" : "without a reason");
    }
}
C
    command -v c++ >/dev/null || skip "no C++ compiler"
    c++ -o "$BATS_TEST_TMPDIR/t" "$BATS_TEST_TMPDIR/t.cc" -ldl
    run env LD_PRELOAD="$library" "$BATS_TEST_TMPDIR/t"
    [ "$output" = "caught 3, with a reason" ]
}
