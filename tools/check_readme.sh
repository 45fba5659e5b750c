#!/bin/bash
# check_readme.sh SOURCE BUILD: the C program in README.md, copied from there, compiles against an
# installed Motet with nothing but pkg-config, and runs.
set -u
source=$1
build=$2
scratch=$(mktemp -d "$build/readme-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$*"
    exit 1
}

awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/README.md" >"$scratch/example.c"
[ -s "$scratch/example.c" ] || fail "README.md holds no block that begins with \`\`\`c"

cmake --install "$build" --prefix "$scratch/usr" >"$scratch/install.log" 2>&1 ||
    { cat "$scratch/install.log"; fail "cmake --install failed"; }
pc=$(find "$scratch/usr" -name motet.pc)
[ -n "$pc" ] || fail "the installed tree holds no motet.pc"
export PKG_CONFIG_PATH=${pc%/*}
flags=$(pkg-config --cflags --libs motet) || fail "pkg-config does not find motet"
libraries=$(pkg-config --variable=libdir motet)
if [ -z "$(find "$scratch/usr" -name '*hdf5*.so*')" ]; then
    echo "skipped: the program of README.md writes HDF5, which this build lacks"
    exit 77
fi

cd "$scratch" || exit 1
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Werror example.c -o example $flags || fail "the program of README.md does not compile"
LD_LIBRARY_PATH=$libraries ./example || fail "the program of README.md fails"

# The shell lines below the program, as they stand, for a user whose home is here.
awk '/^```c$/ { program = 1 } program && /^```$/ { if (++fences == 3) exit; next } fences == 2' "$source/README.md" |
    sed "s|--install build|--install \"$build\"|" >lines.sh
rm example
[ "$(grep -c . lines.sh)" = 3 ] || fail "README.md says how to build the program in $(grep -c . lines.sh) lines, expected 3"
HOME=$scratch/home bash -e lines.sh >lines.log 2>&1 && grep -q '^axis at column 63.*digest' lines.log ||
    { cat lines.log; fail "the lines of README.md that build and run the program fail"; }
"$scratch/usr/bin/motet" --version >/dev/null || fail "the installed command does not run"

# The same through find_package.
mkdir find && cat >find/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(motet 0.1 REQUIRED)
add_executable(example ../example.c)
target_link_libraries(example PRIVATE motet::motet)
CMAKE
if ! { cmake -S find -B find/build -G Ninja -DCMAKE_PREFIX_PATH="$scratch/usr" -DCMAKE_C_COMPILER="${CC:-cc}" &&
    cmake --build find/build && ./find/build/example; } >find.log 2>&1; then
    cat find.log
    fail "find_package(motet) does not give a usable target"
fi
echo "the program of README.md compiles and runs against the installed tree"
