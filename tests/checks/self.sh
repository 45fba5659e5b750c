#!/bin/bash
# self.sh SOURCE BUILD: the checks themselves must be able to fail. Each is given a small tree with one
# offence and has to name it.
set -u
tools=$1/tools
scratch=$(mktemp -d "$2/self-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

expect() { # CHECK WORD: the check fails and its output holds the word
    local output
    if output=$("$tools/check_$1.sh" "$scratch/tree" "$scratch/tree" 2>&1); then
        echo "check_$1 passed a tree with this offence: $2"
        failed=1
    elif [[ $output != *"$2"* ]]; then
        echo "check_$1 failed without naming \"$2\": $output"
        failed=1
    fi
}

fresh() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch"/tree/{src/{base,ct,rt,store,dev,cli},include/motet,examples}
    cd "$scratch/tree" || exit 1
}

fresh; echo '#include "rt/op.h"' >src/base/mem.c; expect includes src/base/mem.c
fresh; echo '#include "ct/scan.h"' >src/rt/run.c; expect includes src/rt/run.c
fresh; echo '#include "dev/dev.h"' >src/store/npy.c; expect includes src/store/npy.c
fresh; echo '#  include "base/mem.h"' >src/cli/main.c; expect includes src/cli/main.c
fresh; mkdir -p src/base; echo '#include "base/context.h"' >src/ct/a.c; expect includes src/ct/a.c
fresh; echo '#include <stdio.h>' >include/motet/a.h; expect includes include/motet/a.h
fresh; mkdir src/odd; expect includes src/odd

fresh; echo 'int a(int class);' >include/motet/a.h; expect headers 'motet/a.h'
fresh; echo 'int a(size_t b);' >include/motet/a.h; expect headers 'motet/a.h'

fresh; echo '/* TO''DO: later */' >src/base/a.c; expect words src/base/a.c
fresh; echo '/* see /ho''me/me/notes */' >src/base/a.c; expect words src/base/a.c

exact='-ffp-contract=off -fno-math-errno -fno-trapping-math -fno-fast-math -fno-lto'
flags() { # K.H OPTIONS
    fresh; mkdir -p src/kern
    echo "$1" >src/kern/k.h
    echo "  \"command\": \"cc $2 -o a.o -c $scratch/tree/src/base/a.c\"," >compile_commands.json
}
careless='static inline float k_sqrtf(float a) { return a; }'
careful="#ifdef __FAST_MATH__
#error no
#endif
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error no
#endif
$careless"
flags "$careless" "-O2 $exact"; expect flags 'compiles with -ffast-math'
flags "$careful" '-O2 -ffp-contract=off'; expect flags 'a.c is compiled without -fno-fast-math'
flags "$careful" "-O2 $exact -ffast-math"; expect flags '-ffast-math behind the exact flags'

library() { # C TEXT
    fresh
    echo "$1" | "${CC:-cc}" -x c -shared -fPIC -O0 -fno-builtin -o libmotet.so - -lm || exit 1
}
library '#include <stdio.h>
int motet_a(void); int motet_a(void) { return printf("a"); }'; expect symbols printf
library '#include <stdlib.h>
void motet_a(void); void motet_a(void) { abort(); }'; expect symbols abort
library '#include <stdlib.h>
char *motet_a(void); char *motet_a(void) { return getenv("A"); }'; expect symbols getenv
library '#include <math.h>
double motet_a(double a); double motet_a(double a) { return sin(a); }'; expect symbols sin
library 'int other(void); int other(void) { return 1; }'; expect symbols other
library 'int motet_a(void); int motet_a(void) { static int kept; return kept++; }'; expect symbols kept

[ $failed = 0 ] && echo "every check can fail"
exit $failed
