#!/bin/bash
# check_words.sh SOURCE: words that have no place in a finished tree: notes about unfinished work,
# paths of one person's machine, numbers of tickets that a reader cannot open.
set -u
cd "$1" || exit 1
failed=0
search() { # PATTERN WHY
    local hits
    hits=$(grep -rnIE --exclude-dir=.git --exclude=.git --exclude-dir='build*' --exclude-dir=shared --exclude-dir=__pycache__ --exclude=check_words.sh \
        --exclude-dir=corpus -e "$1" .)
    if [ -n "$hits" ]; then
        echo "$hits" | cut -c1-200 | head -20
        echo "^ $2"
        failed=1
    fi
}
search '\b(TODO|FIXME|XXX|HACK)\b' "unfinished work belongs in the issue tracker"
search '(^|[^A-Za-z0-9._])/(work|home|root|Users)/' "a path of one machine"
search '\b[Ii]ssue #?[0-9]+|\(#[0-9]+\)' "a number that readers of the tree cannot look up"
search '^(<<<<<<<|>>>>>>>) ' "the mark of an unresolved merge"
[ $failed = 0 ] && echo "none found"
exit $failed
