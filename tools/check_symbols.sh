#!/bin/bash
# check_symbols.sh SOURCE BUILD: what the shared libraries need, offer and keep.
#  - They never print, end the process, install handlers or read the environment, the locale or
#    hidden state: such functions must not be among their undefined symbols.
#  - Nothing that reaches results comes from libm, whose answers differ between systems. sqrt and
#    fma are exact by IEEE 754 and allowed.
#  - Every exported symbol begins with motet_.
#  - They keep no state of their own: no writable variable.
# snprintf and vsnprintf are allowed: they write text to memory. Real numbers in that text come from
# base/number.c, which knows no locale. Allowed too: dlopen, for plug-ins.
set -u
build=$2
failed=0

ends="abort exit _exit _Exit quick_exit atexit on_exit __assert_fail __assert raise kill pthread_exit"
prints="printf vprintf dprintf vdprintf fprintf vfprintf puts fputs putchar putc fputc fwrite perror psignal \
 __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk __dprintf_chk stdout stderr stdin syslog error warn err"
surroundings="getenv secure_getenv setenv putenv unsetenv environ setlocale newlocale uselocale signal sigaction bsd_signal \
 sigprocmask system popen fork vfork execv execve posix_spawn chdir umask"
hidden="rand srand random srandom drand48 lrand48 strtok localtime gmtime asctime ctime strerror getpwnam time"
# These follow the locale: a comma where a point belongs.
locale="strtod strtof strtold atof scanf fscanf sscanf vsscanf __isoc99_sscanf __isoc99_fscanf __isoc23_sscanf __isoc23_fscanf"
mathematics="sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10 log1p pow \
 cbrt hypot erf erfc lgamma tgamma sincos fmod remainder j0 j1 jn y0 y1 yn"
for name in $mathematics; do mathematics="$mathematics ${name}f ${name}l"; done

shopt -s nullglob
for library in "$build"/libmotet.so "$build"/motet-plugins/*.so; do
    short=$(basename "$library")
    undefined=$(nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u)
    for group in ends prints surroundings hidden locale mathematics; do
        for name in ${!group}; do
            if grep -qxF -- "$name" <<<"$undefined"; then
                echo "$short uses $name, which is forbidden ($group)"
                failed=1
            fi
        done
    done

    while read -r name; do
        [ -n "$name" ] || continue
        echo "$short exports $name; exported names begin with motet_"
        failed=1
    done < <(nm -D --defined-only "$library" | awk '$2 != "w" && $2 != "A" { print $3 }' | grep -v '^motet_')

    # The C start-up code has a few of its own. The HDF5 plug-in needs one lock: HDF5's settings belong
    # to the process, so two contexts that read at once must take turns.
    while read -r name; do
        [ -n "$name" ] || continue
        echo "$short keeps the writable variable $name; state belongs to a context"
        failed=1
    done < <(objdump -t "$library" | awk '/ O \.(data|bss|tdata|tbss)\t/ { print $NF }' |
        grep -vE '^(completed\.[0-9]+|__dso_handle|__TMC_END__|__frame_dummy.*|__do_global.*)$' |
        { [ "$short" = hdf5.so ] && grep -vx one_at_a_time || cat; })
    echo "$short: $(wc -l <<<"$undefined") symbols needed"
done
exit $failed
