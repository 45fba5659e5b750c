#!/bin/sh
# A real scan becomes a picture with one command, with defaults only: the axis near column 296, dense tooth in thin air.
. "${0%/*}/support.sh"
need_python
tooth=$MOTET_TEST_DATA/ct/tooth.h5
if [ ! -r "$tooth" ]; then
    echo "skipped: $tooth is absent (MOTET_TEST_DATA names the folder)"
    exit 77
fi
works ct recon "$tooth" -o tooth.mha --png tooth.png --json tooth.json
files report tooth.json 'abs(r["result"]["center"] - 296) < 0.75 and r["result"]["shape"] == [2, 640, 640]' || bad "the axis or shape"
works ct convert tooth.png tooth.npy
# Dentine is bright, the corner outside is dark.
files report tooth.json '(lambda p: sum(p[1][y * 640 + x] for y in range(20) for x in range(20)) / 400 < 0.6 * max(sum(p[1][y * 640 + x] for y in range(b, b + 40) for x in range(a, a + 40)) / 1600 for a in range(100, 500, 40) for b in range(100, 500, 40)))(read_npy("tooth.npy"))' || bad "the picture shows no tooth"
files report tooth.json '{"motet", "result"} <= set(r) and r["outputs"][1]["bytes"] > 1000' || bad report
nothing_but tooth.mha tooth.png tooth.json tooth.npy
finish
