#!/bin/sh
# motet ct cgls and sirt: the same bits however they run, a residual for each iteration, stops by rule, bounds kept; a run that
# was ended goes on from its folder to the same bits, also when only the output was left to write.
. "${0%/*}/support.sh"
need_python

cone='--sid 40 --sdd 64 --pitch 1.25'
scan="--line-integrals $cone --size 12 --voxel 1"
works ct phantom -o views.npy --truth head.mha $cone --views 16 --detector 24x18 --size 12 --voxel 1 -q
works ct convert head.mha head.npy -q

works ct cgls views.npy -o c.npy $scan --iterations 8 --json c.json --png c.png
has 'solved    8 iterations; stopped by iterations; residual '
has 'memory    at most '
files report c.json '(lambda k: k["iterations"] == 8 and k["stop"] == "iterations" and len(k["residuals"]) == 9 and k["residuals"][0] == 1 and all(b <= a for a, b in zip(k["residuals"], k["residuals"][1:])) and k["residuals"][-1] == k["relative"] < 0.2)(r["result"])' || bad "residuals of cgls"
files report c.json 'r["memory"]["accounted_peak"] <= r["result"]["memory"]["host_bytes"] + 131072' || bad "more memory than was said: $(grep -A12 '"memory"' c.json)"
for how in '--threads 1' '--threads 3' '--isa base' '--chunk 5' '--devices sim:0,sim:1,cpu --weights 2,1,1' '--host-memory 2M --threads 2' '--from-disk yes' '--from-disk yes --host-memory 1M --threads 2'; do
    works ct cgls views.npy -o w.npy $scan --iterations 8 -q $how
    cmp -s c.npy w.npy || bad "$how changes bits of cgls"
    rm -f w.npy
done
works ct cgls views.npy -o w.npy $scan --iterations 100 --tolerance 0.2
has 'stopped by tolerance'
works ct cgls views.npy -o w.npy $scan --iterations 100 --stall 0.3 --overwrite
has 'stopped by stalled'
works ct cgls views.npy -o w.npy $scan --iterations 3 --progress --overwrite
grep -q '^cgls, residual .* of the data.s norm: 2 of 3 (66%)$' err.txt || bad "no residual in the progress: $(cat err.txt)"
works ct cgls views.npy -o w.npy $scan --iterations 0 --initial head.mha --overwrite
cmp -s w.npy head.npy || bad "no iteration changes what it begins at"
rm -f w.npy

works ct sirt views.npy -o s.npy $scan --iterations 12 --json s.json
files report s.json 'all(b <= a for a, b in zip(r["result"]["residuals"], r["result"]["residuals"][1:])) and r["result"]["minimum"] < 0' || bad "residuals of sirt"
works ct sirt views.npy -o b.npy $scan --iterations 12 --nonnegative --greatest 0.25 --json b.json
files report b.json 'r["result"]["minimum"] == 0 and r["result"]["maximum"] == 0.25' || bad "bounds of sirt"
works ct sirt views.npy -o w.npy $scan --iterations 12 --devices sim:0,cpu --chunk 3 -q
cmp -s s.npy w.npy || bad "devices change bits of sirt"
works ct sirt views.npy -o w.npy $scan --iterations 12 --initial head.mha --relaxation 0.5 --overwrite -q
cmp -s s.npy w.npy && bad "--initial and --relaxation do nothing"
works ct sirt views.npy -o w.npy $scan --iterations 12 --from-disk yes -q --overwrite
cmp -s s.npy w.npy || bad "sirt from disk changes bits"
rm -f w.npy

# Ended on the way, it goes on where it was.
for solver in cgls sirt; do
    works ct $solver views.npy -o whole.npy $scan --iterations 250 -q
    "$MOTET" ct $solver views.npy -o part.npy $scan --iterations 250 --resume kept --progress >out.txt 2>err.txt &
    until grep -q ' of 250 (' err.txt && ls kept/* >out.txt 2>&1 || ! kill -0 $! 2>out.txt; do sleep 0.01; done
    sleep 0.1
    kill -TERM $! 2>out.txt
    wait $!
    code=$?
    if [ $code = 5 ]; then
        grep -q 'kept keeps what is finished' err.txt || bad "cancelled $solver says $(tail -1 err.txt)"
        works ct $solver views.npy -o part.npy $scan --iterations 250 --resume kept --json part.json
        has 'of them before'
    else
        [ $code = 0 ] || bad "$solver, cancelled: exit code $code: $(tail -1 err.txt)"
    fi
    cmp -s whole.npy part.npy || bad "$solver does not resume to the same bits"
    [ -e kept ] && bad "$solver leaves its folder: $(ls kept)"
    rm -rf kept whole.npy part.npy part.json
done

# What is solved stays until the output is in its place: here something else takes that on the way.
for solver in cgls sirt; do
    for how in no yes; do
        works ct $solver views.npy -o whole.npy $scan --iterations 250 -q
        "$MOTET" ct $solver views.npy -o part.npy $scan --iterations 250 --resume kept --from-disk $how --isa base --progress >out.txt 2>err.txt &
        until grep -q ' of 250 (' err.txt || ! kill -0 $! 2>out.txt; do sleep 0.01; done
        echo taken >part.npy
        wait $!
        [ $? = 2 ] || bad "$solver, its path taken: exit code is not 2: $(tail -1 err.txt)"
        grep -q 'exists' err.txt || bad "$solver, its path taken, says $(tail -1 err.txt)"
        [ -e kept/ct.$solver.loop ] || bad "$solver, its path taken: nothing is kept"
        rm -f part.npy
        works ct $solver views.npy -o part.npy $scan --iterations 250 --resume kept --json part.json
        has 'solved    250 iterations, 250 of them before; stopped by iterations'
        files report part.json 'len(r["result"]["residuals"]) == 1 and r["result"]["residuals"][0] == r["result"]["relative"]' || bad "$solver iterates again"
        cmp -s whole.npy part.npy || bad "$solver, its path taken: other bits"
        [ -e kept ] && bad "$solver, all done, leaves its folder: $(ls kept)"
        rm -rf kept whole.npy part.npy part.json
    done
done

refused 1 'but --nonnegative makes it 0' ct sirt views.npy -o w.npy $scan --least 1 --nonnegative
refused 1 '--greatest is "-1", expected at least 0' ct sirt views.npy -o w.npy $scan --nonnegative --greatest -1
refused 1 'unknown flag --nonnegative' ct cgls views.npy -o w.npy $scan --nonnegative
refused 1 '--relaxation is "2"' ct sirt views.npy -o w.npy $scan --relaxation 2
files npy small.npy '<f4' 2,3,4 0
"$MOTET" ct cgls views.npy -o w.npy $scan --initial small.npy >out.txt 2>err.txt
[ $? = 2 ] || bad "a volume of another size to begin at: exit code is not 2"
grep -q 'small.npy has 4 x 3 x 2 voxels, the volume 12 x 12 x 12' err.txt || bad "says $(cat err.txt)"
refused 4 "the least that does is --host-memory" ct cgls views.npy -o w.npy $scan --host-memory 140K --from-disk no
nothing_but views.npy head.mha head.npy c.npy c.json c.png s.npy s.json b.npy b.json small.npy
finish
