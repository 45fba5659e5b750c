#!/bin/sh
# GPUs that trap, hang and compute wrongly, and processes that are killed, never cost the result: the command ends with the
# bits of the CPU, or refuses and leaves nothing. Faults come from the driver in MOTET_FAULTY, which hands all else to the
# real one.
. "${0%/*}/support.sh"
"$MOTET" devices --devices cuda:0 >out.txt 2>&1 || { echo "skipped: $(head -1 out.txt)"; exit 77; }
[ -e "$MOTET_FAULTY/libcuda.so.1" ] || { echo "skipped: there is no driver that fails"; exit 77; }
rm -f out.txt
# Without a GPU it takes a minute to show what cli.gpus shows, too.
[ -z "${MOTET_GPU_QUICK:-}" ] || [ -n "${MOTET_TEST_LONG:-}" ] ||
    { echo "skipped: without a GPU this runs in the long tier (MOTET_TEST_LONG)"; exit 77; }
export LD_LIBRARY_PATH="$MOTET_FAULTY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset MOTET_FAULT MOTET_FAULT_ONCE
quick=${MOTET_GPU_QUICK:-} child=

beam="--sid 160 --sdd 256 --pitch 1.25 --size 48 --voxel 1"
works ct phantom -o views.npy --truth head.mha $beam --views 60 --detector 96x72 -q --devices cpu
fdk="ct fdk views.npy --line-integrals $beam --chunk 6"
cgls="ct cgls views.npy --line-integrals $beam --iterations 5"
project="ct project head.mha $beam --views 60 --detector 96x72 --chunk 6"
works $fdk -o fdk.npy -q --devices cpu
works $cgls -o cgls.npy -q --devices cpu
works $project -o project.npy -q --devices cpu
# Counts of a detector, any: the bytes of the line integrals.
npy() { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<u2', 'fortran_order': False, 'shape': ($1), }"; }
{ npy "60, 96, 72" && tail -c 829440 views.npy; } >raw.npy
{ npy "1, 96, 72" && tr '\0' '\020' </dev/zero | head -c 13824; } >flats.npy
counts="ct fdk raw.npy --flats flats.npy $beam"
works $counts -o counts.npy -q --devices cpu

begins_with="$(ls /dev/shm)"
clean() { # WHAT: it left only the inputs and what is expected, and no process has a GPU
    rm -f w.npy w.json err3.txt happened
    nothing_but cgls.npy counts.npy fdk.npy flats.npy head.mha project.npy raw.npy views.npy
    [ "$(ls /dev/shm)" = "$begins_with" ] || bad "$1: /dev/shm holds $(ls /dev/shm | tr '\n' ' ')"
    command -v nvidia-smi >err3.txt || return
    held=$(nvidia-smi --query-compute-apps=pid,process_name --format=csv,noheader 2>err3.txt | grep motet)
    [ -z "$held" ] || bad "$1: a process still has a GPU: $held"
    rm -f err3.txt
}
same() { # FILE WHAT
    cmp -s w.npy "$1" || bad "$2: other bits"
    clean "$2"
}
lost() { grep -q '"reason"' w.json; }
within() { # SECONDS WHAT: since `from`
    took=$(($(date +%s) - from))
    [ $took -le "$1" ] || bad "$2 took $took s, expected at most $1"
}

# Nothing fails.
for devices in cuda:0 cpu,cuda:0; do
    for job in fdk cgls project counts; do
        eval "words=\$$job"
        works $words -o w.npy --devices $devices --json w.json
        lost && bad "$devices is lost without a fault: $(grep -A4 losses w.json)"
        grep -q '"name": "cuda:0"' w.json || bad "$devices: the report knows no GPU"
        same $job.npy "$job on $devices"
    done
done

# A kernel traps, the first one or a later one: the process goes on without GPUs.
for job in fdk cgls project; do
    eval "words=\$$job"
    in_process="--supervise no"
    [ $job = cgls ] && in_process= # it knows no other way
    k=1 met=0
    while [ $k -lt 400 ]; do
        export MOTET_FAULT=trap:$k
        works $words -o w.npy --devices cuda:0,cpu --json w.json $in_process
        was_lost=0
        lost && was_lost=1
        grep -q 'CUDA_ERROR_\|cuda:0 is lost' w.json || [ $was_lost = 0 ] || bad "the loss is not explained: $(grep -A4 losses w.json)"
        same $job.npy "$job, launch $k traps"
        [ $was_lost = 1 ] || break
        met=$((met + 1))
        k=$((k + 1 + k / 2 + ${quick:-0} * k * 2))
    done
    echo "told: $job: $met traps"
    [ $met -ge 2 ] || bad "$job met $met traps, expected more"
done

# Without anything else to compute on, it ends, and writes nothing.
export MOTET_FAULT=trap:2
"$MOTET" $fdk -o w.npy --devices cuda:0 --supervise no -q >out.txt 2>err.txt
[ $? = 4 ] || bad "no device is left, and the exit code is $?, expected 4"
tail -1 err.txt | grep -q 'no device is left' || bad "no device is left, but it says: $(cat err.txt)"
clean "no device is left"

# Supervised, a fresh process goes on, on the GPU again.
export MOTET_FAULT_ONCE="$here/happened"
for k in 1 3 6; do
    export MOTET_FAULT=trap:$k
    works $fdk -o w.npy --devices cuda:0 --supervise yes
    grep -q 'a fresh one goes on' err.txt || bad "launch $k traps, supervised: says \"$(cat err.txt)\""
    [ -e happened ] || bad "launch $k did not trap"
    same fdk.npy "supervised, launch $k traps"
done
unset MOTET_FAULT_ONCE
# One that always traps is left out.
export MOTET_FAULT=trap:1
works $fdk -o w.npy --devices cuda:0,cpu --supervise yes
same fdk.npy "supervised, always traps"

# A kernel that does not end: the deadline is 10 seconds, and the process does not wait for it.
for how in no yes; do
    export MOTET_FAULT=hang:2
    from=$(date +%s)
    works $fdk -o w.npy --devices cuda:0,cpu --supervise $how --json w.json
    within 80 "a run with a kernel that hangs (--supervise $how)"
    same fdk.npy "hangs, --supervise $how"
done

# A GPU that computes wrongly is not used.
export MOTET_FAULT=health:0
refused 4 "computes wrongly" $fdk -o w.npy --devices cuda:0 --supervise no
clean "wrong health"

# A wrong element is there, and found where it is looked for.
export MOTET_FAULT=spoil:1
works $project -o w.npy --devices cuda:0 --supervise no -q
cmp -s w.npy project.npy && bad "the wrong element does not reach the result: nothing below is shown"
clean "a wrong element"
refused 6 "bits" $project -o w.npy --devices cuda:0,cpu --supervise no --verify-fraction 1 -q
clean "a wrong element that is found"
unset MOTET_FAULT

# The process that computes is killed, whenever: another goes on.
big="ct phantom -o big.mha --truth w.npy --sid 320 --sdd 512 --pitch 1.25 --size 128 --voxel 1 --views 2 --detector 8x8"
works $big -q --devices cpu
rm -f big.mha
mv w.npy big.npy
views=720
[ -z "$quick" ] || views=60
big="ct project big.npy --sid 320 --sdd 512 --pitch 1.25 --size 128 --voxel 1 --views $views --detector 256x192 --chunk 8"
works $big -o wide.npy -q --devices cpu
kills=0
pauses="0.3 0.8 1.3 1.8 2.3 2.8"
[ -z "$quick" ] || pauses="0.3 0.8"
for pause in $pauses; do
    "$MOTET" $big -o w.npy --devices cuda:0 --supervise yes >out.txt 2>err.txt &
    pid=$!
    sleep $pause
    child=$(tr ' ' '\n' 2>err3.txt <"/proc/$pid/task/$pid/children" | head -1)
    [ -n "$child" ] && kill -9 "$child" 2>err3.txt && kills=$((kills + 1))
    wait $pid || bad "killed after $pause s: exit code $?: $(cat err.txt)"
    cmp -s w.npy wide.npy || bad "killed after $pause s: other bits"
    rm -f w.npy out.txt err.txt err3.txt
done
rm -f big.npy wide.npy
clean "killed"
echo "told: $kills kills"
[ $kills -ge 1 ] || bad "only $kills processes were there to be killed"
finish
