#!/bin/sh
# motet ct project and backproject: what cannot be is refused before the work, and leaves nothing behind.
. "${0%/*}/support.sh"
need_python

files npy cube.npy '<f4' 8,8,8 1
files npy flat.npy '<f4' 8 1
cone='--sid 20 --sdd 32 --views 4 --detector 16x12 --pitch 1.25 --voxel 1'
refused 3 'none.npy' ct project none.npy -o s.npy $cone
refused 2 'flat.npy has 1 axes, expected 3' ct project flat.npy -o s.npy $cone
refused 1 '--sid is missing' ct project cube.npy -o s.npy --views 4 --detector 16x12
refused 1 '--output is missing' ct project cube.npy $cone
refused 2 'same file' ct project cube.npy -o cube.npy $cone --overwrite
refused 2 'same file' ct project cube.npy -o s.png --png s.png $cone
nothing_but cube.npy flat.npy
finish
