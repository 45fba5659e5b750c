#!/bin/sh
# Builds and runs the comparisons of CPU and GPU arithmetic on a machine with a GPU and nvcc.
#   tests/gpu/run.sh [items for each function]
# ARCH=sm_90 OUT=folder: for that processor, into a folder. BUILD_ONLY=1: runs nothing. RUN_ONLY=1: runs what OUT has.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
out=${OUT:-$(mktemp -d)}
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
compile() {
    "$nvcc" -O3 -std=c++17 -arch="${ARCH:-native}" --fmad=false -prec-div=true -prec-sqrt=true -ftz=false \
        -Xcompiler=-ffp-contract=off,-fno-math-errno,-fno-trapping-math,-march=x86-64-v3 \
        -I"$top/include" -I"$top/src" -I"$top/tests" "$@"
}

build() {
    for name in exact_gpu ct_gpu; do compile "$here/$name.cu" -o "$out/$name"; done
    # The library with the kernels of the CPU, and with those of a GPU in their place.
    cmake -S "$top" -B "$out/library" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMOTET_TESTS=OFF >/dev/null
    cmake --build "$out/library" --target motet_inside -j "$(nproc)" >/dev/null
    compile -c "$here/jobs_device.cu" -o "$out/jobs_device.o"
    for source in gpu/jobs gpu/jobs_host support/ct_jobs; do
        "${CC:-cc}" -O2 -I"$top/include" -I"$top/tests" -c "$top/tests/$source.c" -o "$out/${source#*/}.o"
    done
    for side in host device; do
        "$nvcc" "$out/jobs.o" "$out/ct_jobs.o" "$out/jobs_$side.o" "$out/library/libmotet_inside.a" -lxxhash -ljansson -lspng -ltiff \
            -lexpat -lz -lm -lpthread -ldl -Xlinker=-rpath,'$ORIGIN' -o "$out/jobs_$side"
    done
}

[ "${RUN_ONLY:-}" ] || build
[ "${BUILD_ONLY:-}" ] && exit
status=0
"$out/exact_gpu" "$@" || status=6
"$out/ct_gpu" || status=6
for size in small large; do
    "$out/jobs_host" "$size" >"$out/$size.host"
    "$out/jobs_device" "$size" >"$out/$size.device"
    if cmp "$out/$size.host" "$out/$size.device"; then
        echo "$(wc -l <"$out/$size.host") passed, 0 failed: $size jobs have the digests of the CPU"
    else
        diff "$out/$size.host" "$out/$size.device" || status=6
    fi
done
exit $status
