#!/bin/bash
# check_includes.sh SOURCE: includes point downwards only.
#   base < kern, dev, net, store < rt < ct, rf, gem, pauli < cli
# Folders of one level do not include each other; only kern, which knows no devices and no files, may be
# used by dev (which launches kernels) and store (which takes digests).
# The command and the examples use the public headers only; the command may take base/number.h and
# base/recovery.h too, which stand alone and are compiled into it, so that it reads numbers and tries
# devices again as the library does.
set -u
cd "$1" || exit 1
failed=0

# allowed FOLDER: the folders under src/ that it may include.
allowed() {
    case $1 in
    base) echo "base" ;;
    kern) echo "base kern" ;;
    dev) echo "base kern dev" ;;
    net) echo "base net" ;;
    store) echo "base kern store" ;;
    rt) echo "base kern dev net store rt" ;;
    ct | rf | gem | pauli) echo "base kern dev net store rt $1" ;;
    cli) echo "cli" ;;
    *) return 1 ;;
    esac
}

complain() {
    echo "$1:$2 includes \"$3\": $4"
    failed=1
}

for folder in src/*/; do
    area=$(basename "$folder")
    if ! may=$(allowed "$area"); then
        echo "src/$area: this folder has no place in the order of tools/check_includes.sh"
        failed=1
        continue
    fi
    while IFS=: read -r file line text; do
        target=$(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]+)".*/\1/p' <<<"$text")
        [ -n "$target" ] || continue
        case $target in
        base/number.h | base/recovery.h) [ "$area" = cli ] && continue ;;
        base/context.h)
            case $file in
            src/base/* | src/rt/* | src/dev/*) ;;
            *) complain "$file" "$line" "$target" "only base, dev and rt look inside a context" ;;
            esac
            ;;
        */*) ;;
        *) # beside the file itself
            [ -e "$(dirname "$file")/$target" ] || complain "$file" "$line" "$target" "no such file beside it"
            continue
            ;;
        esac
        case " $may " in
        *" ${target%%/*} "*) ;;
        *) complain "$file" "$line" "$target" "src/$area may include: $may" ;;
        esac
    done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' "$folder")
done

# Public headers know each other and the C library, nothing else.
while IFS=: read -r file line text; do
    case $text in
    *'<motet/'* | *'<stdint.h>'* | *'<stddef.h>'*) ;;
    *) complain "$file" "$line" "$(sed -E 's/.*include[[:space:]]*//' <<<"$text")" "public headers need only <motet/...>, stddef.h and stdint.h" ;;
    esac
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' include)

while IFS=: read -r file line text; do
    complain "$file" "$line" "$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")" "examples use the public headers only"
done < <([ ! -d examples ] || grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' examples)

[ $failed = 0 ] && echo "all includes point downwards"
exit $failed
