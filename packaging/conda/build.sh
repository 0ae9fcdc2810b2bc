#!/usr/bin/env bash
# rattler-build runs this in the source folder: it builds the archives that conda-forge does not have, then gpuprof.
#   LINKED (linked) holds their sources; PREFIX is where gpuprof goes, and where the CUDA toolkit is
#   unless CUDA_HOME says so.
set -euo pipefail
linked=$(cd "${LINKED:-linked}" && pwd)
own=$PWD/archives
jobs=-j${CPU_COUNT:-$(nproc)}
mkdir -p "$own/include" "$own/lib"

"${CC:-cc}" ${CFLAGS:-} -O2 -fPIC -c "$linked/inih/ini.c" -o "$own/ini.o"
"${AR:-ar}" rcs "$own/lib/libinih.a" "$own/ini.o"
cp "$linked/inih/ini.h" "$own/include"

cmake -S "$linked/jansson" -B "$own/jansson" -DCMAKE_INSTALL_PREFIX="$own" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
cmake --build "$own/jansson" "$jobs" --target install

cmake -S "$linked/pcre2" -B "$own/pcre2" -DCMAKE_INSTALL_PREFIX="$own" -DCMAKE_INSTALL_LIBDIR=lib \
    -DBUILD_SHARED_LIBS=OFF -DPCRE2_STATIC_PIC=ON -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF
cmake --build "$own/pcre2" "$jobs" --target install

make -C "$linked/scdoc" PREFIX="$own" LDFLAGS= install
export PATH=$own/bin:$PATH

mkdir -p "$own/iberty" "$own/include/libiberty"
(cd "$own/iberty" && CFLAGS="${CFLAGS:-} -O2 -fPIC" "$linked/binutils/libiberty/configure" && make "$jobs")
cp "$own/iberty/libiberty.a" "$own/lib"
cp "$linked"/binutils/include/*.h "$own/include/libiberty"

export CPPFLAGS="${CPPFLAGS:-} -I$own/include" LIBRARY_PATH=$own/lib:$PREFIX/lib
export PKG_CONFIG_PATH=$own/lib/pkgconfig:$PREFIX/lib/pkgconfig
if [ -z "${CUDA_HOME:-}" ]; then
    CUDA_HOME=$PREFIX/targets/$(uname -m | sed 's/aarch64/sbsa/')-linux
fi
# conda-forge's nvcc lies in the build's own prefix, not with the headers.
NVCC=${NVCC:-$(command -v nvcc || echo "$CUDA_HOME/bin/nvcc")}
# conda-forge has no Chart.js: without it there is no `gpuprof report --html`.
make "$jobs" install PREFIX="$PREFIX" CUDA_HOME="$CUDA_HOME" NVCC="$NVCC" CHART_JS="${CHART_JS:-none}" \
    SQLITE_LIBS="-L$PREFIX/lib -Wl,-rpath,$PREFIX/lib -lsqlite3"
