#!/bin/sh
# What a newcomer takes for something else is told, with what to do about it.
. "${0%/*}/support.sh"
need_python

# warns WORDS ARGS...: motet ARGS works and stderr holds the words.
warns() {
    words=$1
    shift
    works "$@"
    grep -qF -- "$words" err.txt || bad "motet $*: no warning says \"$words\": $(cat err.txt)"
}
# quiet ARGS...: motet ARGS works without a warning.
quiet() {
    works "$@"
    [ -s err.txt ] && bad "motet $*: $(cat err.txt)"
}

refused 1 'no command "recon"; did you mean motet ct recon?' recon scan.h5 -o v.npy
refused 1 'a value of --mask is written --mask=0.5' ct recon scan.h5 -o v.npy --mask 0.5
refused 1 'a value of --mask is written --mask=0.5' ct recon --mask 0.5 scan.h5 -o v.npy
refused 1 'one argument too many: "other.h5"; motet ct recon --help' ct recon scan.h5 --mask -o v.npy other.h5

# An axis found well is not called poor, whatever the noise; one that noise hides is called a guess.
quiet ct simulate -o scan.h5 --views 400 --rows 2 --columns 128 --center 60.3 --seed 1
quiet ct recon scan.h5 -o v.npy
has 'axis      column 60.3'
has '; below 0.02 is a guess)'
works ct simulate -o dim.h5 --views 180 --rows 2 --columns 64 --counts 3 --seed 1
warns 'no column stands out' ct recon dim.h5 -o dim.npy
has ': a guess, look at the picture or give --center)'
rm -f dim.h5 dim.npy

# The other sense of rotation is the slice upside down: row y becomes row 127 - y.
quiet ct recon scan.h5 -o a.npy --center 60.3 --rows 0:1
quiet ct recon scan.h5 -o b.npy --center 60.3 --rows 0:1 --angles 0:-180 --json report.json
files report report.json '(lambda a, b: all(a[128 * y : 128 * y + 128] == b[128 * (127 - y) : 128 * (128 - y)] for y in range(128)) and a != b)(read_npy("a.npy")[1], read_npy("b.npy")[1])' || bad "--angles 0:-180 is not the slice upside down"

warns 'the rotation axis at column 300 is outside the detector, columns 0 to 127' ct recon scan.h5 -o a.npy --overwrite --center 300
warns 'degrees from 0 to 3.14159; are they radians?' ct recon scan.h5 -o a.npy --overwrite --center 60.3 --angles 0:3.14159
grep -q 'no view in 177 of 180 degrees' err.txt || bad "the missing wedge: $(cat err.txt)"

# A dataset of one's own: which of several has to be said, and can be.
works ct convert scan.h5 views.npz --entry /exchange/data --sinogram
works ct convert scan.h5 flats.tif --entry /exchange/data_white
works ct convert scan.h5 darks.tif --entry /exchange/data_dark
given='--flats flats.tif --darks darks.tif --angles 0:180 --center 60.3 --overwrite --pitch 0.05'
quiet ct recon scan.h5 -o a.npy --overwrite --center 60.3
quiet ct recon scan.h5 --entry /exchange/data $given -o b.npy
cmp -s a.npy b.npy || bad "--entry of an HDF5 scan changes the volume"
quiet ct recon views.npz --entry data $given -o b.npy
cmp -s a.npy b.npy || bad "--entry of an NPZ scan changes the volume"
refused 3 'nothing' ct recon scan.h5 --entry /exchange/nothing $given -o b.npy
refused 2 'gives none; --angles START:STOP (degrees) or --angles FILE does' ct recon scan.h5 --entry /exchange/data -o c.npy

# NPY is (view, column, row): the other order is noticed where it can be.
files npy rows.npy '<f4' 3,4,9 '1.0'
warns 'read as (view, u, v), 4 columns and 9 rows; is it (view, v, u)? motet ct convert --sinogram swaps them' ct recon rows.npy -o c.npy --line-integrals --angles 0:120 --center 1
files npy rows.npy '<f4' 3,9,4 '1.0'
quiet ct recon rows.npy -o d.npy --line-integrals --angles 0:120 --center 1
rm -f c.npy d.npy rows.npy

# motet ct info has no --angles: it names the command that has.
works ct info flats.tif
has 'gives none; motet ct recon --angles START:STOP (degrees)'
refused 2 '; --flats FILE does, and --line-integrals says' ct recon flats.tif -o c.npy --angles 0:90
refused 2 'gives none; --angles START:STOP' plan ct recon flats.tif

# What the command refuses is what the library refuses.
for value in 0 -180 36001; do refused 1 "--arc is \"$value\", expected an angle from 1e-6 to 36000 degrees" ct simulate -o c.h5 --arc=$value; done
for value in -1 40001; do refused 1 "--counts is \"$value\", expected a number from 0 to 40000" ct simulate -o c.h5 --counts=$value; done
works ct simulate -o c.h5 --views 2 --columns 16 --arc 36000 --counts 40000
works ct simulate -o c.h5 --views 2 --columns 16 --arc 1e-6 --counts 0 --overwrite
rm -f c.h5

mkdir empty
refused 2 'empty/: a folder without pages' ct recon empty/ -o c.npy --angles 0:180
rmdir empty
refused 2 '.mhd or / for a folder of pages' ct recon scan.h5 -o slices
refused 2 'holds float32, which uint8 cannot take; --range LO:HI or auto scales it' ct convert v.npy slices/ --dtype u8
nothing_but scan.h5 v.npy a.npy b.npy report.json views.npz flats.tif darks.tif
finish
