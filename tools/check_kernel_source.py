#!/usr/bin/env python3
"""Reads kernel sources (*.k.h, *_fast.h and the headers of src/kern) for what must not be in them: libm, CUDA mathematics,
fminf and fmaxf, casts of floats to integers, long double, float atomics, vectorised reductions. convert.h alone may cast and
round. Of the other sources of src/kern and the engines, whose tables reach results too, only libm and long double are looked for.

    check_kernel_source.py FOLDER        the repository
    check_kernel_source.py --self-test

Casts are found by names declared float or double in the same file and by float literals: not every one, but the usual."""
import os
import re
import sys

LIBM = ("sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot fabs floor ceil "
        "round rint nearbyint trunc lround lrint fmod remainder fma ldexp frexp sincos sincospi sinpi cospi rsqrt erf lgamma tgamma "
        "copysign abs labs").split()
INTEGER = r"(?:u?int(?:8|16|32|64)_t|int|unsigned(?: int)?|long(?: long)?|size_t|short|char)"
RULES = [
    (re.compile(r"\bf(?:min|max)f?\s*\("), "fminf/fmaxf: signed zeros differ; write a < b ? a : b or k_minf"),
    (re.compile(r"(?<![\w.>])(?:%s)f?\s*\(" % "|".join(LIBM)), "libm or CUDA mathematics: use the k_ function"),
    (re.compile(r"\b__(?:%s|fdividef|saturatef)f?\s*\(" % "|".join(LIBM)), "a fast CUDA intrinsic"),
    (re.compile(r"\b__builtin_(?!fmaf?\b|sqrtf?\b)(?:%s)f?\s*\(" % "|".join(LIBM)), "libm through a builtin"),
    (re.compile(r"\blong\s+double\b"), "long double differs between machines"),
    (re.compile(r"#\s*include\s*<(?:math|tgmath|fenv)\.h>"), "libm's header"),
    (re.compile(r"#\s*pragma\s+omp\b.*\breduction\b"), "a reduction whose order the compiler picks"),
    (re.compile(r"\batomic(?:Add|Sub|Exch)\s*\(\s*\(\s*(?:float|double)"), "a float atomic: its order varies"),
    (re.compile(r"\(%s\)\s*(?:\d+\.\d*|\.\d+)" % INTEGER), "a cast of a float to an integer: use k_to_i32"),
    (re.compile(r"\(%s\)\s*k_(?:floor|rint|sqrt|min|max|abs|fma|sin|cos|exp|log)f?\s*\(" % INTEGER), "a cast of a float to an integer: use k_to_i32"),
    (re.compile(r"\(%s\)\s*\([^()]*\d\.\d*f?\b[^()]*\)" % INTEGER), "a cast of a float to an integer: use k_to_i32"),
]
# What a file may do that others may not: the rounding and casting itself, and fma and sqrt.
ALLOWED = {"src/kern/convert.h": ("libm", "cast"), "src/kern/k.h": ("fast CUDA", "libm"), "src/kern/k_vec.h": ("libm through",),
           # The sign of a zero changes no later number there, and no chord is a NaN: the file says why.
           "src/ct/beam/columns_project_cuda.h": ("fminf",)}

# Casts of values that the caller has bounded, line by line: path, line, why it is safe.
BOUNDED = {
    ("src/ct/geometry.k.h", "base.column = (int64_t)whole;"): "geometry.c bounds the column by 2^40",
    ("src/ct/strip_fast.h", "out->first[i] = (int32_t)k_minf(k_maxf(place.first + shift, 0.0f), last);"): "a place in a window",
    ("src/ct/backproject_fast.h", "return (int64_t)across + most_taps + 8;"): "at most 15 columns of 1024 voxels a column",
    ("src/ct/beam/columns_near.k.h", "near.begin = (int64_t)k_min(k_max(-k_floor(-low), 0.0), (double)size);"): "within 0 to size",
    ("src/ct/beam/columns_trace.k.h", "return (int64_t)k_min(k_max(k_floor(a), (double)low), (double)high);"): "within low to high",
    ("src/ct/beam/columns_project_fast.h", "const int32_t p = whole + (int32_t)one, q = last_whole + (int32_t)two;"): "beam.c bounds columns by 2^20 cells",
    ("src/ct/beam/columns_backproject_fast.h", "strip->row[i] = (int32_t)k_minf(k_maxf(low, 0.0f), rows);"): "within 0 to the rows of a block",
    ("src/ct/beam/columns_backproject_fast.h", "strip->end[i] = (int32_t)k_minf(k_maxf(high, 0.0f), rows);"): "within 0 to the rows of a block",
    ("src/ct/fdk/backproject_fast.h", "_mm512_set1_epi32((int32_t)k_minf(p->last - low, 31.0f)));"): "rows from the lowest to the last, at most 31",
    ("src/ct/fdk/backproject_fast.h", "const uint32_t rows = (uint32_t)k_minf(p->last - low + 1.0f, 32.0f);"): "rows from the lowest to the last, at most 32",
    ("src/ct/fdk/backproject.k.h", "p.at = (int64_t)whole;"): "within first to last",
}
ENGINES = ("src/kern/", "src/ct/", "src/rf/", "src/gem/", "src/pauli/")


