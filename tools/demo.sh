#!/bin/bash
# demo.sh BUILD FOLDER: one small real job with a known answer, on this machine, in about a minute.
# Simulates a noisy scan of a head whose rotation axis is off the middle, reconstructs it on every
# instruction set and with one and two threads, compares the bits, holds the picture against the
# head itself; then the same with a cone beam, by filtered back-projection and by iterations; and
# writes FOLDER/index.html.
set -euo pipefail
build=$1
folder=$2
motet=$build/motet
axis=118.37
views=400 rows=16 columns=256
rm -rf "$folder"
mkdir -p "$folder"/runs

fail() {
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

now() { date +%s%N; }
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b - a) / 1e9 }'; } # start end

# First value of a name in a JSON report; reports are written one name a line.
field() { # FILE NAME
    tr '\n' ' ' <"$1" | sed -nE "s/.*\"$2\": *\"?([^\",}]*)\"?.*/\\1/p" | sed 's/ *$//'
}
result_of() { # FILE NAME: from the object "result"
    tr '\n' ' ' <"$1" | sed -E 's/.*"result": *\{//; s/\}.*//' >"$folder/runs/result"
    field "$folder/runs/result" "$2"
}

echo "Simulating a scan: $views views of $rows x $columns pixels, rotation axis at column $axis, 20000 counts"
"$motet" ct simulate -o "$folder/scan.h5" --views $views --rows $rows --columns $columns \
    --center $axis --seed 1 --quiet >/dev/null || fail "motet ct simulate failed"

