#!/bin/sh
# Every mistake on the command line is told in one line that names the value, with exit code 1.
. "${0%/*}/support.sh"

refused 1 'no command "cts"; did you mean motet ct?' cts
refused 1 'motet ct: no command "recno"; did you mean motet ct recon?' ct recno
refused 1 'motet ct: no command "qqqqqq"; motet ct --help lists them' ct qqqqqq
refused 1 'a command is missing' ct
refused 1 '--quiet comes before the command' --quiet ct info x
refused 1 'SCAN is missing' ct recon
refused 1 '--output is missing' ct recon scan.h5
refused 1 'one argument too many: "b"' ct recon a b -o c.npy
refused 1 'unknown flag --centre; did you mean --center?' ct recon a -o b --centre 3
refused 1 'unknown flag --colour' ct recon a -o b --colour red
refused 1 '--quiet is given twice' ct recon a -o b --quiet -q
refused 1 '--output is given twice' ct recon a -o b --output c
refused 1 '--quiet takes no value, got "yes"' ct recon a -o b --quiet=yes
refused 1 '--center needs a value' ct recon a -o b --center
refused 1 '--center needs a value' ct recon a -o b --center --rows 0:1
refused 1 'SCAN is ""' ct recon '' -o b
refused 1 '--output is ""' ct recon a -o ''
for value in abc nan inf -inf 1e400 '' ' 3' '3 ' 3,5 0x10 1e9; do
    refused 1 "--center is \"$value\", expected a number of pixels, or auto" ct recon a -o b --center "$value"
done
for value in 3 3:3 5:3 -1:3 a:b 0:1:2 : 0:99999999999999999999 1.5:3; do
    refused 1 "--rows is \"$value\", expected two whole numbers" ct recon a -o b --rows "$value"
done
for value in 0 -1 nan inf 1e-400; do
    refused 1 "--pitch is \"$value\", expected a length in mm above 0" ct recon a -o b --pitch "$value"
    refused 1 "--voxel is \"$value\", expected a length in mm above 0" ct recon a -o b --voxel "$value"
done
for value in 0 1.01 -0.5 nan; do
    refused 1 "--cutoff is \"$value\", expected a fraction" ct recon a -o b --cutoff "$value"
done
for value in 0 -4 12x 12x0 1x2x3 1e3 3000000000 12X12; do
    refused 1 "--size is \"$value\", expected a number of voxels" ct recon a -o b --size "$value"
done
for value in -1 1.5 99999999999 nan; do
    refused 1 "--pad is \"$value\", expected a whole number" ct recon a -o b --pad "$value"
done
for value in 1:1 2:1 nan:1 0:inf 5 1:2:3; do
    refused 1 "--range is \"$value\", expected two numbers" ct recon a -o b --dtype u16 --range "$value"
done
refused 1 '--mask is "0"' ct recon a -o b --mask=0
refused 1 '--mask is "nan"' ct recon a -o b --mask=nan
refused 1 '--window is "Hann", expected ram-lak' ct recon a -o b --window Hann
refused 1 '--dtype is "f16"' ct recon a -o b --dtype f16
refused 1 '--isa is "v5", expected auto, base, v3 or v4' ct recon a -o b --isa v5
for value in 0 -1 4097 two 1.0; do
    refused 1 "--threads is \"$value\"" ct recon a -o b --threads "$value"
done
for value in 0 -1 4X G 1.5G 99999999999999999999; do
    refused 1 "--memory is \"$value\", expected whole bytes" ct recon a -o b --memory "$value"
done
for value in gpu cpu, cuda: cuda:x cpu,,cpu cpu/ /cpu cuda/cpu/cpu GPU- GPU-x cpu,auto -cpu cpu,- ''; do
    refused 1 "--devices is \"$value\", expected auto, cpu" ct recon a -o b --devices "$value"
done
for value in sim sim: sim:x sim:0000 sim:0x cpu,sim:; do
    refused 1 "--devices is \"$value\", expected auto, cpu" ct recon a -o b --devices "$value"
done
for value in '' a 1,,2 1, ,1 -1 nan inf 1e301 '1;' ';1' '=1' 'ct=' 'ct=1;' 'a b=1' 'ct.fliter=1' 'filter=1' 'c=1' "$(seq -s, 17)"; do
    refused 1 "--weights is \"$value\", expected one number of at least 0 for each device" ct recon a -o b --weights "$value"
done
for value in -0.1 1.5 nan half; do
    refused 1 "--verify-fraction is \"$value\", expected a fraction from 0 to 1" ct recon a -o b "--verify-fraction=$value"
done
refused 1 '--chunk is "0"' ct recon a -o b --chunk 0
refused 1 '--views is "0"' ct simulate -o a.h5 --views 0
refused 1 '--columns is "4294967296"' ct simulate -o a.h5 --columns 4294967296
refused 1 '--counts is "-1"' ct simulate -o a.h5 --counts=-1
refused 1 'SHELL is "tcsh", expected bash, zsh or fish' completion tcsh
refused 1 'no command "nothing"' help nothing
# Names with control characters stay one line.
refused 1 'no command "a?b"' "a
b"
timeout -k 5 10 "$MOTET" >out.txt 2>err.txt && bad "motet alone: exit code 0, expected 1"
grep -q '^usage: motet COMMAND' err.txt || bad "motet alone does not tell its usage on stderr"
rm -f out.txt err.txt
nothing_but
finish
