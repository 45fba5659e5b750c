#!/bin/sh
# Every command has help within 80 columns, by three spellings; docs/cli.md is what the command prints; completion scripts load.
. "${0%/*}/support.sh"

works --help
has 'usage: motet COMMAND'
for command in devices verify bench completion help version ct 'ct info' 'ct convert' 'ct simulate' 'ct recon' 'ct phantom' 'ct project' 'ct backproject' 'ct fdk' 'ct fbp' 'ct cgls' 'ct sirt' plan 'ct check-geometry'; do
    works $command --help
    has "usage: motet $command"
    [ -s err.txt ] && bad "$command --help: printed on stderr"
    cp out.txt flag.txt
    works help $command
    cmp -s out.txt flag.txt || bad "motet help $command and motet $command --help differ"
    works $command -h
    cmp -s out.txt flag.txt || bad "motet $command -h and --help differ"
    awk -v c="$command" 'length > 80 && !/^usage:|^  motet/ { print "FAILED: " c ": " length " columns: " $0; bad = 1 } END { exit bad }' \
        out.txt >&2 || bad "$command --help is too wide"
    grep -q ' $' out.txt && bad "$command --help: trailing spaces"
done
works ct recon x --nonsense --help
has 'usage: motet ct recon'
works --version
has 'motet 0.'

works help --markdown
cmp -s out.txt "$MOTET_SOURCE/docs/cli.md" || bad "docs/cli.md is out of date: motet help --markdown > docs/cli.md"

for shell in bash zsh fish; do works completion $shell; done
if command -v bash >/dev/null; then
    "$MOTET" completion bash >motet.bash
    complete_line() { # the last argument is the word being typed
        bash -c '. ./motet.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _motet; printf "%s\n" "${COMPREPLY[@]}"' bash "$@" >out.txt 2>err.txt
        [ -s err.txt ] && bad "completion of $*: $(cat err.txt)"
    }
    complete_line motet ver; has verify; has version
    complete_line motet ct re; has recon
    complete_line motet ct recon x --ce; has --center
    complete_line motet ct recon x --window h; has hann; has hamming
    complete_line motet ct fdk x --weights-scheme s; has short
    complete_line motet ct sirt x --non; has --nonnegative
    complete_line motet ct cgls x --from-disk ''; has auto
    complete_line motet ct recon x -o y --isa ''; has v4
    complete_line motet completion f; has fish
    complete_line motet help ct s; has simulate
    touch scan.h5
    complete_line motet ct info sc; has scan.h5
fi
if [ -c /dev/full ]; then
    "$MOTET" --help >/dev/full 2>err.txt
    [ $? = 3 ] || bad "help on a full disk: exit code is not 3"
    grep -q 'writing to standard output' err.txt || bad "help on a full disk says nothing"
fi
finish
