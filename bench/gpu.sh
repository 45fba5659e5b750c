#!/bin/sh
# Measures on this machine's first GPU, and on its CPU, what `motet bench` measures: the command beside it, made by
# `./dev bench --build-only`. Arguments go to the command.
here=$(cd "$(dirname "$0")" && pwd)
for devices in cuda:0 cpu; do
    echo "== $devices"
    "$here/motet" bench ct --devices $devices "$@" || exit
done
