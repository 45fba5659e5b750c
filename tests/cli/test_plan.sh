#!/bin/sh
# motet plan tells shares, chunks and memory for devices that need not be there, and reads no data.
. "${0%/*}/support.sh"

works plan ct backproject --views 100 --columns 64 --rows 512 --devices cuda:0=2G,cuda:1 --memory 1G --weights 1,3
has 'ct.backproject: chunked, 6 chunks of 512 x 64'
has 'cuda:0    0:128'
has 'cuda:1    128:512'
has 'limit 1.0 GiB'
works plan ct project --views 100 --columns 64 --rows 64
has 'ct.project: single'
has 'arrays in place'
works plan ct recon --views 900 --columns 1024 --rows 4096 --host-memory 300M
has 'what follows is one'
has 'ct.filter'
has 'ct.backproject'
works plan ct recon --views 1800 --columns 2048 --rows 2048 --slab 100 --quiet
[ -s out.txt ] && bad "--quiet printed $(head -c 100 out.txt)"

# The minimum that a refusal tells is enough, and one byte less is not.
"$MOTET" plan ct project --views 90 --devices sim:0 --memory 1000 2>err.txt >out.txt && bad "1000 bytes were enough"
least=$(sed -n 's/.*takes at least \([0-9]*\) bytes$/\1/p' err.txt)
[ -n "$least" ] || bad "no minimum in: $(cat err.txt)"
works plan ct project --views 90 --devices sim:0 --memory "$least"
refused 4 "takes at least $least bytes" plan ct project --views 90 --devices sim:0 --memory $((least - 1))
refused 4 'ct.project on sim:0: the budget is 1000 bytes' plan ct project --devices sim:0 --memory 1000
refused 4 'ct.project on the host: the bound is 1000 bytes' plan ct project --devices cpu --memory 1000

works plan ct filter --json - --devices sim:0,sim:1 --chunk 9
has '"name": "ct.filter"'
has '"mode": "chunked"'

# As many views as one likes are planned at once, with columns beside the detector.
works plan ct recon --views 100000000 --columns 64 --rows 8 --pad 100 --host-memory 1T
has 'ct.normalise: single'
refused 1 '--pad is "-1"' plan ct filter --pad=-1

# A scan gives the sizes; flags win.
works ct simulate -o scan.h5 --views 30 --rows 6 --columns 40
works plan ct backproject scan.h5
has 'sizes     30 views of 6 rows x 40 columns'
has 'chunks of 6 x 40'
works plan ct backproject scan.h5 --rows 9
has 'chunks of 9 x 40'
refused 3 'none.h5' plan ct backproject none.h5

# Views in space: the pair with a geometry, filtered back-projection and the solvers.
cone='--sid 1280 --sdd 2048 --views 360 --detector 1024x768 --pitch 1.25 --size 512 --voxel 1'
works plan ct project $cone --devices cuda:0=80G,cuda:1=80G --memory 4G
has 'geometry  cone beam, 360 views of 1024 x 768 pixels'
has 'ct.project.columns: chunked'
works plan ct backproject $cone --tilt 3
has 'ct.backproject.rays: single'
works plan ct cgls $cone --devices cuda:0=141G
has 'ct.backproject.columns'
has 'ct.project.columns'
has 'of it arrays in between'
refused 4 'on cuda:0: the budget is 1048576 bytes' plan ct cgls $cone --devices cuda:0 --memory 1M
refused 4 'on the host: the bound is 1073741824 bytes' plan ct sirt $cone --host-memory 1G
works plan ct fdk $cone --pad 100 --host-memory 8G --json plan.json --overwrite
has 'ct.fdk_filter: single'
works ct phantom -o views.npy --sid 40 --sdd 64 --pitch 1.25 --views 5 --detector 24x18 --size 12 -q
works plan ct fdk views.npy --sid 40 --sdd 64 --pitch 1.25 --size 12
has 'geometry  cone beam, 5 views of 24 x 18 pixels of 1.25 x 1.25 mm; 12 x 12 x 12 voxels'
refused 1 '--sid is missing' plan ct fdk
refused 2 'not on views in space' plan ct filter $cone
rm -f plan.json views.npy

refused 1 'ENGINE is "rf", expected ct' plan rf map
refused 1 'OPERATION is "tv", expected project, backproject, filter, recon, fdk, cgls or sirt' plan ct tv
refused 1 'OPERATION is missing' plan ct
for list in gpu cuda: cuda:x cpu,cuda:0=1G/cpu cpu, ,cpu cpu,,cpu cuda:0=x cuda:0= cuda:0=-1 cpu=1e3; do
    refused 1 "--devices is \"$list\", expected at most 16 of" plan ct recon --devices "$list"
done
refused 1 '--devices names cuda:0 twice' plan ct recon --devices cuda:0=1G,cuda:0
works devices
if grep -q '^no GPU' out.txt; then
    refused 4 'devices names cuda, but there is no GPU to use: ' plan ct recon --devices cuda
    refused 4 'devices names GPU-1f2e, but there is no GPU to use: ' plan ct recon --devices GPU-1f2e/cpu
fi
sixteen=$(seq -s, -f cuda:%g 0 15)
works plan ct recon --devices "$sixteen"
has 'cuda:15'
refused 1 "--devices is \"cpu,$sixteen\", expected at most 16 of" plan ct recon --devices "cpu,$sixteen"
for list in 1 1,2,3 a,b -1,2 1, ,1 nan,1 inf,1 1e301,1; do
    refused 1 "--weights is \"$list\", expected 2 numbers" plan ct recon --devices cpu,sim:0 --weights "$list"
done
refused 2 'not all 0' plan ct recon --devices cpu,sim:0 --weights 0,0
nothing_but scan.h5
finish
