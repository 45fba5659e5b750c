#!/bin/sh
# pack.sh BUILD FOLDER: all that the GPU suite needs to run on another machine, in FOLDER: programs without debug
# information, the libraries that they load but for those of the C and C++ compilers, scripts.
set -eu
build=$1 out=$2
rm -rf "$out"
mkdir -p "$out/lib" "$out/faulty"
for program in "$build"/gpu/gpu.* "$build"/gpu/motet; do
    case $program in *.d) continue ;; esac
    strip -o "$out/$(basename "$program")" "$program"
done
[ ! -e "$build/gpu/faulty/libcuda.so.1" ] || strip -o "$out/faulty/libcuda.so.1" "$build/gpu/faulty/libcuda.so.1"
for program in "$out"/gpu.* "$out/motet"; do ldd "$program"; done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/lib(c|m|pthread|dl|rt|gcc_s|stdc\+\+)\.so' | while read -r library; do cp -L "$library" "$out/lib/"; done
strip "$out"/lib/libmotet.so*
cp "$build"/gpu/*.sh "$build/gpu/run" "$build/gpu/bench" "$out/"
