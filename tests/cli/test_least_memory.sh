#!/bin/sh
# The least --host-memory that a refusal names does, and one byte less does not: for every method in memory, on several threads.
. "${0%/*}/support.sh"
need_python

cone='--sid 40 --sdd 64 --pitch 1.25'
works ct phantom -o views.npy --truth head.npy $cone --views 24 --detector 24x18 --size 12 --voxel 1 -q
works ct phantom -o wide.npy --truth large.npy $cone --views 40 --detector 60x50 --size 40 --voxel 0.4 -q
files npy counts.npy '<f4' 9,24,18 '50 + i % 7'
files npy flats.npy '<f4' 1,24,18 '100'
files npy darks.npy '<f4' 1,24,18 '1'

# least BYTES ARGS...: motet ARGS is refused with so few bytes, and the least that it names is the least.
least() {
    few=$1
    shift
    rm -f out.npy
    "$MOTET" "$@" --host-memory $few --from-disk no >out.txt 2>err.txt
    [ $? = 4 ] || bad "motet $* with $few bytes: $(cat err.txt)"
    named=$(sed -n 's/.*the least that does is --host-memory \([0-9]*\)$/\1/p' err.txt)
    if [ -z "$named" ]; then
        bad "motet $*: no least is named: $(cat err.txt)"
        return
    fi
    works "$@" --host-memory $named --from-disk no
    rm -f out.npy
    refused 4 "the least that does is --host-memory $named" "$@" --host-memory $((named - 1)) --from-disk no
    [ -e out.npy ] && bad "motet $*: something was written"
}

for threads in 1 5; do
    least 200000 ct project head.npy -o out.npy -q --threads $threads $cone --views 24 --detector 40x40 --voxel 1
    for method in backproject fdk 'cgls --iterations 9' 'sirt --iterations 9' 'sirt --iterations 2 --initial head.npy'; do
        least 150000 ct $method views.npy -o out.npy -q --threads $threads --line-integrals $cone --size 12 --voxel 1
    done
    for method in backproject fdk 'cgls --iterations 2' 'sirt --iterations 2'; do
        least 850000 ct $method wide.npy -o out.npy -q --threads $threads --line-integrals $cone --size 40 --voxel 0.4
    done
    least 850000 ct project large.npy -o out.npy -q --threads $threads $cone --views 40 --detector 60x50 --voxel 0.4
done
least 150000 ct backproject views.npy -o out.npy -q --threads 2 --line-integrals $cone --size 12 --voxel 1 --tilt 5
least 150000 ct fbp views.npy -o out.npy -q --threads 2 --line-integrals --beam parallel --size 12 --voxel 1
least 150000 ct fdk counts.npy -o out.npy -q --threads 2 --flats flats.npy --darks darks.npy $cone --size 8 --voxel 1
least 150000 ct cgls views.npy -o out.npy -q --threads 2 --line-integrals $cone --size 12 --voxel 1 --iterations 3 --resume kept
finish
