#!/bin/bash
# check_requirements.sh SOURCE BUILD: docs/requirements.md cites only tests that exist. A citation is
# `unit.area.name` or `unit.area.name: function`; the function must be in that test's source.
# docs/peers.md is held to the same. The former also must have an answer for every line of the four lists: no gap, no doubling.
set -u
cd "$1" || exit 1
page=docs/requirements.md
failed=0
complain() {
    echo "$page: $*"
    failed=1
}

tests=$(ctest --test-dir "$2" -N | sed -n 's/^ *Test *#[0-9]*: //p')
[ -n "$tests" ] || { echo "ctest lists no test in $2"; exit 1; }
cited=0
while read -r name function; do
    cited=$((cited + 1))
    grep -qxF -- "$name" <<<"$tests" || { complain "there is no test $name"; continue; }
    [ -n "$function" ] || continue
    kind=${name%%.*}
    rest=${name#*.}
    case $rest in
    *.*) source=tests/$kind/${rest%.*}/test_${rest##*.}.c ;;
    *) source=tests/$kind/test_$rest.c ;;
    esac
    grep -qw -- "$function" "$source" || complain "$source has no test function $function"
done < <(grep -hE '^\| ([A-Z]+-)?[0-9]' $page docs/peers.md | grep -oE '`(unit|sim|fault|prop|golden|fuzz|cli|gpu|model|check)\.[A-Za-z0-9_.]+(: [a-z0-9_]+)?`' | tr -d '`:' | sort -u)
[ $cited -gt 0 ] || complain "it cites no test"

for list in CT:61 RF:126 GEM:58 PAULI:54; do
    expected=$(seq -f "${list%:*}-%g" "${list#*:}" | sort)
    found=$(sed -nE "s/^\\| (${list%:*}-[0-9]+) \\|.*\\| [^|]+ \\|$/\\1/p" $page | sort)
    difference=$(diff <(echo "$expected") <(echo "$found")) || complain "lines of ${list%:*} that are missing or there twice: $difference"
done
grep -qE '@[A-Z]+@' $page && complain "an unfilled mark: $(grep -oE '@[A-Z]+@' $page | sort -u | tr '\n' ' ')"
[ $failed = 0 ] && echo "$cited citations, all of tests that exist; every line answered"
exit $failed
