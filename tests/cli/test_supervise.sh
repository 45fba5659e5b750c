#!/bin/sh
# A supervised run gives the same bits, words and exit codes, survives the loss of its child, and leaves nothing behind.
. "${0%/*}/support.sh"

# at_work PID: waits until the child of PID writes beside its output; its process in $child.
at_work() {
    tries=0 former=$child child=
    while [ $tries -lt 400 ] && kill -0 "$1" 2>err3.txt; do
        child=$(child_of "$1")
        [ -n "$child" ] && [ "$child" != "$former" ] && ls -A | grep -q '^\.motet-' && return 0
        sleep 0.02
        tries=$((tries + 1))
    done
    bad "no child of $1 came to its work: $(head -c 500 err.txt)"
    return 1
}
until_kept() { # waits until $child's journal, which has no name, holds something
    tries=0
    while [ $tries -lt 500 ]; do
        for file in /proc/$child/fd/*; do
            readlink "$file" 2>err3.txt | grep -q 'memfd:motet-journal' || continue
            [ "$(stat -L -c %s "$file" 2>err3.txt || echo 0)" -gt 100000 ] && return 0
        done
        sleep 0.02
        tries=$((tries + 1))
    done
    bad "the child keeps nothing"
}
child= silent=
slow="--center 159 --isa base --threads 1 --slab 2"
begin() { # begin FLAGS: a slow supervised run in the background, its process in $pid
    "$MOTET" ct recon scan.h5 -o w.npy --png w.png $slow --supervise yes "$@" >out.txt 2>err.txt &
    pid=$!
}
ends() { # ends CODE WORDS: so it does, within a minute, and says WORDS
    wait $pid
    got=$?
    [ $got = "$1" ] || bad "exit code $got, expected $1: $(cat err.txt)"
    grep -qF -- "$2" err.txt || bad "says \"$(cat err.txt)\", expected \"$2\""
}
same() {
    cmp -s w.npy v.npy || bad "$1: other bits"
    cmp -s w.png v.png || bad "$1: another picture"
    rm -f w.npy w.png out.txt err.txt err3.txt
    nothing_but scan.h5 v.npy v.png words.txt
}

[ -e /proc/self/task ] && [ -e "/proc/$$/task/$$/children" ] || { echo "skipped: /proc does not tell of children"; exit 77; }
works ct simulate -o scan.h5 --views 180 --rows 6 --columns 320 -q
works ct recon scan.h5 -o v.npy --png v.png $slow
grep -v '^time\|^kernels\|^wrote' out.txt >words.txt

# The same words, bits and codes.
works ct recon scan.h5 -o w.npy --png w.png $slow --supervise yes
grep -v '^time\|^kernels\|^wrote' out.txt | cmp -s - words.txt || bad "supervised, it says: $(cat out.txt)"
[ -s err.txt ] && bad "supervised, it warns: $(cat err.txt)"
same "supervised"
refused 2 "exists already; --overwrite replaces it" ct recon scan.h5 -o v.npy --supervise yes
refused 3 "missing.h5" ct recon missing.h5 -o w.npy --supervise yes
refused 1 "expected auto, yes or no" ct recon scan.h5 -o w.npy --supervise maybe

# The child is killed, or falls silent: a fresh one goes on.
begin --json w.json
at_work $pid && until_kept && kill -9 "$child"
ends 0 "it was ended by signal 9"
grep -A1 '"resumed"' w.json | grep -q '"parts": [1-9]' || bad "what the child had finished was lost: $(grep -A3 resumed w.json)"
rm -f w.json
same "killed"
export MOTET_SUPERVISE_SILENCE=1
begin
at_work $pid && kill -STOP "$child" && silent=$child
ends 0 "it was silent for"
gone "$silent"
unset MOTET_SUPERVISE_SILENCE
same "silent"

# Killed when all is said but the report, which somebody reads slowly: it is said once.
mkfifo w.json
sleep 60 <>w.json &
holder=$!
head -c 65536 /dev/zero >w.json
begin --json w.json
at_work $pid
tries=0
until [ -e w.npy ] || [ $tries = 500 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
sleep 0.3
kill -9 "$child"
cat <>w.json >/dev/null &
reader=$!
ends 0 "it was ended by signal 9"
kill $holder $reader
wait $holder $reader
grep -v '^time\|^kernels\|^wrote' out.txt | cmp -s - words.txt || bad "killed late, it says: $(cat out.txt)"
rm w.json
same "killed late"

# A folder is swept as well.
"$MOTET" ct recon scan.h5 -o pages/ $slow --supervise yes >out.txt 2>err.txt &
pid=$!
at_work $pid && kill -9 "$child"
ends 0 "it was ended by signal 9"
[ "$(ls -A pages | grep -vc '^page')" = 0 ] || bad "the folder holds $(ls -A pages)"
rm -rf pages out.txt err.txt err3.txt
nothing_but scan.h5 v.npy v.png words.txt

# The parent is killed: so is the child.
begin
at_work $pid && kill -9 $pid
wait $pid
gone "$child"
rm -f out.txt err.txt err3.txt
nothing_but scan.h5 v.npy v.png words.txt

# Ctrl-C reaches the child, through the parent.
for signal in INT TERM; do
    begin
    at_work $pid && kill -$signal $pid
    ends 5 "cancelled; nothing was written"
    [ "$(wc -l <err.txt)" = 1 ] || bad "$signal: says $(cat err.txt)"
    gone "$child"
    rm -f out.txt err.txt err3.txt
    nothing_but scan.h5 v.npy v.png words.txt
done

# What is killed again and again is given up.
begin
returns=0
while [ $returns -lt 7 ]; do
    at_work $pid || break
    kill -9 "$child"
    gone "$child"
    returns=$((returns + 1))
done
ends 4 "gave up after 6 fresh processes within an hour; of the last: it was ended by signal 9"
rm -f out.txt err.txt err3.txt
nothing_but scan.h5 v.npy v.png words.txt

# A device that breaks its process twice is left out.
begin --devices sim:0@crash_at_command=9,cpu
ends 0 "Illegal instruction"
[ "$(grep -c 'a fresh one goes on' err.txt)" = 2 ] || bad "a bad device: $(cat err.txt)"
same "a bad device"

# One that is lost is tried again by a fresh process, in place of going on on the CPU alone; when that loses it as well, it
# is left out. Of several the others go on.
for cpu in ,cpu /cpu; do
    begin --devices sim:0@lose_at_command=9$cpu
    ends 0 "sim:0: the device is lost; a fresh one goes on"
    [ "$(grep -c 'a fresh one goes on' err.txt)" = 2 ] || bad "a lost device before $cpu: $(cat err.txt)"
    same "a lost device before $cpu"
done
begin --devices sim:0@lose_at_command=9,sim:1/cpu
ends 0 "goes on without sim:0"
grep -q 'a fresh one goes on' err.txt && bad "one of two lost devices: $(cat err.txt)"
same "one of two lost devices"

# One that is lost, and the only one, is tried again by a fresh process, and later once more, unless one is stopped.
begin --devices sim:0@lose_at_command=9
tries=0
until grep -q 'no device is left, trying again in 30 seconds' err.txt || [ $tries = 400 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -INT $pid
ends 5 "sim:0: the device is lost; a fresh one goes on"
grep -q 'cancelled; nothing was written' err.txt || bad "stopped while waiting, it says: $(cat err.txt)"
rm -f out.txt err.txt err3.txt
nothing_but scan.h5 v.npy v.png words.txt
finish
