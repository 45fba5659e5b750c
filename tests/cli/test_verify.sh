#!/bin/sh
# motet verify finds the released digests everywhere, saves them, and notices when another machine's differ.
. "${0%/*}/support.sh"

works verify
has 'the same bits in all'
for step in project backproject filter fbp cone.project cone.backproject cone.fdk cone.cgls cone.sirt tilted.project tilted.backproject; do has "ct.$step"; done
grep -q DIFFERS out.txt && bad "verify marks a row"
works verify --save mine.txt -q --threads 1
works verify --against mine.txt --threads 2
has 'on the other machine'
refused 2 'mine.txt' verify --save mine.txt
refused 2 'same file' verify --against mine.txt --save mine.txt --overwrite
sed 's/^\(ct.fbp \)./\1x/' mine.txt >bad.txt
refused 2 'bad.txt:5: a malformed digest' verify --against bad.txt
grep -v fbp mine.txt >bad.txt
refused 2 'lacks a digest of ct.fbp' verify --against bad.txt
cat mine.txt mine.txt >bad.txt
refused 2 'for the second time' verify --against bad.txt
echo 'ct.nothing 00000000000000000000000000000000' >bad.txt
refused 2 'bad.txt:1: an unknown case' verify --against bad.txt
head -c 3000 /dev/zero | tr '\0' 'x' >bad.txt
refused 2 'bad.txt:1' verify --against bad.txt
refused 3 'absent.txt' verify --against absent.txt
sed '/^ct.fbp/s/.$/0/;/^ct.project/s/.$/0/' mine.txt | sed '/^ct.fbp/s/.$/1/' >other.txt
timeout -k 5 60 "$MOTET" verify --against other.txt --threads 1 >out.txt 2>err.txt
code=$?
[ $code = 6 ] || bad "a differing digest: exit code $code, expected 6"
grep '^ct.fbp' out.txt | grep -q DIFFERS || bad "the differing row is not marked"
grep '^ct.filter' out.txt | grep -q DIFFERS && bad "a row that agrees is marked"
grep -q 'digests differ' err.txt || bad "says $(cat err.txt)"

works devices
has 'cpu'
works devices --json -
cp out.txt devices.json
if [ -n "${PYTHON:-}" ]; then
    files report devices.json 'any(d["name"] == "cpu" and d["threads"] > 0 for d in r["result"]["devices"])' || bad "devices report"
fi
works bench ct parallel --columns 32 --rows 4 --views 10 --repeat 2 --json bench.json
has 'speed-up of at least 1.7'
has 'recon'
has 'the least of 2 runs after a warm-up'
rm bench.json
works bench ct parallel --columns 32 --rows 4 --views 10 --repeat 2 --threads 3 --isa base --json bench.json
has 'lowest speed-up on 3 threads: '
grep -q 'on 2 threads' out.txt && bad "bench speaks of 2 threads and measures 3"
if [ -n "${PYTHON:-}" ]; then
    files report bench.json '[(r["operation"], r["threads"]) for r in r["result"]["table"]] == [(o, t) for o in ("project", "backproject", "recon") for t in (1, 3)] and r["result"]["gate_met"] is None and r["result"]["speed_up"] == min(r["speed_up"] for r in r["result"]["table"] if r["threads"] == 3)' || bad "bench report"
fi
works bench ct parallel --columns 32 --rows 4 --views 10 --repeat 1 --threads 1 --isa base
has 'not measured on one thread'
rm -f bench.json
works bench ct cone --size 8 --views 6 --repeat 1 --threads 2 --isa base --json bench.json
has 'cone: volume of 8^3, 6 views of 16 x 12 pixels'
has 'back-projection takes '
if [ -n "${PYTHON:-}" ]; then
    files report bench.json '[(p["isa"], p["threads"]) for p in r["result"]["pairs"]] == [("base", 1), ("base", 2)] and {t["unit"] for t in r["result"]["table"]} == {"cell steps"}' || bad "bench report of a cone"
fi
refused 1 'SCAN is "fan", expected parallel or cone' bench ct fan
refused 1 'ENGINE is "rf", expected ct' bench rf
finish
