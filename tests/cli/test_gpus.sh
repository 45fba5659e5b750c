#!/bin/sh
# GPUs by number, UUID and all together, beside the CPU and before it; lost ones cost processes, not the run. On a driver
# that has none (tests/support/fake_cuda), which runs the kernels on the CPU.
. "${0%/*}/support.sh"

[ -e "${MOTET_FAKE_CUDA:-}/libcuda.so.1" ] || { echo "skipped: there is no libcuda.so.1 for tests"; exit 77; }
export LD_LIBRARY_PATH="$MOTET_FAKE_CUDA" FAKE_CUDA_DEVICES=2
unset CUDA_VISIBLE_DEVICES
works devices --json d.json
grep -q 'made without nvcc' out.txt && { echo "skipped: $(cat out.txt)"; exit 77; }

# What there is: name, compute capability, memory, UUID; what opening them took is in the report.
has 'cuda:0    -            -   256.0 MiB'
has 'compute 9.0'
grep -q '^cuda:1 .*GPU-[0-9a-f]*-' out.txt || bad "cuda:1 has no UUID: $(cat out.txt)"
grep -q '^no GPU' out.txt && bad "there are GPUs, and it says there are none"
grep -q '"gpus": 2,' d.json && grep -q '"no_gpu": null' d.json || bad "the report does not count the GPUs: $(cat d.json)"
uuid=$(sed -n 's/^cuda:1 .*\(GPU-[0-9a-f-]*\)$/\1/p' out.txt)
short=$(echo "$uuid" | cut -c1-8) both=$(echo "$uuid" | cut -c1-5)
works devices --devices auto,-cuda:0
grep -q '^cuda:0' out.txt && bad "auto,-cuda:0 has cuda:0"
grep -q '^cuda:1' out.txt || bad "auto,-cuda:0 lacks cuda:1"
rm d.json

works ct simulate -o scan.h5 --views 40 --rows 5 --columns 48 --quiet --devices cpu
recon() { works ct recon scan.h5 -o volume.npy --center 23.5 --overwrite "$@"; }
recon --devices cpu
digest=$(sed -n 's/^digest *//p' out.txt)
[ -n "$digest" ] || bad "no digest"
while read -r flags; do
    # shellcheck disable=SC2086
    recon $flags
    has "digest    $digest"
    [ -s err.txt ] && bad "$flags: warns $(cat err.txt)"
done <<END
--chunk 1
--devices auto
--devices cuda
--devices cuda/cpu
--devices cuda:1
--devices cpu,cuda:0
--devices $uuid
--devices $short/cpu
--devices cuda,-$short
--devices cuda:0,cuda:1,sim:0 --weights 1,2,1
--devices auto --supervise no
END
refused 4 'devices names cuda:7, but there are 2 GPUs to use: cuda:0 to cuda:1' ct recon scan.h5 -o w.npy --devices cuda:7
refused 4 "devices names $both, which several of the 2 GPUs are: give more of the UUID" ct recon scan.h5 -o w.npy --devices "$both"
refused 4 'devices names GPU-0123, but there are 2 GPUs to use' ct recon scan.h5 -o w.npy --devices cpu,GPU-0123
refused 4 'devices names cuda:1 twice' ct recon scan.h5 -o w.npy --devices "cuda,$short"
export FAKE_CUDA_DEVICES=1
refused 4 'but there is 1 GPU to use: cuda:0' ct recon scan.h5 -o w.npy --devices cuda:1
export FAKE_CUDA_FAIL=cuInit:1:100
refused 4 'but there is no GPU to use: the NVIDIA driver reports no GPU' ct recon scan.h5 -o w.npy --devices cuda
works devices
has 'no GPU: the NVIDIA driver reports no GPU'
recon
has "digest    $digest"
unset FAKE_CUDA_FAIL
export FAKE_CUDA_DEVICES=2

# chunks DEVICE: how many it did, by r.json
chunks() { tr -d ' \n' <r.json | sed 's/.*"devices"://' | grep -o "\"name\":\"$1\",\"description\":\"[^\"]*\",\"isa\":\"[^\"]*\",\"threads\":[0-9]*,\"chunks\":[0-9]*" | sed 's/.*://'; }
recon --json r.json
[ "$(chunks cpu)" = 0 ] || bad "beside GPUs the CPU did $(chunks cpu) chunks"
{ [ "$(chunks cuda:0)" -gt 0 ] && [ "$(chunks cuda:1)" -gt 0 ]; } || bad "the GPUs did $(chunks cuda:0) and $(chunks cuda:1) chunks"
rm r.json

