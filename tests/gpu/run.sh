#!/bin/sh
# Builds and runs the comparisons of CPU and GPU arithmetic on a machine with a GPU and nvcc.
#   tests/gpu/run.sh [items for each function]     ARCH=sm_90 OUT=folder for the program
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
out=${OUT:-$(mktemp -d)}
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
for name in exact_gpu ct_gpu; do
    "$nvcc" -O3 -std=c++17 -arch="${ARCH:-native}" --fmad=false -prec-div=true -prec-sqrt=true -ftz=false \
        -Xcompiler=-ffp-contract=off,-fno-math-errno,-fno-trapping-math,-march=x86-64-v3 \
        -I"$top/include" -I"$top/src" -I"$top/tests" "$here/$name.cu" -o "$out/$name"
done
[ "${BUILD_ONLY:-}" ] && exit
"$out/exact_gpu" "$@"
"$out/ct_gpu"
