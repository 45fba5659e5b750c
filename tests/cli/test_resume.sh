#!/bin/sh
# A reconstruction that was stopped goes on from its folder to the same bits, whatever stopped it.
. "${0%/*}/support.sh"

flags="--center 159 --isa base --threads 1 --slab 2"
# until_kept: waits until the journal holds something and the run goes on.
until_kept() {
    tries=0
    until [ "$(stat -c %s kept/journal 2>err3.txt || echo 0)" -gt 100000 ]; do
        [ $tries -ge 500 ] && bad "nothing was kept: $(cat err.txt)" && return
        sleep 0.02
        tries=$((tries + 1))
    done
}
begin() {
    "$MOTET" ct recon scan.h5 -o w.npy $flags --resume kept "$@" >out.txt 2>err.txt &
    pid=$!
}
# resumes WHAT FLAGS: the same command succeeds, takes up what is kept, gives the same bits and leaves no folder.
resumes() {
    what=$1
    shift
    works ct recon scan.h5 -o w.npy $flags --resume kept --json w.json "$@"
    grep -A1 '"resumed"' w.json | grep -q '"parts": [1-9]' || bad "$what: took nothing up: $(grep -A3 resumed w.json)"
    grep -q '^resumed   [1-9]' out.txt || bad "$what: does not say what it took up: $(cat out.txt)"
    cmp -s w.npy v.npy || bad "$what: other bits"
    [ -e kept ] && bad "$what: the folder is still there: $(ls -A kept)"
    rm -f w.npy w.json .motet-*.part out.txt err.txt err3.txt
    nothing_but scan.h5 v.npy
}

works ct simulate -o scan.h5 --views 180 --rows 6 --columns 320 -q
works ct recon scan.h5 -o v.npy $flags

# Killed, and stopped by Ctrl-C.
begin
until_kept
kill -9 $pid
wait $pid
[ -e w.npy ] && bad "an output was written"
resumes "killed"
begin
until_kept
kill -INT $pid
wait $pid
[ $? = 5 ] || bad "Ctrl-C: $(cat err.txt)"
[ -e kept/journal ] || bad "Ctrl-C: nothing is kept"
grep -q "kept keeps what is finished" err.txt || bad "Ctrl-C: says $(cat err.txt)"
resumes "stopped" --chunk 3

# Killed again and again, supervised or not, in chunks of any size.
for chunk in 1 2; do
    begin --chunk $chunk --supervise yes
    until_kept
    kill -9 $pid
    wait $pid
done
tries=0 # its child ends, too, and then the folder is free
until flock -n kept/journal true || [ $tries = 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
resumes "killed twice" --supervise yes

# A disk that is full, for the journal or the volume: a limit on the size of files stands for it.
(
    ulimit -f 3000 # blocks of 512 bytes: less than the volume
    "$MOTET" ct recon scan.h5 -o w.npy $flags --resume kept >out.txt 2>err.txt
    [ $? = 3 ] || bad "a full disk: $(cat err.txt)"
    exit $failures
) || failures=$((failures + 1))
[ -e w.npy ] && bad "a full disk: an output was written"
resumes "a full disk"

# Another input: it is said, and all is computed.
begin
until_kept
kill -9 $pid
wait $pid
rm -f .motet-*.part
works ct recon scan.h5 -o w.npy $flags --rows 1:3 --cutoff 0.5 --resume kept
grep -qF "kept was of another input, other options or another build" err.txt || bad "another input: says $(cat err.txt)"
works ct recon scan.h5 -o u.npy $flags --rows 1:3 --cutoff 0.5
cmp -s w.npy u.npy || bad "another input: other bits"
rm -f w.npy u.npy

# Somebody else's folder is refused and left alone; so is one that is in use.
mkdir notes
echo "these are notes" >notes/journal
refused 2 "notes/journal: the file to keep a journal in holds something else" \
    ct recon scan.h5 -o w.npy $flags --resume notes
[ "$(cat notes/journal)" = "these are notes" ] || bad "the notes are gone"
rm -r notes
mkdir kept
flock kept sleep 0 # flock is there
: >kept/journal
flock kept/journal sleep 5 &
pid=$!
tries=0
while flock -n kept/journal true && [ $tries -lt 100 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
refused 3 "kept/journal: another process writes to it" ct recon scan.h5 -o w.npy $flags --resume kept
kill $pid
wait $pid
rm -r kept
rm -f err3.txt
nothing_but scan.h5 v.npy
finish
