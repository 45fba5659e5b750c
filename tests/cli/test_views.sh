#!/bin/sh
# motet ct phantom, project and backproject on views in space: the same bits however they run, files in the order of axes that
# they promise, memory said before the run; what cannot be is refused before the work and leaves nothing behind.
. "${0%/*}/support.sh"
need_python

shape='--views 12 --detector 24x18 --pitch 1.25'
cone="--sid 40 --sdd 64 $shape"
works ct phantom -o views.npy --truth head.mha $cone --size 12 --voxel 1 --json phantom.json --png view.png --slice 3
has 'geometry  cone beam, 12 views of 24 x 18 pixels'
has 'truth     head.mha, digest '
files report phantom.json 'r["result"]["shape"] == [12, 24, 18] and r["result"]["slice"] == 3 and len(r["result"]["truth_digest"]) == 32' || bad "phantom report"
files report phantom.json '[o["path"] for o in r["outputs"]] == ["views.npy", "head.mha", "view.png"]' || bad "outputs of phantom"
works ct convert view.png picture.npy
files report phantom.json 'read_npy("picture.npy")[0] == (18, 24)' || bad "a picture of a view has its rows one below the other"
works ct phantom -o views.mha $cone --size 12 --voxel 1 -q
works ct convert views.mha turned.npy --sinogram -q
cmp -s views.npy turned.npy || bad "MHA is not (view, v, u) of the same values"
rm -f turned.npy views.mha picture.npy view.png phantom.json

works ct project head.mha -o a.npy $cone --json a.json
has 'memory    at most '
files report a.json 'r["result"]["memory"]["host_bytes"] == sum(r["result"]["memory"][k] for k in ("input_bytes", "volume_bytes", "sinogram_bytes", "work_bytes")) and r["result"]["memory"]["volume_bytes"] == 4 * 12 ** 3' || bad "memory in the report"
files report a.json 'r["result"]["geometry"]["voxel"] == [1, 1, 1] and r["memory"]["planned"] > 0' || bad "the voxel of the file"
files report a.json 'abs(sum(read_npy("a.npy")[1]) / sum(read_npy("views.npy")[1]) - 1) < 0.05' || bad "the projector is far from the exact line integrals"
works ct backproject a.npy -o back.npy --line-integrals --sid 40 --sdd 64 --pitch 1.25 --size 12 --voxel 1 --json b.json
works ct convert head.mha head.npy -q
files report b.json '(lambda x, a, y: abs(sum(p * p for p in a) - sum(p * q for p, q in zip(x, y))) < 1e-6 * sum(p * p for p in a))(read_npy("head.npy")[1], read_npy("a.npy")[1], read_npy("back.npy")[1])' || bad "backproject is not the transpose of project"

for how in '--threads 1' '--threads 3' '--isa base' '--isa v3' '--chunk 1' '--chunk 5' '--devices sim:0,cpu --weights 2,1' '--memory 1M --threads 2' '--host-memory 2M --threads 2' '--from-disk yes'; do
    for tilt in '' '--tilt 10'; do
        if [ -z "$tilt" ]; then cp a.npy fore.npy; else works ct project head.mha -o fore.npy $cone $tilt -q --overwrite; fi
        "$MOTET" ct project head.mha -o w.npy $cone $tilt -q $how 2>err.txt
        case $? in
        0) cmp -s fore.npy w.npy || bad "$how $tilt changes bits" ;;
        *) case $how in
            --isa*) grep -q lacks err.txt || bad "$how: $(cat err.txt)" ;;
            *) bad "$how $tilt: $(cat err.txt)" ;;
            esac ;;
        esac
        rm -f w.npy fore.npy
    done
done

works ct project head.mha -o w.mha $cone --from-disk yes --png view.png --json w.json
has 'line integrals stay in files'
files report w.json '(lambda a: r["result"]["memory"]["from_disk"] and r["result"]["digest"] is None and (min(a), max(a)) == (r["result"]["minimum"], r["result"]["maximum"]))(read_npy("a.npy")[1])' || bad "extent of what was written from disk"
works ct project head.mha -o v.mha $cone --png same.png -q
cmp -s w.mha v.mha && cmp -s view.png same.png || bad "from disk, file or picture is another"
rm -f w.mha v.mha view.png same.png w.json
works ct backproject a.npy -o w.npy --line-integrals --sid 40 --sdd 64 --pitch 1.25 --size 12 --voxel 1 --from-disk yes -q
cmp -s back.npy w.npy || bad "backproject from disk changes bits"
rm -f w.npy

# What the file and the flags say must agree; raw counts need flats.
refused 2 'the input has 24' ct backproject a.npy -o w.npy --line-integrals --sid 40 --sdd 64 --detector 25x18
refused 2 'no flat fields' ct backproject a.npy -o w.npy --sid 40 --sdd 64
refused 1 'but --line-integrals needs none' ct backproject a.npy -o w.npy --line-integrals --flats f.npy --sid 40 --sdd 64
refused 4 'take 1.5 GiB, of 1.0 MiB allowed on the host' ct project head.mha -o w.npy --sid 40 --sdd 64 --views 100 --detector 2000 --host-memory 1M --from-disk no
refused 4 'takes at least' ct project head.mha -o w.npy $cone --devices sim:0 --memory 1000 --from-disk no
refused 1 'without --png' ct project head.mha -o w.npy $cone --slice 3
refused 2 'there are views 0 to 11' ct project head.mha -o w.npy $cone --png w.png --slice 12
refused 1 'expected a path ending in .png' ct project head.mha -o w.npy $cone --png w.jpg
files npy flat.npy '<f4' 8 1
refused 3 'none.npy' ct project none.npy -o s.npy $cone
refused 2 'flat.npy has 1 axes, expected 3' ct project flat.npy -o s.npy $cone
refused 1 '--sid is missing' ct project head.npy -o s.npy $shape
refused 1 '--output is missing' ct project head.npy $cone
refused 2 'same file' ct project head.npy -o head.npy $cone --overwrite
refused 2 'same file' ct project head.npy -o s.png --png s.png $cone
refused 2 'same file' ct phantom -o s.npy --truth s.npy $cone --size 12
refused 2 'views.npy: exists already' ct phantom -o s.npy --truth views.npy $cone --size 12
rm -f err2.txt
nothing_but views.npy head.mha a.npy a.json b.json back.npy head.npy flat.npy
# From file to file a run keeps its word about memory, however large a frame is; what checks nothing says so.
works ct project head.mha -o w.npy --sid 40 --sdd 64 --views 2 --detector 3000x3000 --pitch 0.01 --from-disk yes --host-memory 16M --threads 1 --json w.json --verify-fraction 1 --overwrite
files report w.json 'r["memory"]["measured_peak"] <= 60e6' || bad "more memory than was said: $(grep -A12 '"memory"' w.json)"
grep -q 'verify-fraction checks nothing' err.txt || bad "a flag that does nothing is not told"
grep -q '^verified' out.txt && bad "0 parts are called verified"
rm -f w.npy
finish
