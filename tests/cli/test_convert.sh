#!/bin/sh
# motet ct convert keeps values, scales them as told, swaps axes, refuses bad inputs, and leaves nothing half-written.
. "${0%/*}/support.sh"
need_python

files npy a.npy '<f4' 3,4,5 'i * 0.5 - 7'
for kind in h5 mha tif; do
    works ct convert a.npy b.$kind
    works ct convert b.$kind c.npy
    [ "$(files values a.npy)" = "$(files values c.npy)" ] || bad "npy -> $kind -> npy changes values"
    rm -f c.npy
done
works ct convert a.npy pages/
works ct convert pages c.npy
[ "$(files values a.npy)" = "$(files values c.npy)" ] || bad "npy -> pages -> npy changes values"
rm -rf c.npy pages b.*

works ct convert a.npy x.h5 --out-entry /one/two
works ct convert --entry=/one/two x.h5 c.npy --quiet
[ -s out.txt ] && bad "--quiet printed $(cat out.txt)"
[ "$(files values a.npy)" = "$(files values c.npy)" ] || bad "an HDF5 entry changes values"
rm -f c.npy x.h5

# Element (k, u, v) goes to (k, v, u).
files npy s.npy '<i4' 2,2,3 i
works ct convert s.npy t.npy --sinogram
[ "$(files values t.npy)" = "(2, 3, 2) [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]" ] || bad "--sinogram: $(files values t.npy)"
rm -f s.npy t.npy

# LO becomes 0, HI the highest, in between is rounded, outside is clipped and counted; a NaN counts too.
files npy v.npy '<f4' 6 '[-1.0, 0.0, 0.25, 1.0, 1.5, math.nan][i]'
works ct convert v.npy w.npy --dtype u8 --range 0:1 --json report.json
has '3 were clipped'
[ "$(files values w.npy)" = "(6,) [0, 0, 64, 255, 255, 0]" ] || bad "--range 0:1: $(files values w.npy)"
files report report.json 'r["result"]["clipped"] == 3 and r["result"]["offset"] == 0 and abs(r["result"]["scale"] * 255 - 1) < 1e-15' || bad report
works ct convert v.npy w.npy --dtype u16 --range auto --overwrite
[ "$(files values w.npy)" = "(6,) [0, 26214, 32768, 52428, 65535, 0]" ] || bad "--range auto: $(files values w.npy)"
rm -f w.npy report.json

# Ranges as wide and as narrow as doubles go.
files npy wide64.npy '<f8' 5 '[-1.7e308, -0.85e308, 0.0, 0.85e308, 1.7e308][i]'
works ct convert wide64.npy w.npy --dtype u8 --range auto --json report.json
[ "$(files values w.npy)" = "(5,) [0, 64, 128, 191, 255]" ] || bad "a wide range: $(files values w.npy)"
files report report.json 'abs(r["result"]["scale"] / 1.7e308 * 255 - 2) < 1e-12' || bad "scale of a wide range"
files npy narrow.npy '<f8' 4 '[0.0, 1.0, 2.0, 3.0][i] * 5e-324'
works ct convert narrow.npy w.npy --dtype u8 --range auto --overwrite
[ "$(files values w.npy)" = "(4,) [0, 85, 170, 255]" ] || bad "a narrow range: $(files values w.npy)"
rm -f w.npy report.json wide64.npy narrow.npy

refused 1 '--range is "0:1" but the output is float32' ct convert v.npy w.npy --range 0:1
files npy wide.npy '<u2' 2,2 'i * 1000'
refused 2 'wide.npy' ct convert wide.npy w.npy --dtype u8
refused 2 '--sinogram needs 3' ct convert v.npy w.npy --sinogram
refused 3 'absent.npy' ct convert absent.npy w.npy
refused 2 'a.npy' ct convert v.npy a.npy
grep -q . a.npy || bad "a refused output was touched"
refused 2 'same file' ct convert v.npy v.npy --overwrite
ln v.npy hard.npy
ln -s v.npy soft.npy
refused 2 'same file' ct convert v.npy hard.npy --overwrite
refused 2 'same file' ct convert v.npy soft.npy --overwrite
refused 2 'same file' ct convert v.npy w.npy --json hard.npy --overwrite
refused 2 'same file' ct convert v.npy w.npy --json w.npy
refused 2 'exists' ct convert v.npy w.npy --json a.npy
refused 3 'no/such' ct convert v.npy w.npy --json no/such/report.json
refused 3 'no/such' ct convert v.npy no/such/w.npy
refused 2 'w.xyz' ct convert v.npy w.xyz
files npy nan.npy '<f4' 4 math.nan
refused 2 'no finite value' ct convert nan.npy w.npy --dtype u8 --range auto
files cut a.npy short.npy 200
refused 2 'short.npy' ct convert short.npy w.npy
printf 'nonsense' >junk.npy
refused 2 'junk.npy' ct convert junk.npy w.npy
: >empty.npy
refused 2 'empty.npy' ct convert empty.npy w.npy
refused 2 'empty.npy' ct info empty.npy
nothing_but a.npy v.npy hard.npy soft.npy wide.npy nan.npy short.npy junk.npy empty.npy

# A report that cannot be written is an error of its own; a limit on file sizes stands in for a full disk.
if [ -c /dev/full ]; then refused 3 '/dev/full: No space left on device' ct convert -q a.npy w.npy --json /dev/full; fi
rm -f w.npy
files npy big.npy '<f4' 64,64,64 i
(ulimit -f 100 && exec "$MOTET" ct convert big.npy w.npy -q) >out.txt 2>err.txt
[ $? = 3 ] || bad "a full disk: exit code is not 3: $(cat err.txt)"
[ "$(wc -l <err.txt)" = 1 ] || bad "a full disk: $(cat err.txt)"
nothing_but a.npy v.npy hard.npy soft.npy wide.npy nan.npy short.npy junk.npy empty.npy big.npy
finish