def kind_of(path):
    """"kernel", "table" (numbers that kernels read, made on the host) or None."""
    if path.endswith((".k.h", "_fast.h")) or (path.endswith(".h") and os.path.dirname(path) == "src/kern"):
        return "kernel"
    return "table" if path.startswith(ENGINES) else None


def strip(text):
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def declared(text):
    floats, others = set(), set()
    for kind, names in re.findall(r"\b(float|double|%s)\s+((?:const\s+)?\w+(?:\s*=[^,;()]*)?(?:\s*,\s*\w+(?:\s*=[^,;()]*)?)*)" % INTEGER, text):
        for name in re.findall(r"(?:^|,)\s*(?:const\s+)?(\w+)", names):
            (floats if kind in ("float", "double") else others).add(name)
    return floats - others


def violations(text, path="", kind="kernel", used=None):
    found = []
    code = re.sub(r"#\s*include\s*\"[^\n]*", "", text)
    code = strip(code)
    allowed = ALLOWED.get(path, ())
    floats = declared(code)
    cast = re.compile(r"\(%s\)\s*(\w+)\b(?!\s*[\[(.]|->)" % INTEGER)
    for number, line in enumerate(code.splitlines(), 1):
        reasons = [why for rule, why in RULES if rule.search(line)]
        reasons += ["a cast of the float %s to an integer: use k_to_i32" % name
                    for name in cast.findall(line) if name in floats]
        if kind == "table":
            reasons = [why for why in reasons if "libm" in why or "fminf" in why or "long double" in why]
        for why in reasons:
            if (path, line.strip()) in BOUNDED:
                if used is not None:
                    used.add((path, line.strip()))
                continue
            if not any(word in why for word in allowed):
                found.append((number, line.strip(), why))
    return found


BAD = ["float y = fminf(x, 1.0f);", "double y = fmax(x, z);", "float y = sinf(x);", "double y = pow(x, 2.0);",
       "float y = __expf(x);", "float y = __builtin_sinf(x);", "long double y;", "#include <math.h>", "#pragma omp simd reduction(+ : s)",
       "atomicAdd((float *)p, x);", "int n = (int)x;", "int64_t n = (int64_t)(x * 2.0f);", "int n = (int)k_floorf(x);",
       "float y = fabsf(x);", "float y = floorf(x);"]
GOOD = ["float y = k_sinf(x);", "float y = k_minf(x, 1.0f);", "int n = k_to_i32(x);", "/* sinf(x), (int)x */ int n;", "uint32_t m = (uint32_t)n;",
        "float y = (float)n * 2.0f;", "float y = __builtin_fmaf(x, x, x);", "s.exp(x);"]


def self_test():
    failed = 0
    for lines, expected in ((BAD, True), (GOOD, False)):
        for line in lines:
            if bool(violations("float x;\n" + line + "\n")) != expected:
                print("%s: %s" % ("not caught" if expected else "caught without reason", line))
                failed += 1
    print("%d passed, %d failed" % (len(BAD) + len(GOOD) - failed, failed))
    return 1 if failed else 0


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 1
    if sys.argv[1] == "--self-test":
        return self_test()
    top, count, failed, used = sys.argv[1], 0, 0, set()
    for folder, _, files in os.walk(os.path.join(top, "src")):
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), top)
            kind = kind_of(path) if name.endswith((".c", ".h")) else None
            if not kind:
                continue
            count += 1
            with open(os.path.join(top, path)) as file:
                for number, line, why in violations(file.read(), path, kind, used):
                    print("%s:%d: %s   (%s)" % (path, number, line, why))
                    failed += 1
    for path, line in set(BOUNDED) - used:
        print("%s: \"%s\" is listed as bounded and not there" % (path, line))
        failed += 1
    print("%d files, %d violations" % (count, failed))
    return 1 if failed or not count else 0


sys.exit(main())
