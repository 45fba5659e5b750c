#!/bin/sh
# motet ct check-geometry measures a scan, warns of what looks wrong, draws it, saves it and reads it again; flags that contradict are refused.
. "${0%/*}/support.sh"
scan='--sid 320 --sdd 512 --views 36 --detector 256x192 --pitch 1.25 --size 120 --voxel 1'

works ct check-geometry $scan
has 'magnification  1.6'
has '360 degrees'
has 'nothing looks wrong'
works ct check-geometry $scan --quiet
[ -s out.txt ] && bad "--quiet printed $(cat out.txt)"
works ct check-geometry $scan --arc 180
has 'warning: short arc: the views cover 180 degrees'
works ct check-geometry $scan --arc 6.2831853
has 'radians taken for degrees'
works ct check-geometry --sid 320 --sdd 512 --views 36 --pitch 1.25 --size 120 --voxel 1 --detector 64x192
has 'warning: truncation'
works ct check-geometry $scan --shift-u 100
has 'warning: detector shift: the axis falls -80 columns (-100 in length units)'
works ct check-geometry $scan --path random --path-seed 4
has 'share no axis'
has 'ray by ray'
works ct check-geometry $scan --tilt 5 --offset -1,2,3
has 'ray by ray'
works ct check-geometry --beam parallel --views 180 --detector 64x4
has '64 x 64 x 4 voxels of 1 x 1 x 1 mm'
has 'nothing looks wrong'

works ct check-geometry $scan --angles 0:-350
has 'nothing looks wrong'
for k in 0 1 2 3 4 5; do echo $((60 * k)); done >angles.txt
works ct check-geometry --sid 320 --sdd 512 --views 6 --detector 64x48 --pitch 4 --size 100 --voxel 1 --angles angles.txt
has 'largest gap 60'
refused 2 '6 angles' ct check-geometry $scan --angles angles.txt
refused 3 'absent' ct check-geometry $scan --angles absent
refused 1 '--angles and --arc contradict' ct check-geometry $scan --angles 0:90 --arc 90

turns='--sid 50 --sdd 80 --views 400 --arc 1440 --detector 70x40 --pitch 1.25 --size 20 --voxel 1 --path helical'
works ct check-geometry $turns --rise 30
has 'rises by 30 mm in a turn, of 53.1'
works ct check-geometry $turns --rise 60
has 'warning: helix: the pitch of 60 in a turn is too large'
has 'up to 53.1'

# What is saved says the same.
works ct check-geometry $scan --path helical --rise 30 --save saved.json --png scan.png
cp out.txt first.txt
works ct check-geometry --geometry saved.json
cmp -s out.txt first.txt || bad "a saved geometry tells other figures: $(diff out.txt first.txt)"
[ "$(head -c 4 scan.png | tail -c 3)" = PNG ] || bad "no picture"
refused 2 'exists' ct check-geometry $scan --save saved.json
refused 2 'same file' ct check-geometry --geometry saved.json --save saved.json --overwrite
refused 1 'ending in .png' ct check-geometry $scan --png scan.jpg
rm -f scan.png first.txt

printf '0 -320 0 0 192 0 1.25 0 0 0 0 1.25\n320 0 0 -192 0 0 0 1.25 0 0 0 1.25\n' >vectors.txt
refused 2 '--size N' ct check-geometry --geometry vectors.txt --detector 4x3 --voxel 1
refused 2 '--detector NUxNV' ct check-geometry --geometry vectors.txt --size 4 --voxel 1
works ct check-geometry --geometry vectors.txt --detector 4x3 --size 4 --voxel 1 --shift-u 2
has '1.25 x 1.25 mm'
has '-1.6 columns'
works ct check-geometry --geometry vectors.txt --geometry-format astra --detector 4x3 --size 4 --voxel 1 --beam parallel
has 'parallel beam'
refused 2 '2 views, expected 3' ct check-geometry --geometry vectors.txt --detector 4x3 --size 4 --voxel 1 --views 3
refused 2 'line 1' ct check-geometry --geometry vectors.txt --geometry-format motet --size 4
refused 1 '--sid and --geometry contradict' ct check-geometry --geometry vectors.txt --sid 3
refused 1 '--geometry-format needs --geometry' ct check-geometry $scan --geometry-format rtk
refused 3 'absent' ct check-geometry --geometry absent
refused 1 '--sid is missing' ct check-geometry --views 3 --detector 4
refused 1 '--sdd is missing' ct check-geometry --views 3 --detector 4 --sid 3
refused 1 '--views is missing' ct check-geometry --sid 3 --sdd 4 --detector 4
refused 1 '--detector is missing' ct check-geometry --sid 3 --sdd 4 --views 4

refused 1 '--voxel is "1x2x3x4"' ct check-geometry --sid 3 --sdd 4 --voxel 1x2x3x4
refused 1 '--voxel is "0"' ct check-geometry --sid 3 --sdd 4 --voxel 0
refused 1 '--offset is "1"' ct check-geometry --sid 3 --sdd 4 --offset 1
refused 1 '--pitch is "1x2x3"' ct check-geometry --sid 3 --sdd 4 --pitch 1x2x3
refused 1 '--sid is "-1"' ct check-geometry --sid -1
# What is refused leaves no file: neither the picture nor the views.
two='ct check-geometry --sid 3 --sdd 4 --views 4 --detector 4'
refused 1 'path ending in .png' $two --save alone.json --png picture.jpg
: >taken.png
refused 2 'exists already' $two --save alone.json --png taken.png
: >taken.json
refused 2 'exists already' $two --save taken.json --png alone.png
[ ! -e alone.json ] && [ ! -e alone.png ] || bad "one of two files was written"
finish
