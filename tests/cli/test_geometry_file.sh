#!/bin/sh
# --geometry FILE with an input: what both say must agree, and a refusal names both. What the command says of numbers that are
# out of range is which range is taken.
. "${0%/*}/support.sh"
need_python

cone='--sid 40 --sdd 64'
works ct phantom -o views.npy --truth head.npy $cone --views 12 --detector 24x18 --pitch 1.25 --size 12 --voxel 1 -q
works ct phantom -o again.npy --truth head.mha $cone --views 12 --detector 24x18 --pitch 1.25 --size 12 --voxel 1 -q
works ct check-geometry $cone --views 12 --detector 24x18 --pitch 1.25 --size 12 --voxel 1 --save same.json -q
works ct check-geometry $cone --views 10 --detector 24x18 --pitch 1.25 --size 16 --voxel 1 --save views.json -q
works ct check-geometry $cone --views 12 --detector 20x18 --pitch 1.25 --size 16 --voxel 1 --save columns.json -q
works ct check-geometry $cone --views 12 --detector 24x16 --pitch 1.25 --size 12x12x9 --voxel 1 --save rows.json -q
works ct check-geometry $cone --views 12 --detector 24x18 --pitch 1.25 --size 12 --voxel 1,1,2 --save voxel.json -q

for method in fdk backproject 'cgls --iterations 1' 'sirt --iterations 1'; do
    works ct $method views.npy --line-integrals --geometry same.json -o v.npy -q
    rm -f v.npy
    refused 2 'views.npy has 12 views, views.json has 10' ct $method views.npy --line-integrals --geometry views.json -o v.npy
    refused 2 'views.npy has 24 columns, columns.json has 20' ct $method views.npy --line-integrals --geometry columns.json -o v.npy
    refused 2 'views.npy has 18 rows, rows.json has 16' ct $method views.npy --line-integrals --geometry rows.json -o v.npy
done
refused 2 'views.npy has 12 views, views.json has 10' plan ct fdk views.npy --geometry views.json
works plan ct fdk views.npy --geometry same.json
works plan ct fdk --geometry views.json
has '10 views'
works ct project head.npy --geometry same.json -o w.npy -q
rm -f w.npy
refused 2 'head.npy has 12 voxels along x, columns.json has 16; --size takes the place of the latter' ct project head.npy --geometry columns.json -o w.npy
refused 2 'head.npy has 12 voxels along z, rows.json has 9' ct project head.npy --geometry rows.json -o w.npy
works ct project head.npy --geometry rows.json --size 12 -o w.npy -q
rm -f w.npy
refused 2 'head.mha has a voxel of 1 mm, voxel.json of 2 mm: --voxel says which it is' ct project head.mha --geometry voxel.json -o w.npy
works ct project head.mha --geometry voxel.json -o w.npy -q --voxel 1x1x2
rm -f w.npy
# A volume of another size than the file's may be asked for.
works ct fdk views.npy --line-integrals --geometry same.json --size 8 -o v.npy
has '8 x 8 x 8 voxels'
rm -f v.npy

# Beginning with a byte order mark.
{ printf '\357\273\277'; cat same.json; } >marked.json
works ct check-geometry --geometry marked.json

# Out of range: the range is told.
refused 1 '--sid is "1e12", expected a length in mm above 0; at most 1000000000' ct check-geometry --sid 1e12 --sdd 64
refused 1 '--shift-u is "-1e10", expected a length in mm; at least -1000000000' ct check-geometry $cone --shift-u=-1e10
refused 1 '--arc is "1e9", expected an angle in degrees; at most 1000000' ct check-geometry $cone --arc 1e9
refused 1 '--pitch is "1x1e300", expected lengths in mm above 0; at most 1000000000' ct check-geometry $cone --pitch 1x1e300
refused 1 '--detector is "4x9000000000", expected a number of pixels NU or NUxNV; at most 1073741824' ct check-geometry $cone --detector 4x9000000000
refused 1 '--views is "0", expected a whole number from 1 to 1073741824' ct check-geometry $cone --views 0
"$MOTET" ct check-geometry $cone --views 0 2>err.txt
grep -q 'at least' err.txt && bad "a range is told twice: $(cat err.txt)"
sed 's/"source": \[[^]]*\]/"source": [1e300, 0, 0]/' same.json >far.json
refused 2 'the source is 1e+300 voxels from the volume'"'"'s middle, expected at most 1e6 for the nearer' ct check-geometry --geometry far.json
finish
