#!/bin/bash
# check_flags.sh SOURCE BUILD: the flags behind "the same bits".
#  - A kernel refuses to be compiled with fast mathematics or with more precision than its types have.
#  - Every C file of the library and of the command is compiled with the exact flags, and nothing
#    behind them takes one back: a user's CFLAGS come before them.
set -u
source=$1
build=$2
compiler=${CC:-cc}
failed=0
complain() {
    echo "$*"
    failed=1
}

compiles() { # FLAGS: k.h alone, as a kernel file includes it
    printf '#include "kern/k.h"\nfloat a(float b);\nfloat a(float b) { return k_sqrtf(b); }\n' |
        "$compiler" -std=c11 -x c -I "$source/src" -I "$source/include" "$@" -O2 -c -o /dev/null - 2>/dev/null
}
compiles || complain "src/kern/k.h does not compile alone"
compiles -ffast-math && complain "src/kern/k.h compiles with -ffast-math, which changes results"
if [ "$(uname -m)" = x86_64 ] && "$compiler" --version | grep -qi gcc; then
    compiles -mfpmath=387 && complain "src/kern/k.h compiles with -mfpmath=387, which computes in 80 bits"
fi

commands=$build/compile_commands.json
[ -f "$commands" ] || { complain "$commands is not there"; exit 1; }
checked=0
while read -r line; do
    checked=$((checked + 1))
    file=$(sed -E 's/.* -c ([^ "]+).*/\1/' <<<"$line")
    for flag in -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-fast-math -fno-lto; do
        [[ $line == *" $flag "* ]] || complain "$file is compiled without $flag"
    done
    behind=${line##* -fno-fast-math }
    for flag in -ffast-math -Ofast -funsafe-math-optimizations -ffp-contract=fast -ffp-contract=on -flto -fassociative-math \
        -freciprocal-math -ffinite-math-only -fno-signed-zeros; do
        [[ " $behind " == *" $flag "* ]] && complain "$file is compiled with $flag behind the exact flags"
    done
done < <(grep '"command":' "$commands" | grep -E ' -c [^ ]*/src/[^ ]*\.c')
[ $checked -gt 0 ] || complain "$commands holds no file of src/"
[ $failed = 0 ] && echo "$checked compilations carry the exact flags"
exit $failed
