# What the scripts share. Every check says what it expected; the first line of a script is its promise.
set -u
scripts=$(cd "${0%/*}" && pwd)
here=$(mktemp -d "${TMPDIR:-/tmp}/motet-cli-XXXXXX") || exit 1
trap 'rm -rf "$here"' EXIT
trap 'exit 1' INT TERM
cd "$here" || exit 1
failures=0

bad() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# refused CODE WORDS ARGS...: motet ARGS exits with CODE, prints nothing on stdout and one line on stderr that contains WORDS.
refused() {
    code=$1 words=$2
    shift 2
    timeout -k 10 120 "$MOTET" "$@" >out.txt 2>err.txt </dev/null
    got=$?
    [ "$got" = "$code" ] || bad "motet $*: exit code $got, expected $code ($(head -c 300 err.txt))"
    [ -s out.txt ] && bad "motet $*: printed on stdout: $(head -c 200 out.txt)"
    [ "$(wc -l <err.txt)" = 1 ] || bad "motet $*: $(wc -l <err.txt) lines on stderr, expected 1: $(cat err.txt)"
    grep -qF -- "$words" err.txt || bad "motet $*: \"$(cat err.txt)\" does not contain \"$words\""
    rm -f out.txt err.txt
}

# works ARGS...: motet ARGS exits with 0; its output is left in out.txt and err.txt.
works() {
    timeout -k 10 300 "$MOTET" "$@" >out.txt 2>err.txt </dev/null
    got=$?
    [ "$got" = 0 ] || bad "motet $*: exit code $got ($(head -c 500 err.txt))"
}

# has WORDS: the last output contains them.
has() {
    grep -qF -- "$1" out.txt || bad "the output lacks \"$1\": $(head -c 500 out.txt)"
}

# nothing_but NAMES...: the folder holds only these (out.txt and err.txt aside).
nothing_but() {
    rm -f out.txt err.txt
    found=$(ls -A1 | sort) wanted=$(printf '%s\n' "$@" | sort)
    [ "$found" = "$wanted" ] || bad "the folder holds $(echo $found), expected: $*"
}

finish() {
    [ "$failures" = 0 ] || exit 1
    exit 0
}

# Of processes that supervise and compute.
# child_of PID: the process that computes for it.
child_of() {
    tr ' ' '\n' 2>err3.txt <"/proc/$1/task/$1/children" | head -1
}
gone() { # gone PID: within 20 seconds it is no more
    tries=0
    while kill -0 "$1" 2>err3.txt && ! grep -q '^State:.*Z' "/proc/$1/status" 2>err3.txt; do
        [ $tries -ge 400 ] && bad "process $1 is still there" && return
        sleep 0.05
        tries=$((tries + 1))
    done
}

need_python() {
    [ -n "${PYTHON:-}" ] && return
    echo "skipped: no python3 to make and check files with"
    exit 77
}
files() { "$PYTHON" "$scripts/files.py" "$@"; }
