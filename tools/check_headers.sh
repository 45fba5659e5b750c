#!/bin/bash
# check_headers.sh SOURCE BUILD: every public header compiles alone, as C11 and as C++17, with
# warnings as errors. CC and CXX name the compilers.
set -u
cd "$1" || exit 1
failed=0
warnings=(-Wall -Wextra -Werror -pedantic -fsyntax-only -Iinclude)
for header in include/motet/*.h; do
    name=motet/$(basename "$header")
    for language in "c -std=c11" "c++ -std=c++17"; do
        compiler=${CC:-cc}
        [ "${language%% *}" = c ] || compiler=${CXX:-c++}
        # shellcheck disable=SC2086
        if ! printf '#include <%s>\n' "$name" | "$compiler" -x $language "${warnings[@]}" -; then
            echo "<$name> does not compile alone as $language"
            failed=1
        fi
    done
done
[ $failed = 0 ] && echo "$(ls include/motet/*.h | wc -l) headers compile alone as C11 and C++17"
exit $failed