echo "Reconstructing it on every instruction set, with 1 and 2 threads"
reference= different=0 table= html= count=0
for isa in base v3 v4; do
    for threads in 1 2; do
        run=$folder/runs/$isa-$threads
        start=$(now)
        if ! "$motet" ct recon "$folder/scan.h5" -o "$run.mha" --isa $isa --threads $threads \
            --json "$run.json" --quiet >/dev/null 2>"$run.err"; then
            [ "$isa" != base ] && grep -qi "$isa" "$run.err" || { cat "$run.err" >&2; fail "motet ct recon failed"; }
            table+="$isa|$threads|-|not on this processor|-"$'\n'
            continue
        fi
        took=$(seconds "$start" "$(now)")
        digest=$(result_of "$run.json" digest)
        [ ${#digest} = 32 ] || fail "$run.json holds no digest of the volume"
        [ -n "$reference" ] || reference=$digest
        same=same
        [ "$digest" = "$reference" ] || { same=DIFFERENT; different=$((different + 1)); }
        table+="$isa|$threads|$took|$digest|$same"$'\n'
        count=$((count + 1))
        cp "$run.json" "$folder/report.json"
        mv "$run.mha" "$folder/volume.mha"
    done
done

# ---- A cone beam ----

cone="--sid 160 --sdd 256 --pitch 1.25 --voxel 1"
cone_views=180 cone_size=64
echo "Making $cone_views exact views of a cone beam around $cone_size^3 voxels, reconstructing them by fdk and by cgls"
mkdir -p "$folder/fdk" "$folder/cgls"
"$motet" ct phantom -o "$folder/views.npy" --truth "$folder/head.mha" $cone --views $cone_views --detector 128x96 \
    --size $cone_size --points 2 --quiet >/dev/null || fail "motet ct phantom failed"
scan="$folder/views.npy --line-integrals $cone --size $cone_size"
cone_table=
for how in "fdk" "fdk --threads 1 --isa base" "fdk --from-disk yes --chunk 7" "cgls --iterations 15" \
    "cgls --iterations 15 --threads 1 --chunk 5"; do
    method=${how%% *}
    run=$folder/runs/$method
    start=$(now)
    "$motet" ct $how $scan -o "$run.mha" --overwrite --json "$run.json" --quiet >/dev/null 2>"$run.err" ||
        { cat "$run.err" >&2; fail "motet ct $how failed"; }
    took=$(seconds "$start" "$(now)")
    same=same
    if [ -e "$folder/$method.mha" ]; then
        cmp -s "$run.mha" "$folder/$method.mha" || { same=DIFFERENT; different=$((different + 1)); }
    else
        mv "$run.mha" "$folder/$method.mha"
        cp "$run.json" "$folder/$method.json"
        "$build/examples/ct_known_answer" "$folder/$method.mha" "$folder/$method" "$folder/head.mha" \
            >"$folder/$method/errors.txt" || fail "the comparison of $method failed"
    fi
    count=$((count + 1))
    cone_table+="$how|$took|$same"$'\n'
done
cone_value() { awk -v n="$2" '$1 == n { print $2 }' "$folder/$1/errors.txt"; }

"$build/examples/ct_known_answer" "$folder/volume.mha" "$folder" >"$folder/errors.txt" || fail "the comparison failed"
value() { awk -v n="$1" '$1 == n { print $2 }' "$folder/errors.txt"; }
centre=$(result_of "$folder/report.json" center)
[ -n "$centre" ] || centre=$(result_of "$folder/report.json" centre)
off=$(awk -v a="$centre" -v b=$axis 'BEGIN { d = a - b; printf "%.2f", d < 0 ? -d : d }')
if [ "$different" = 0 ]; then
    verdict="all $count runs gave the same bits as the first of their kind"
else
    verdict="$different of $count runs gave OTHER bits"
fi

echo
printf '  %-28s %s\n' "Volume" "$(value width) x $(value height) x $(value slices) voxels of $(value voxel_mm) mm" \
    "Rotation axis found" "column $(awk -v c="$centre" 'BEGIN { printf "%.2f", c }') (true: $axis, off by $off)" \
    "Error, root mean square" "$(value rms_error_percent_of_largest) % of the densest part (PSNR $(value psnr_db) dB)" \
    "Bias in uniform parts" "$(value flat_bias_percent) %"
echo
printf '  %-12s %-8s %-8s %-33s %s\n' "instructions" threads seconds "digest of the volume" bits
while IFS='|' read -r isa threads took digest same; do
    [ -n "$isa" ] && printf '  %-12s %-8s %-8s %-33s %s\n' "$isa" "$threads" "$took" "$digest" "$same"
done <<<"$table"
echo
printf '  %-28s %s\n' "Cone beam, fdk" "error $(cone_value fdk rms_error_percent_of_largest) % of bone (PSNR $(cone_value fdk psnr_db) dB), bias in uniform parts $(cone_value fdk flat_bias_percent) %" \
    "Cone beam, cgls" "error $(cone_value cgls rms_error_percent_of_largest) % of bone (PSNR $(cone_value cgls psnr_db) dB), residual $(awk -v r="$(field "$folder/cgls.json" relative)" 'BEGIN { printf "%.4f", r }') of the data after $(field "$folder/cgls.json" iterations) iterations" \
    "Digests" "fdk $(field "$folder/fdk.json" digest), cgls $(field "$folder/cgls.json" digest)"
echo
printf '  %-46s %-8s %s\n' "cone beam" seconds bits
while IFS='|' read -r how took same; do
    [ -n "$how" ] && printf '  %-46s %-8s %s\n' "$how" "$took" "$same"
done <<<"$cone_table"
echo
echo "  $verdict"

# ---- The page ----

picture() { # FILE CAPTION
    [ -f "$folder/$1" ] || return 0
    printf '<figure><img alt="%s" src="data:image/png;base64,%s"><figcaption>%s</figcaption></figure>\n' \
        "$2" "$(base64 -w0 "$folder/$1")" "$2"
}

profile() { # a line plot of truth and result
    awk '
        { x[NR] = $1; t[NR] = $2; r[NR] = $3; if ($2 > top) top = $2; if ($3 > top) top = $3 }
        function line(v, class,   i, s) {
            s = "<polyline class=\"" class "\" points=\""
            for (i = 1; i <= NR; i++) s = s sprintf("%.1f,%.1f ", 50 + 700 * (i - 1) / (NR - 1), 205 - 180 * v[i] / top)
            return s "\"/>"
        }
        END {
            print "<svg viewBox=\"0 0 770 240\" role=\"img\" aria-label=\"attenuation along the middle line\">"
            for (i = 0; i <= 4; i++) {
                y = 205 - 180 * i / 4
                printf "<line class=\"grid\" x1=\"50\" x2=\"750\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"44\" y=\"%.1f\" text-anchor=\"end\">%.3f</text>\n", y, y, y + 4, top * i / 4
            }
            print line(r, "result"); print line(t, "truth")
            printf "<text x=\"50\" y=\"228\">column 0</text><text x=\"750\" y=\"228\" text-anchor=\"end\">column %d</text><text x=\"400\" y=\"228\" text-anchor=\"middle\">attenuation per mm along the middle line</text></svg>\n", NR - 1
        }' "$folder/profile.txt"
}

cone_rows_html() {
    while IFS='|' read -r how took same; do
        [ -n "$how" ] && printf '<tr><td><code>motet ct %s</code></td><td class="n">%s</td><td>%s</td></tr>\n' "$how" "$took" "$same"
    done <<<"$cone_table"
    true
}

rows_html() {
    while IFS='|' read -r isa threads took digest same; do
        [ -n "$isa" ] && printf '<tr><td>%s</td><td class="n">%s</td><td class="n">%s</td><td><code>%s</code></td><td>%s</td></tr>\n' "$isa" "$threads" "$took" "$digest" "$same"
    done <<<"$table"
    true
}

{
    cat <<'HTML'
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Motet: the demonstration</title>
<style>
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d8dde4; --back: #fbfbf9; --box: #fff; --one: #b3431e; --two: #2a6f97; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --soft: #9aa4b1; --line: #333b46; --back: #14181d; --box: #1b2027; --one: #f08a5d; --two: #7cc0e8; } }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.55 Georgia, "Times New Roman", serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2.2rem; margin: 0; letter-spacing: .01em; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
p { max-width: 42rem; } .lead { color: var(--soft); margin-top: .25rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
.facts div { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; }
.facts b { display: block; font-size: 1.45rem; font-weight: normal; } .facts span { color: var(--soft); font-size: .9rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure img { width: 100%; image-rendering: auto; background: #000; border-radius: 6px; display: block; } figcaption { color: var(--soft); font-size: .9rem; padding-top: .35rem; }
svg { width: 100%; height: auto; background: var(--box); border: 1px solid var(--line); border-radius: 6px; } svg text { fill: var(--soft); font: 12px sans-serif; }
.grid { stroke: var(--line); } polyline { fill: none; stroke-width: 1.4; } .truth { stroke: var(--two); } .result { stroke: var(--one); }
.key { font-size: .9rem; color: var(--soft); } .key i { display: inline-block; width: 1.4em; height: .2em; vertical-align: middle; margin: 0 .35em 0 .9em; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; } th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); } th { font-weight: normal; color: var(--soft); } .n { text-align: right; }
code, pre { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; } pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
</style></head><body><main>
<h1>Motet</h1>
HTML
    cat <<HTML
<p class="lead">A scan, simulated here, reconstructed here, held against the known answer.</p>
<div class="facts">
<div><b>$(value width) × $(value height) × $(value slices)</b><span>voxels of $(value voxel_mm) mm, from $views views of $rows × $columns pixels</span></div>
<div><b>$(awk -v c="$centre" 'BEGIN { printf "%.2f", c }')</b><span>rotation axis found, in columns; true: $axis</span></div>
<div><b>$(value rms_error_percent_of_largest) %</b><span>error (root mean square) of the densest part; PSNR $(value psnr_db) dB</span></div>
<div><b>$(value flat_bias_percent) %</b><span>bias in uniform parts ($(value flat_voxels) voxels)</span></div>
</div>
<h2>The middle slice</h2>
<div class="pictures">
$(picture result.png "Reconstruction")
$(picture truth.png "The head it was simulated from")
$(picture difference.png "Difference; black and white are −10 % and +10 % of the densest part")
</div>
<h2>Along the middle line</h2>
<p class="key"><i style="background:var(--two)"></i>known answer<i style="background:var(--one)"></i>reconstruction</p>
$(profile)
<p>The scan holds 20000 counts in the open beam, with the noise that belongs to them: the ripple inside the head. The streaks beside its
shell are there without noise too: that edge is finer than $columns columns can hold, and they are most of the error.</p>
<h2>A cone beam</h2>
<p>The head in three dimensions, $cone_size³ voxels, from $cone_views exact views of 128 × 96 pixels. Filtered back-projection (Feldkamp):
error $(cone_value fdk rms_error_percent_of_largest) % of bone, bias in uniform parts $(cone_value fdk flat_bias_percent) %. After
$(field "$folder/cgls.json" iterations) iterations of conjugate gradients: error $(cone_value cgls rms_error_percent_of_largest) %.</p>
<div class="pictures">
$(picture fdk/result.png "Filtered back-projection, middle slice")
$(picture cgls/result.png "Conjugate gradients")
$(picture fdk/truth.png "The head")
$(picture cgls/difference.png "Conjugate gradients less head; black and white are −10 % and +10 % of bone")
</div>
<table><thead><tr><th>run</th><th class="n">seconds</th><th>bits</th></tr></thead><tbody>
$(cone_rows_html)
</tbody></table>
<h2>The same bits everywhere</h2>
<p>The reconstruction ran on every instruction set that this processor has, with one and with two threads:
$verdict.</p>
<table><thead><tr><th>instructions</th><th class="n">threads</th><th class="n">seconds</th><th>digest of the volume</th><th>bits</th></tr></thead><tbody>
$(rows_html)
</tbody></table>
<h2>To do it yourself</h2>
<pre>build/motet ct simulate -o scan.h5 --views $views --rows $rows --columns $columns --center $axis --seed 1
build/motet ct recon scan.h5 -o volume.mha --png slice.png
build/motet ct phantom -o views.npy --truth head.mha $cone --views $cone_views --detector 128x96 --size $cone_size
build/motet ct fdk views.npy -o fdk.mha --line-integrals $cone --size $cone_size --png fdk.png</pre>
<p>The volume opens in 3D Slicer, ParaView and Fiji: <code>$folder/volume.mha</code>.</p>
</main></body></html>
HTML
} >"$folder/index.html"
rm -rf "$folder/runs"
echo "  pictures and tables: $folder/index.html"
[ "$different" = 0 ] || exit 6
