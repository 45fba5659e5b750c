#!/bin/sh
# run.sh MODEL.pml: model.NAME of ctest. Spin looks at every state of the model: no failed assertion, no
# deadlock, and each `ltl` claim holds (under weak fairness if its name begins with fair_). Then the same
# with each of the model's macros BROKEN..., or each value that one is compared with (BROKEN == 2): a check
# must fail, else they would tell nothing of the model that passes.
# Lines "Searched with: FLAGS" in the model give spin's flags of one search each.
set -eu
model=$1
for program in spin "${CC:=gcc}"; do
    command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$model" "$folder/model.pml"
cd "$folder"

# explore WHAT FLAGS OPTIONS: one search; answers 0 when it was complete and found nothing.
explore() {
    # shellcheck disable=SC2086 -- flags and options are words
    "$CC" -O1 -w -DVECTORSZ=4096 -DMEMLIM=2000 -DCOLLAPSE $2 -o pan pan.c || exit 2
    # shellcheck disable=SC2086
    ./pan -m1000000 $3 >log 2>&1 || { cat log; exit 2; }
    if grep -q 'errors: 0' log; then
        if grep -q 'Search not completed\|max search depth too small' log; then
            tail -40 log
            echo "$1: the search is not complete"
            exit 2
        fi
        echo "$1: hold in all of $(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' log) states"
        return 0
    fi
    echo "$1: $(grep -m1 '^pan:' log)"
    return 1
}

# check FLAGS: all searches; the first failure ends them.
check() {
    # shellcheck disable=SC2086
    spin -a $1 model.pml >log 2>&1 || { cat log; exit 2; }
    explore "assertions, no deadlock" "-DSAFETY -DNOCLAIM" "" || return 1
    for claim in $(sed -n 's/^ltl  *\([a-z_0-9]*\).*/\1/p' model.pml); do
        case $claim in
        fair_*) explore "$claim" -DNFAIR=4 "-a -f -N $claim" || return 1 ;;
        *) explore "$claim" "" "-a -N $claim" || return 1 ;;
        esac
    done
}

sed -n 's|^.*Searched with: *\([-A-Za-z0-9_= ]*[A-Za-z0-9_]\).*|\1|p' model.pml >searches
[ -s searches ] || echo >searches
while read -r flags; do
    echo "-- as it is ${flags:+with $flags}"
    if ! check "$flags"; then
        # shellcheck disable=SC2086
        spin $flags -t -p -g -l model.pml | tail -80
        exit 1
    fi
done <searches

variants() {
    sed -n 's/^# *ifn*def  *\(BROKEN[A-Z_]*\).*/\1/p' model.pml | while read -r name; do
        grep -q "$name [!=]= [1-9]" model.pml || echo "$name"
    done
    grep '^# *if ' model.pml | grep -o 'BROKEN[A-Z_]* [!=]= [1-9]' | sed 's/ [!=]= /=/'
}
for broken in $(variants | sort -u); do # of each the first failure is enough
    echo "-- $broken"
    seen=no
    while read -r flags; do
        check "$flags -D$broken" || { seen=yes; break; }
    done <searches
    [ $seen = yes ] || { echo "$broken: nothing fails, so the model does not see it"; exit 1; }
done
