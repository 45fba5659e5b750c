#!/bin/sh
# Ctrl-C in the middle of a run: exit code 5, one line, nothing left behind, soon.
. "${0%/*}/support.sh"

works ct simulate -o scan.h5 --views 180 --rows 8 --columns 512 -q
for dtype in f32 u16; do
    for signal in INT TERM; do
        "$MOTET" ct recon scan.h5 -o w.npy --png w.png --center 255 --dtype $dtype --isa base --threads 1 --slab 2 --json w.json \
            >out.txt 2>err.txt &
        pid=$!
        tries=0
        until ls -A | grep -q 'w\.json' || [ $tries = 100 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        sleep 0.3
        kill -$signal $pid 2>/dev/null || bad "the run was over before it could be stopped"
        begun=$(date +%s)
        wait $pid
        code=$?
        [ $code = 5 ] || bad "$signal $dtype: exit code $code, expected 5: $(cat err.txt)"
        [ $(($(date +%s) - begun)) -le 20 ] || bad "$signal $dtype: took $(($(date +%s) - begun)) s to stop"
        grep -q '^motet ct recon: cancelled' err.txt || bad "$signal $dtype: says $(cat err.txt)"
        [ "$(wc -l <err.txt)" = 1 ] || bad "$signal $dtype: says $(cat err.txt)"
        nothing_but scan.h5
    done
done
finish