# --memory is the GPUs', where auto finds some, and the host's where it does not.
recon --memory 4M --supervise no
has "digest    $digest"
grep -q 'fallback' err.txt && bad "within 4M: $(cat err.txt)"
recon --memory 70K
grep -q 'is left to the fallback: .* on cuda:0: the budget is 71680 bytes' err.txt || bad "within 70K it says: $(cat err.txt)"
has "digest    $digest"
refused 4 'the budget is 71680 bytes' ct recon scan.h5 -o w.npy --memory 70K --devices cuda

# The plan knows what is free and held on GPUs that are here.
works plan ct recon scan.h5 --json p.json
has 'cuda:1'
grep -q '"reserved_bytes"' p.json || bad "the plan does not tell what is held: $(cat p.json)"
works plan ct recon scan.h5 --devices cuda:0=80G,cuda:7=80G
has 'cuda:7'
works plan ct recon scan.h5 --devices "$short" --weights 1
has 'cuda:1'
rm p.json

# One that does not open is left out where nobody named it.
export FAKE_CUDA_FAIL=cuModuleLoadData:1:300
recon
grep -q 'auto leaves out cuda:0: ' err.txt || bad "a GPU that does not open: $(cat err.txt)"
has "digest    $digest"
refused 4 'cuModuleLoadData' ct recon scan.h5 -o w.npy --devices cuda:0,cpu --supervise no
unset FAKE_CUDA_FAIL

# A kernel that traps takes all GPUs of its process along: a fresh process goes on with them, and when that happens again,
# without the one in question. Without a supervisor the CPU goes on.
works ct simulate -o large.h5 --views 60 --rows 24 --columns 64 --quiet --devices cpu
trapped() { # trapped LAUNCH FLAGS: in err.txt, what is said of it
    FAKE_CUDA_TRAP=$1 && shift
    export FAKE_CUDA_TRAP
    works ct recon large.h5 -o w.npy --center 31.5 --slab 2 --overwrite "$@"
    unset FAKE_CUDA_TRAP
    cmp -s w.npy v.npy || bad "a trap with $*: other bits"
}
works ct recon large.h5 -o v.npy --center 31.5 --slab 2 --devices cpu
for gpus in 1 2; do
    export FAKE_CUDA_DEVICES=$gpus
    trapped 40
    grep -q 'the process at work is gone: .*; a fresh one goes on' err.txt || bad "$gpus GPUs, a trap: $(cat err.txt)"
    grep -q 'gave up' err.txt && bad "$gpus GPUs, a trap: $(cat err.txt)"
    trapped 40 --supervise no
    grep -q 'goes on without cuda:0' err.txt || bad "$gpus GPUs, a trap, nobody to look after it: $(cat err.txt)"
    grep -q 'a fresh one goes on' err.txt && bad "$gpus GPUs, not supervised: $(cat err.txt)"
done
FAKE_CUDA_TRAP=40
export FAKE_CUDA_TRAP
rm w.npy
timeout 120 "$MOTET" ct recon large.h5 -o w.npy --center 31.5 --slab 2 --devices cuda --supervise no -q >out.txt 2>err.txt
[ $? = 4 ] && tail -1 err.txt | grep -q 'no device is left' || bad "a trap, and nothing else to go on with: $(cat err.txt)"
unset FAKE_CUDA_TRAP
nothing_but scan.h5 large.h5 volume.npy v.npy

# One that hangs is given up after its deadline, by a process that ends for that; its parent killed, it ends as well.
export FAKE_CUDA_DEVICES=1 FAKE_CUDA_HANG=40
[ -e "/proc/$$/task/$$/children" ] || { echo "skipped: /proc does not tell of children"; finish; }
"$MOTET" ct recon large.h5 -o w.npy --center 31.5 --slab 2 >out.txt 2>err.txt &
pid=$!
tries=0 child=
while [ $tries -lt 400 ] && ! { [ -n "$child" ] && ls -A | grep -q '^\.motet-'; }; do
    child=$(child_of $pid)
    sleep 0.02
    tries=$((tries + 1))
done
[ -n "$child" ] || bad "no child of $pid came to its work: $(cat err.txt)"
sleep 1
kill -9 $pid
wait $pid
gone "$child"
rm -f err3.txt
nothing_but scan.h5 large.h5 volume.npy v.npy
works ct recon large.h5 -o w.npy --center 31.5 --slab 2
[ "$(grep -c 'made no progress for 1[0-9.]* s; a fresh one goes on' err.txt)" = 2 ] || bad "a GPU that hangs: $(cat err.txt)"
cmp -s w.npy v.npy || bad "a GPU that hangs: other bits"
nothing_but scan.h5 large.h5 volume.npy v.npy w.npy
finish
