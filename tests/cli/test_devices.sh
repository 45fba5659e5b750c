#!/bin/sh
# --devices, --weights, --memory and --chunk decide where and how a run goes, never its bits.
. "${0%/*}/support.sh"

works ct simulate -o scan.h5 --views 40 --rows 5 --columns 48 --quiet
recon() { works ct recon scan.h5 -o volume.npy --center 23.5 --overwrite "$@"; }
recon
digest=$(sed -n 's/^digest *//p' out.txt)
[ -n "$digest" ] || bad "no digest"
while read -r flags; do
    # shellcheck disable=SC2086
    recon $flags
    has "digest    $digest"
done <<'END'
--devices cpu
--devices sim:0
--devices sim:0,sim:1
--devices cpu,sim:2 --weights 1,3
--devices sim:3,cpu,sim:0 --weights 1,0,2;ct.filter=0,1,0
--devices sim:0,sim:1 --weights ct=0,1 --memory 300K
--devices sim:1 --chunk 1
--devices cpu,sim:0 --memory 64M --host-memory 64MiB
--devices sim:0,sim:1 --verify-fraction 0.5
--devices cpu --verify-fraction 1
END
has 'verified  '
grep -q '^verified  0 ' out.txt && bad "nothing was verified at a fraction of 1"
works ct simulate -o other.h5 --views 40 --rows 5 --columns 48 --quiet --devices sim:0,cpu
cmp -s scan.h5 other.h5 || bad "a scan simulated on sim:0,cpu has other bits"

refused 4 'devices names cuda:7, but this build of Motet drives no GPUs: take cpu, or auto' ct recon scan.h5 -o w.npy --devices cuda:7
refused 4 'sim:9: there are sim:0 to sim:7' ct recon scan.h5 -o w.npy --devices sim:9
refused 4 'devices names sim:0 twice' ct recon scan.h5 -o w.npy --devices sim:0,sim:0
refused 2 'weights for all operations are 1, expected 2' ct recon scan.h5 -o w.npy --devices cpu,sim:0 --weights 1
refused 2 'weights for ct.filter are 0, 0, expected 2' ct recon scan.h5 -o w.npy --devices cpu,sim:0 --weights 'ct.filter=0,0'
refused 4 '; --host-memory allows 1K' ct recon scan.h5 -o w.npy --host-memory 1K
refused 4 '; --memory allows 1' ct recon scan.h5 -o w.npy --memory 1
refused 4 'the budget is 1024 bytes' ct recon scan.h5 -o w.npy --devices sim:0 --memory 1K

works verify --devices sim:0,sim:5,cpu --threads 1
has 'sim:5'
has 'sim:0,sim:5,cpu'
has 'the same bits in all'
has 'sim:5            -           -'
works bench ct parallel --devices sim:0,cpu --columns 32 --rows 4 --views 10 --repeat 1
has 'on sim:0,cpu'
grep -q 'speed-up of' out.txt && bad "bench speaks of a speed-up where it measured one number of threads"

# Whatever a report calls an operation can be given weights.
for run in 'ct recon scan.h5 -o volume.npy --overwrite' 'verify --threads 1 --isa base'; do
    # shellcheck disable=SC2086
    works $run -q --json r.json
    for name in $(sed -n 's/.*"name": "\(ct[.][a-z]*\)".*/\1/p' r.json | sort -u); do
        works devices --weights "$name=1"
    done
    rm r.json
done
nothing_but scan.h5 other.h5 volume.npy
finish
