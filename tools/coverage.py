#!/usr/bin/env python3
"""Which branches the tests took.

coverage.py BUILD SOURCE FOLDER [--untaken]   branches of the C files of SOURCE/FOLDER, added up over
                                              all programs of a build with --coverage; --untaken
                                              lists those that nothing took
"""
import collections
import json
import os
import pathlib
import subprocess
import sys


def reports(build, source, folder):
    """What gcov says of each object of the folder."""
    for notes in pathlib.Path(build).rglob("*.gcda"):
        if f"/{folder}/" not in str(notes):
            continue
        found = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(notes)],
                               capture_output=True, text=True, check=False, cwd=build)
        for line in found.stdout.splitlines():
            yield from json.loads(line)["files"]


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) != 3:
        sys.exit(__doc__)
    build, source, folder = arguments
    taken = collections.defaultdict(lambda: collections.defaultdict(list))  # file, line: most taken
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    for report in reports(build, source, folder):
        path = os.path.relpath(report["file"], source) if report["file"].startswith("/") else report["file"]
        if not path.startswith(folder) or not path.endswith(".c"):
            continue
        for line in report["lines"]:
            number = line["line_number"]
            lines[path][number] = max(lines[path][number], line["count"])
            counts = [b["count"] for b in line["branches"]]
            before = taken[path][number]
            if len(before) == len(counts):
                counts = [max(a, b) for a, b in zip(before, counts)]
            elif len(before) > len(counts):
                counts = before
            taken[path][number] = counts
    if not taken:
        sys.exit(f"no coverage of {folder} in {build}: build with --coverage and run the tests")
    total = hit = 0
    print(f"{'file':34}{'lines':>8}{'branches':>10}{'taken':>8}")
    for path in sorted(taken):
        counts = [n for line in taken[path].values() for n in line]
        ran = sum(1 for n in lines[path].values() if n)
        total += len(counts)
        hit += sum(1 for n in counts if n)
        share = 100 * sum(1 for n in counts if n) / len(counts) if counts else 100
        print(f"{path:34}{100 * ran / len(lines[path]):7.1f}%{len(counts):10}{share:7.1f}%")
        if "--untaken" in sys.argv:
            text = pathlib.Path(source, path).read_text().splitlines()
            for number in sorted(taken[path]):
                if any(n == 0 for n in taken[path][number]):
                    missed = sum(1 for n in taken[path][number] if n == 0)
                    print(f"    {number:5} {missed} of {len(taken[path][number])}  {text[number - 1].strip()}")
    print(f"{folder}: {hit} of {total} branches taken, {100 * hit / total:.1f} %")


if __name__ == "__main__":
    main()
