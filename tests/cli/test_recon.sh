#!/bin/sh
# motet ct recon: a simulated scan becomes the same volume however it is cut; pictures, integers, headers and reports say
# what is true.
. "${0%/*}/support.sh"
need_python

works ct simulate -o scan.h5 --views 90 --rows 6 --columns 64 --center 33.25 --seed 3 --pitch 0.1
has 'axis at column 33.25'
works ct simulate -o again.h5 --views 90 --rows 6 --columns 64 --center 33.25 --seed 3 --pitch 0.1 -q
works ct info scan.h5
has '90 views of 6 rows x 64 columns'
has '0 to 180 degrees'
has '0.1 mm'
has '/exchange/data_white'
works ct info scan.h5 --json -
cp out.txt info.json
files report info.json 'r["result"]["views"] == 90 and r["result"]["flats"] == 10 and "/exchange/theta" in r["result"]["entries"]' || bad "info report"

works ct recon scan.h5 -o v.npy --json report.json --png v.png
has 'axis      column 33.'
has 'wrote     v.npy, v.png'
files report report.json 'set(r) == {"motet", "command", "inputs", "outputs", "result", "plan", "devices", "operations", "timing", "memory", "losses", "warnings"}' || bad keys
files report report.json 'r["result"]["shape"] == [6, 64, 64] and abs(r["result"]["center"] - 33.25) < 0.5 and {"ct.filter", "ct.backproject"} <= {o["name"] for o in r["plan"]["operations"]} and r["memory"]["planned"] > 0 and r["losses"] == []' || bad result
files report report.json '[o["path"] for o in r["outputs"]] == ["v.npy", "v.png"] and r["inputs"][0]["path"] == "scan.h5" and len(r["inputs"][0]["digest"]) == 32' || bad files
files report report.json 'sum(d["chunks"] for d in r["devices"]) > 0 and r["memory"]["accounted_peak"] > 0 and r["timing"]["seconds"] > 0' || bad account
files report report.json 'min(read_npy("v.npy")[1]) == r["result"]["minimum"] and max(read_npy("v.npy")[1]) == r["result"]["maximum"]' || bad extent

# P1 from outside: no flag about where or how changes a bit.
works ct recon scan.h5 -o reference.npy --center 33.25 -q
for how in '--threads 1' '--threads 3' '--isa base' '--isa v3' '--chunk 1' '--chunk 3' '--slab 1' '--slab 4' '--devices cpu' '--memory 64M'; do
    "$MOTET" ct recon scan.h5 -o w.npy --center 33.25 -q $how 2>err.txt
    case $? in
    0) cmp -s reference.npy w.npy || bad "$how changes bits" ;;
    *) case $how in
        --isa*) grep -q lacks err.txt || bad "$how: $(cat err.txt)" ;;
        *) bad "$how: $(cat err.txt)" ;;
        esac ;;
    esac
    rm -f w.npy
done
LC_ALL=de_DE.UTF-8 "$MOTET" ct recon scan.h5 -o w.npy --center 33.25 -q || bad "a German locale"
cmp -s reference.npy w.npy || bad "a locale changes bits"
rm -f w.npy

# Rows are rows: slices 2 and 3 alone are slices 2 and 3 of all.
works ct recon scan.h5 -o w.npy --center 33.25 --rows 2:4
files report report.json 'read_npy("w.npy")[1] == read_npy("reference.npy")[1][2 * 4096 : 4 * 4096]' || bad "--rows cuts wrongly"
works ct recon --overwrite -o w.npy --size=40x30 --mask=0.9 --center 33.25 -- scan.h5
files report report.json 'read_npy("w.npy")[0] == (6, 30, 40) and read_npy("w.npy")[1][0] == 0' || bad "--size or --mask"

# Integers: the range found and the same range given are the same file, and the report's scale leads back.
works ct recon scan.h5 -o a.npy --center 33.25 --dtype u16 --json a.json
files report a.json 'all(abs(r["result"]["offset"] + r["result"]["scale"] * q - x) <= 0.51 * r["result"]["scale"] for q, x in zip(read_npy("a.npy")[1], read_npy("reference.npy")[1])) and r["result"]["clipped"] == 0' || bad "scaled integers"
files report a.json '{0, 65535} <= set(read_npy("a.npy")[1])' || bad "auto does not use the whole range"
works ct recon scan.h5 -o b.npy --center 33.25 --dtype u8 --range 0:1
files report a.json 'all(q == min(255, math.floor(max(0, x) * 255 + 0.5)) for q, x in zip(read_npy("b.npy")[1], read_npy("reference.npy")[1]))' || bad "--range 0:1"

# HDF5 keeps the unit, and what integers stand for.
works ct recon scan.h5 -o a.h5 --center 33.25 --dtype u8 --range -1:254 -q
strings a.h5 >strings.txt
grep -q '^1/mm' strings.txt || bad "the HDF5 volume lacks its unit"
grep -qF -- '-1 + 1 * integer' strings.txt || bad "the HDF5 volume does not say what its integers stand for"
rm -f a.h5 strings.txt

