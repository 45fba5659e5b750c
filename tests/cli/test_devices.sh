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
--devices sim:0/cpu
--devices sim:0,sim:1/cpu,sim:2 --memory 300K
--devices sim:0@memory=1K/cpu
--devices sim:0,sim:1,cpu,-sim:0
--devices cpu --verify-fraction 1
END
has 'verified  '
grep -q '^verified  0 ' out.txt && bad "nothing was verified at a fraction of 1"
works ct simulate -o other.h5 --views 40 --rows 5 --columns 48 --quiet --devices sim:0,cpu
cmp -s scan.h5 other.h5 || bad "a scan simulated on sim:0,cpu has other bits"

# Where no GPU is, the name and the reason are told; a list says why it has none.
works devices --json d.json
if grep -q '"gpus": 0,' d.json; then
    reason=$(sed -n 's/^no GPU: //p' out.txt)
    [ ${#reason} -gt 10 ] || bad "devices does not say why there is no GPU: $(cat out.txt)"
    grep -qF "\"no_gpu\": \"$reason\"" d.json || bad "the report does not say why there is no GPU: $(cat d.json)"
    for name in cuda:7 cuda GPU-1f2e; do
        refused 4 "devices names $name, but there is no GPU to use: $reason; cpu and auto do without" ct recon scan.h5 -o w.npy --devices cpu,$name
    done
    export CUDA_VISIBLE_DEVICES=5
    refused 4 '; CUDA_VISIBLE_DEVICES is "5"' ct recon scan.h5 -o w.npy --devices cuda/cpu
    unset CUDA_VISIBLE_DEVICES
    recon --devices auto,-cuda:1
    has "digest    $digest"
fi
rm d.json
refused 4 'which leaves no device' ct recon scan.h5 -o w.npy --devices cpu,-cpu
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

# A fallback computes nothing while another device is there, and all when that has no room.
for devices in sim:0/cpu sim:0@memory=1K/cpu; do
    recon --devices $devices --json r.json
    tr -d ' \n' <r.json | grep -o '"name":"[a-z:0-9]*","description":"[^"]*","isa":"[a-z0-9]*","threads":[0-9]*,"chunks":[0-9]*' |
        sed 's/.*"name":"\([a-z:0-9]*\)".*"chunks":\([0-9]*\)/\1 \2/' >chunks.txt
    case $devices in
    sim:0/cpu) grep -q '^cpu 0$' chunks.txt && grep -q '^sim:0 [1-9]' chunks.txt ;;
    *) grep -q '^sim:0 0$' chunks.txt && grep -q '^cpu [1-9]' chunks.txt && grep -q 'is left to the fallback' err.txt ;;
    esac || bad "--devices $devices: $(cat chunks.txt err.txt)"
    rm r.json chunks.txt
done
nothing_but scan.h5 other.h5 volume.npy
finish
