#!/usr/bin/env python3
"""Compiles kernel files to PTX and rejects instructions whose results differ from the CPU's: approximations, flushed
denormals, additions and products that ptxas may fuse (no rounding mode), min/max of floats, float atomics.

    check_ptx.py [--nvcc PATH] [--arch compute_75] [-I DIR]... FILE...
    check_ptx.py --self-test        every kind of violation, compiled, must be caught

Exit codes: 0 clean, 1 a violation or a file that does not compile, 77 no nvcc."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-x", "cu", "-std=c++17", "--fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false", "-ptx"]
FLOAT = r"\.(?:f16|f16x2|bf16|bf16x2|f32|f32x2|f64)\b"
RULES = [
    (re.compile(r"\.approx\b"), "an approximation"),
    (re.compile(r"\.ftz\b"), "flushes denormals"),
    (re.compile(r"\.full\b"), "a division of reduced accuracy"),
    (re.compile(r"^(?:add|sub|mul|fma|mad|div|rcp|sqrt)(?!\S*\.rn\b)\S*" + FLOAT), "has no .rn: it may be fused or round otherwise"),
    (re.compile(r"^(?:min|max)\S*" + FLOAT), "min/max treat zeros and NaN otherwise"),
    (re.compile(r"^(?:atom|red|multimem)\S*" + FLOAT), "a float atomic: its order varies"),
    (re.compile(r"^(?:sin|cos|lg2|ex2|tanh|rsqrt)\."), "an approximation"),
]
SYMBOLS = re.compile(r"__cudart_i2opi|__internal_trig|\bvprintf\b|\b__nv_\w+")


def instructions(ptx):
    for number, line in enumerate(ptx.splitlines(), 1):
        text = line.split("//")[0].strip()
        text = re.sub(r"^\{\s*", "", text)
        text = re.sub(r"^@!?%\w+\s+", "", text)
        if text:
            yield number, text


def violations(ptx):
    found = []
    for number, text in instructions(ptx):
        if SYMBOLS.search(text):
            found.append((number, text, "CUDA's own mathematics"))
        if text.startswith("."):
            continue
        opcode = text.split()[0].rstrip(";")
        if re.match(r"(min|max)\.", opcode) and re.search(r"\b0[fd][0-9A-F]{8}", text):
            continue  # made by nvcc from a < constant ? a : constant, where both agree
        for rule, why in RULES:
            if rule.search(opcode):
                found.append((number, text, why))
                break
    return found


def compile_ptx(nvcc, arch, include, path, extra=()):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "kernel.ptx")
        command = [nvcc, *FLAGS, "-arch=" + arch, *["-I" + i for i in include], *extra, path, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, done.stdout + done.stderr
        with open(out) as file:
            return file.read(), ""


BAD = {
    "rsqrtf": "*o = rsqrtf(a);",
    "expf": "*o = expf(a);",
    "sinf": "*o = sinf(a);",
    "fminf": "*o = fminf(a, b);",
    "fast division": "*o = __fdividef(a, b);",
    "float atomic": "atomicAdd(o, a);",
    "addition without rounding mode": 'asm("add.f32 %0, %1, %2;" : "=f"(*o) : "f"(a), "f"(b));',
    "flushed denormals": 'asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(*o) : "f"(a), "f"(b));',
}
GOOD = "*o = a * b + __fsqrt_rn(a) / b - __fmaf_rn(a, b, a); if (a < b) *o = (float)(int)floorf(a);"


def self_test(nvcc, arch):
    failed = 0
    for name, body in [*BAD.items(), ("allowed operations", GOOD)]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snippet.c")
            with open(path, "w") as file:
                file.write('extern "C" __global__ void f(float *o, float a, float b) { %s }\n' % body)
            ptx, message = compile_ptx(nvcc, arch, [], path)
        caught = ptx is not None and bool(violations(ptx))
        expected = name in BAD
        ok = ptx is not None and caught == expected
        print("%-32s %s" % (name, ("caught" if caught else "clean") if ptx is not None else message))
        failed += not ok
    print("%d passed, %d failed" % (len(BAD) + 1 - failed, failed))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc")
    parser.add_argument("--arch", default="compute_75")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    nvcc = options.nvcc or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not shutil.which(nvcc):
        print("skipped: there is no nvcc (--nvcc names it)")
        return 77
    if options.self_test:
        return self_test(nvcc, options.arch)
    failed = 0
    for path in options.files:
        ptx, message = compile_ptx(nvcc, options.arch, options.include, path)
        if ptx is None:
            print("%s does not compile as CUDA:\n%s" % (path, message))
            failed += 1
            continue
        found = violations(ptx)
        print("%s: %d instructions, %d violations" % (path, sum(1 for _ in instructions(ptx)), len(found)))
        for number, text, why in found[:20]:
            print("  line %d: %s   (%s)" % (number, text, why))
        failed += bool(found)
    print("%d passed, %d failed" % (len(options.files) - failed, failed))
    return 1 if failed or not options.files else 0


sys.exit(main())
