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
# Enamel is brighter than dentine, dentine than the pulp cavity and the air, at places read off the picture.
files report tooth.json '(lambda mean: min(mean(x, y) for x, y in [(412, 230), (320, 415), (235, 250)]) > 1.3 * max(mean(x, y) for x, y in [(385, 340), (390, 260), (340, 210)]) and min(mean(x, y) for x, y in [(385, 340), (390, 260), (340, 210)]) > 3 * max(mean(x, y) for x, y in [(285, 310), (316, 275), (100, 100), (320, 550), (550, 320)]))((lambda p: lambda x, y: sum(p[640 * v + u] for v in range(y - 5, y + 6) for u in range(x - 5, x + 6)) / 121)(read_npy("tooth.npy")[1]))' || bad "the picture shows no tooth"
files report tooth.json '{"motet", "result"} <= set(r) and r["outputs"][1]["bytes"] > 1000' || bad report
nothing_but tooth.mha tooth.png tooth.json tooth.npy
finish
