#!/bin/sh
# Runs the programs beside it on the GPUs of this machine; `./dev test-gpu` makes the folder.
#   run [--only REGEX] [--sanitizer memcheck|racecheck|initcheck|synccheck]
# Exit code 6: something failed. With a sanitizer programs have less to do, and those that break GPUs do not run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
only=. tool=
while [ $# -gt 0 ]; do
    case $1 in
    --only) only=$2 && shift ;;
    --sanitizer) tool=$2 && shift ;;
    *) echo "usage: run [--only REGEX] [--sanitizer memcheck|racecheck|initcheck|synccheck]" >&2 && exit 1 ;;
    esac
    shift
done
case $tool in
'' | memcheck | racecheck | initcheck | synccheck) ;;
*) echo "run: no sanitizer '$tool'" >&2 && exit 1 ;;
esac

logs=$(mktemp -d "${TMPDIR:-/tmp}/motet-gpu-XXXXXX") || exit 1
trap 'rm -rf "$logs"' EXIT
now() { date +%s.%N; }
seconds() { echo "$1 $2" | awk '{ printf "%.1f", $2 - $1 }'; }
export MOTET="$here/motet" MOTET_FAULTY="$here/faulty"
# The driver, which the failing one hands things to.
if [ -z "${MOTET_DRIVER:-}" ]; then
    for folder in $(echo "${LD_LIBRARY_PATH:-}" | tr ':' ' '); do
        [ ! -e "$folder/libcuda.so.1" ] || MOTET_DRIVER=$folder/libcuda.so.1
    done
    [ -n "${MOTET_DRIVER:-}" ] || MOTET_DRIVER=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .* => //p' | head -1)
    [ -z "$MOTET_DRIVER" ] || export MOTET_DRIVER
fi
[ -z "$tool" ] || export MOTET_GPU_QUICK=1

passed=0 failed=0 skipped=0 begun=$(now)
for program in "$here"/gpu.* "$here"/test_*.sh; do
    name=$(basename "$program")
    echo "$name" | grep -qE -- "$only" || continue
    case $name in *.sh) set -- sh "$program" ;; *) set -- "$program" ;; esac
    if [ -n "$tool" ]; then
        case $name in *.sh) continue ;; esac
        quiet= # calls that answer an error are looked at by the caller: a kernel without a tuned form is asked for
        [ "$tool" != memcheck ] || quiet='--report-api-errors no'
        # shellcheck disable=SC2086
        set -- compute-sanitizer --tool "$tool" $quiet --error-exitcode 6 --target-processes all "$@"
    fi
    from=$(now)
    timeout -k 10 "${MOTET_GPU_LIMIT:-240}" "$@" >"$logs/out" 2>&1
    code=$?
    took=$(seconds "$from" "$(now)")
    case $code in
    0) word=passed passed=$((passed + 1)) ;;
    77) word="skipped ($(sed -n 's/^skipped: //p' "$logs/out" | tail -1))" skipped=$((skipped + 1)) ;;
    124 | 137) word="FAILED (no end after ${MOTET_GPU_LIMIT:-240} s)" failed=$((failed + 1)) ;;
    *) word="FAILED (exit code $code)" failed=$((failed + 1)) ;;
    esac
    printf '%-24s %8s s  %s\n' "$name" "$took" "$word"
    case $word in FAILED*) tail -n 60 "$logs/out" | sed 's/^/    /' ;; esac
    sed -n 's/^told: /    /p' "$logs/out"
done
echo "$passed passed, $failed failed, $skipped skipped${tool:+ with $tool} in $(seconds "$begun" "$(now)") s"
[ $((passed + failed + skipped)) -gt 0 ] || { echo "run: nothing matches '$only'" >&2 && exit 1; }
[ $failed = 0 ] || exit 6
