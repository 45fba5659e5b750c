#!/bin/sh
# What surrounds the command cannot harm it: closed standard streams end in no file, and what is no regular file is refused
# at once instead of being waited for.
. "${0%/*}/support.sh"
need_python

files npy a.npy '<f4' 24,5,4 'i * 0.5 + 1'
files npy flats.npy '<f4' 2,5,4 '100 + i'
works ct convert a.npy good.mha -q
works ct recon a.npy -o good.npy --flats flats.npy --angles 0:180 -q
for streams in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
    (eval "exec $streams"; exec "$MOTET" ct convert a.npy b.mha --progress)
    cmp -s good.mha b.mha || bad "convert $streams: another file"
    (eval "exec $streams"; exec "$MOTET" ct recon a.npy -o b.npy --flats flats.npy --angles 0:180 --progress)
    cmp -s good.npy b.npy || bad "recon $streams: another file"
    rm -f b.npy b.mha
done >/dev/null 2>&1
(exec "$MOTET" ct convert a.npy b.mha >&- 2>err.txt)
[ $? = 3 ] || bad "a summary that went nowhere is no success"
grep -q 'standard output' err.txt || bad "a summary that went nowhere: $(cat err.txt)"
rm -f b.mha

mkfifo pipe pipe.h5
for file in pipe pipe.h5 /dev/zero /dev/null; do
    refused 2 "$file: expected a regular file" ct info $file
    refused 2 "$file: expected a regular file" ct convert $file b.npy
    refused 2 "$file: expected a regular file" ct recon $file -o b.npy
    refused 2 "$file: expected a regular file" ct recon a.npy -o b.npy --angles 0:180 --flats $file
    refused 2 "$file: expected a regular file" ct recon a.npy -o b.npy --flats flats.npy --angles $file
done
refused 2 '/dev: expected a regular file' ct recon a.npy -o b.npy --flats flats.npy --angles /dev
head -c 100 /dev/zero >zeros.txt
refused 2 'zeros.txt: line 1' ct recon a.npy -o b.npy --flats flats.npy --angles zeros.txt
head -c 3000 /dev/zero | tr '\0' ' ' >spaces.txt
refused 2 'spaces.txt: line 1 has more than' ct recon a.npy -o b.npy --flats flats.npy --angles spaces.txt
# An MHD and its numbers are one input and one output, and so are two ways to write one new name.
works ct convert a.npy a.mhd -q
sed s/a.raw/b.raw/ a.mhd >c.mhd
cp a.raw b.raw
refused 2 'same file' ct convert c.mhd b.mhd --dtype f64 --overwrite
refused 2 'same file' ct convert c.mhd w.npy --json b.raw --overwrite
cmp -s a.raw b.raw || bad "the numbers of an input were replaced"
refused 2 'same file' ct convert a.npy w.mhd --json w.raw
refused 2 'same file' ct convert a.npy w.npy --json ./w.npy
rm a.mhd a.raw b.raw c.mhd

# What --overwrite cannot replace is refused before the work, and without advising it again.
mkdir folder
ln -s folder link
ln -s nowhere dangling
for file in pipe.npy /dev/null.npy dangling.npy; do
    ln -s "$(basename ${file%.npy})" b.npy
    [ $file = /dev/null.npy ] && ln -sf /dev/null b.npy
    "$MOTET" ct convert a.npy b.npy --overwrite 2>err.txt && bad "$file was replaced"
    grep -q -- --overwrite err.txt && bad "$file: advice to overwrite: $(cat err.txt)"
    rm b.npy err.txt
done
refused 2 'link/: is a symbolic link' ct convert a.npy link/ --overwrite
refused 2 'dangling/: is a symbolic link' ct convert a.npy dangling/
rm -r folder link dangling

nothing_but a.npy flats.npy good.mha good.npy pipe pipe.h5 zeros.txt spaces.txt
finish
