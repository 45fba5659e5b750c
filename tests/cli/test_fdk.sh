#!/bin/sh
# motet ct fdk and fbp: a head is found again, to the same bits however it runs; counts with flats and darks are taken, too; fbp
# takes fans and parallel rays; what is missing of an arc is said once.
. "${0%/*}/support.sh"
need_python

cone='--sid 60 --sdd 96 --pitch 1.25 --voxel 1'
works ct phantom -o views.npy --truth head.npy $cone --views 60 --detector 48x36 --size 24 --points 2 -q
works ct fdk views.npy -o f.npy --line-integrals $cone --size 24 --json f.json --png f.png --slice 11
has 'memory    at most '
has 'wrote     f.npy, f.png'
files report f.json '(lambda a, b: sum((x - y) ** 2 for x, y in zip(a, b)) < 0.2 * sum(y * y for y in b))(read_npy("f.npy")[1], read_npy("head.npy")[1])' || bad "the head is not found again"
files report f.json '{"ct.fdk"} <= {o["name"] for o in r["operations"]} and r["result"]["shape"] == [24, 24, 24] and r["result"]["slice"] == 11' || bad "report of fdk"
for how in '--threads 1' '--threads 3' '--isa base' '--isa v3' '--chunk 5' '--devices sim:0,cpu --weights 2,1' '--host-memory 2M --threads 2' '--from-disk yes'; do
    "$MOTET" ct fdk views.npy -o w.npy --line-integrals $cone --size 24 -q $how 2>err.txt
    case $? in
    0) cmp -s f.npy w.npy || bad "$how changes bits" ;;
    *) case $how in
        --isa*) grep -q lacks err.txt || bad "$how: $(cat err.txt)" ;;
        *) bad "$how: $(cat err.txt)" ;;
        esac ;;
    esac
    rm -f w.npy
done
works ct fdk views.npy -o w.npy --line-integrals $cone --size 24 --window hann --cutoff 0.7 -q
cmp -s f.npy w.npy && bad "--window and --cutoff do nothing"
works ct fdk views.npy -o w.npy --line-integrals $cone --size 24 --weights-scheme full --overwrite -q
cmp -s f.npy w.npy || bad "auto is not full for a whole turn"
works ct phantom -o short.npy $cone --views 20 --detector 48x36 --size 24 --arc 120 -q
works ct fdk short.npy -o w.npy --line-integrals $cone --size 24 --arc 120 --overwrite
[ "$(grep -c 'the views cover 120 of' err.txt)" = 1 ] || bad "a short arc is not told once: $(cat err.txt)"

# A value that is none is refused, in memory and from file to file alike; a flag takes it as 0.
cp views.npy broken.npy
printf '\000\000\300\177' | dd of=broken.npy bs=1 seek=$(($(wc -c <broken.npy) - 4)) conv=notrunc 2>/dev/null
for how in no yes; do
    refused 2 'broken.npy: 1 values are not finite or beyond 1e30, the first, at (' ct fdk broken.npy -o v.npy --line-integrals $cone --size 24 --from-disk $how -q
    refused 2 'is nan; --nan-as-zero takes them as 0' ct fdk broken.npy -o v.npy --line-integrals $cone --size 24 --from-disk $how -q
done
works ct fdk broken.npy -o w.npy --line-integrals $cone --size 24 --overwrite --nan-as-zero
grep -q '1 .*taken as 0' err.txt || bad "a NaN is not told: $(cat err.txt)"
refused 2 'in memory only (--from-disk no)' ct fdk broken.npy -o v.npy --line-integrals $cone --size 24 --from-disk yes --nan-as-zero -q
works ct convert w.npy hole.npy -q
printf '\000\000\200\177' | dd of=hole.npy bs=1 seek=$(($(wc -c <hole.npy) - 4)) conv=notrunc 2>/dev/null
for how in no yes; do
    refused 2 'hole.npy: 1 values are not finite or beyond 1e30, the first, at (23, 23, 23), is inf' ct project hole.npy -o v.npy $cone --views 4 --detector 8 --from-disk $how -q
done
works ct project hole.npy -o v.npy $cone --views 4 --detector 8 --nan-as-zero -q
rm -f v.npy hole.npy
rm -f broken.npy

# A fan is a cone of one row; parallel rays agree with ct recon, from counts with flats and darks.
refused 2 'a cone beam on 36 rows, expected a fan beam' ct fbp views.npy -o v.npy --line-integrals $cone
works ct phantom -o fan.npy --truth slice.npy $cone --views 60 --detector 48x1 --size 24x24x1 --radius 12 --points 4 -q
works ct fbp fan.npy -o v.npy --line-integrals $cone --size 24x24x1 --json v.json
files report v.json '(lambda a, b: sum((x - y) ** 2 for x, y in zip(a, b)) < 0.2 * sum(y * y for y in b))(read_npy("v.npy")[1], read_npy("slice.npy")[1])' || bad "the slice of a fan is not found again"
works ct simulate -o scan.h5 --views 91 --rows 2 --columns 32 --pitch 0.1 --counts 0 -q
works ct recon scan.h5 -o r.npy --center 15.5 -q
"$MOTET" ct fbp scan.h5 -o p.npy --beam parallel --arc 182 --from-disk yes >out.txt 2>err.txt
[ $? = 1 ] && grep -q 'counts are normalised in memory' err.txt || bad "counts from disk: $(cat err.txt)"
works ct fbp scan.h5 -o p.npy --beam parallel --arc 182 --json p.json
files report p.json '(lambda a, b: len(a) == len(b) and sum((x - y) ** 2 for x, y in zip(a, b)) < 1e-3 * sum(y * y for y in b))(read_npy("p.npy")[1], read_npy("r.npy")[1])' || bad "ct fbp and ct recon of a parallel scan differ"
rm -f w.npy
nothing_but views.npy head.npy f.npy f.json f.png short.npy fan.npy slice.npy v.npy v.json scan.h5 r.npy p.npy p.json
finish