# The picture is the middle slice, row 0 on top, from percentile to percentile.
works ct convert v.png p.npy
files report report.json '(lambda s, q, k: all(g == (0 if not x > k["black"] else 255 if x >= k["white"] else int((x - k["black"]) * (255 / (k["white"] - k["black"])) + 0.5)) for g, x in zip(q, s)))(read_npy("v.npy")[1][3 * 4096 : 4 * 4096], read_npy("p.npy")[1], r["result"])' || bad "the picture is not the slice"
files report report.json '(lambda v, k: (v[math.floor(0.005 * (len(v) - 1) + 0.5)], v[len(v) - 1 - math.floor(0.005 * (len(v) - 1) + 0.5)]) == (k["black"], k["white"]))(sorted(x for i, x in enumerate(read_npy("v.npy")[1][3 * 4096 : 4 * 4096]) if (i % 64 - 31.5) ** 2 + (i // 64 - 31.5) ** 2 <= 1024), r["result"])' || bad "percentiles"

works ct recon scan.h5 -o m.mha --center 33.25 --voxel 0.2 --rows 1:3 -q
strings -n 8 m.mha | grep -qiE '^ElementSpacing *= *0\.2 0\.2 0\.1 *$' || bad "MHA spacing: $(head -c 400 m.mha | strings | grep -i spacing)"
strings -n 8 m.mha | grep -qiE '^(Offset|Position|Origin) *= *-6\.3[0-9]* -6\.3[0-9]* 0\.1 *$' || bad "MHA origin: $(head -c 400 m.mha | strings | grep -iE 'offset|position|origin')"
rm -f w.npy a.npy b.npy a.json p.npy m.mha v.npy v.png report.json info.json again.h5

refused 2 '--rows is "2:7", the scan has rows 0:6' ct recon scan.h5 -o w.npy --rows 2:7
refused 2 '--slice is "6", the volume has slices 0 to 5' ct recon scan.h5 -o w.npy --png w.png --slice 6
refused 1 'without --png' ct recon scan.h5 -o w.npy --slice 1
refused 1 'float32 is not scaled' ct recon scan.h5 -o w.npy --range 0:1
refused 1 'expected a path ending in .png' ct recon scan.h5 -o w.npy --png w.jpg
refused 1 'needs none' ct recon scan.h5 -o w.npy --line-integrals --flats f.tif
refused 3 'absent.h5' ct recon absent.h5 -o w.npy
refused 3 'none.tif' ct recon scan.h5 -o w.npy --flats none.tif
refused 3 'none.txt' ct recon scan.h5 -o w.npy --angles none.txt
printf '0\n90\n' >two.txt
refused 2 '90' ct recon scan.h5 -o w.npy --angles two.txt
printf '0\nnan\n' >nan.txt
refused 2 'nan' ct recon scan.h5 -o w.npy --angles nan.txt
refused 2 'reference.npy' ct recon scan.h5 -o reference.npy
refused 2 'same file' ct recon scan.h5 -o scan.h5 --overwrite
ln scan.h5 link.h5
refused 2 'same file' ct recon scan.h5 -o link.h5 --overwrite
refused 2 'same file' ct recon scan.h5 -o w.npy --json link.h5 --overwrite
refused 2 'same file' ct recon scan.h5 -o w.npy --png link.h5 --overwrite
refused 2 'same file' ct recon scan.h5 -o w.png --png w.png
refused 2 'centre' ct recon scan.h5 -o w.npy --center 1e6
refused 4 'cuda:7' ct recon scan.h5 -o w.npy --devices cuda:7
refused 4 'of the 102400 allowed' ct recon scan.h5 -o w.npy --memory 100K
# More than 2^31 voxels in a slice: counted right, refused in words.
refused 4 '28800' ct recon scan.h5 -o w.npy --size 60000 --memory 1G
refused 4 'of the 1073741824 allowed' ct recon scan.h5 -o w.mha --size 1000000 --memory 1G
files cut scan.h5 short.h5 9000
refused 2 'short.h5' ct recon short.h5 -o w.npy
printf 'not a scan' >junk.tif
refused 2 'junk.tif' ct recon junk.tif -o w.npy --angles 0:180
(ulimit -f 60 && exec "$MOTET" ct recon scan.h5 -o w.npy -q) >out.txt 2>err.txt
[ $? = 3 ] || bad "a full disk: exit code is not 3: $(cat err.txt)"
(ulimit -f 60 && exec "$MOTET" ct recon scan.h5 -o w.npy --dtype u16 -q) >out.txt 2>err.txt
[ $? = 3 ] || bad "a full disk while spooling: exit code is not 3: $(cat err.txt)"

# A picture that cannot be written leaves no volume either: a folder that is not there, a path that is taken meanwhile.
refused 3 'absent/w.png' ct recon scan.h5 -o w.npy --png absent/w.png
works ct simulate -o long.h5 --views 180 --rows 16 --columns 256
code=0
for attempt in 1 2 3 4 5 6 7 8; do
    rm -f w.png w.npy
    "$MOTET" ct recon long.h5 -o w.npy --png w.png -q >out.txt 2>err.txt &
    until ls -A | grep -q '^\.motet-.*part' || ! kill -0 $! 2>err2.txt; do :; done
    sleep 0.05
    echo theirs >w.png
    wait $!
    code=$?
    [ $code = 0 ] || break
done
[ $code = 2 ] || bad "a path taken meanwhile: exit code $code: $(cat err.txt)"
[ "$(cat w.png)" = theirs ] || bad "a picture of others was replaced"
rm -f w.png err2.txt long.h5
nothing_but scan.h5 link.h5 reference.npy two.txt nan.txt short.h5 junk.tif
finish
