#!/bin/bash
# check_dev.sh SOURCE BUILD: ./dev works from any folder and through a link, takes its options before
# and after the command, and tells mistakes in one line before it builds anything.
set -u
scratch=$(mktemp -d "$2/dev-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
ln -s "$1/dev" link
failed=0

says() { # CODE WORDS ARGS...
    local code=$1 words=$2 got
    shift 2
    ./link "$@" >out 2>&1 </dev/null
    got=$?
    if [ $got != "$code" ] || ! grep -qF -- "$words" out; then
        echo "./dev $*: exit code $got, expected $code and the words \"$words\": $(cat out)"
        failed=1
    fi
}

says 0 'usage: ./dev COMMAND'
for help in help --help -h 'test --help' '--help test' '--yes help'; do
    # shellcheck disable=SC2086
    says 0 'usage: ./dev COMMAND' $help
done
says 1 "no command 'tset'" tset
says 1 "no command 'tset'" --no-setup tset
says 1 "build takes no argument 'extra'" build extra
says 1 "build takes no argument 'extra'" --yes build extra
says 1 "no folder 'src/nowhere'" coverage nowhere
says 1 "no configuration 'gc'; there are: gcc clang asan tsan msan" test --only clang,gc
says 1 '--only needs names' test --only
says 1 '--sanitizer needs a name' test-gpu --sanitizer
command -v nvidia-smi >out || says 1 '--build-only makes build/gpu-run' test-gpu
[ $failed = 0 ] && echo "./dev answers"
exit $failed
