#!/usr/bin/env python3
"""Adds up what the test runs of ./dev test said.

summary.py --one RUN.xml RUN.log   one configuration: counts, and the output of what failed
summary.py FOLDER                  all of them: skipped tests with reasons, failures, and as the last
                                   line "N passed, N failed, N skipped"; exit 1 if anything failed
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ET


def cases(path):
    """(name, "passed" | "failed" | "skipped", output) of one ctest --output-junit file."""
    # Test output may hold bytes that XML forbids.
    text = path.read_bytes().decode("utf-8", "replace")
    text = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]", "?", text)
    for case in ET.fromstring(text).iter("testcase"):
        output = case.findtext("system-out") or ""
        if case.find("skipped") is not None or case.get("status") == "disabled":
            message = case.find("skipped")
            kind = "skipped"
            # A program that could not even be started is no skip.
            if message is not None and "77" not in (message.get("message") or ""):
                kind, output = "failed", output + (message.get("message") or "")
        elif case.get("status") == "run":
            kind = "passed"
        else:
            kind = "failed"
        yield case.get("name"), kind, output


def counts(rows):
    return {kind: sum(1 for row in rows if row[1] == kind) for kind in ("passed", "failed", "skipped")}


def sentence(n):
    return f"{n['passed']} passed, {n['failed']} failed, {n['skipped']} skipped"


def reason(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = [line for line in lines if line.lower().startswith("skipped")]
    return said[-1].split(":", 1)[-1].strip() if said else (lines[-1] if lines else "no reason given")


def one(xml, log):
    if not xml.exists():
        print("   the test runner wrote no result:")
        print(log.read_text(errors="replace")[-3000:])
        return
    rows = list(cases(xml))
    print("   " + sentence(counts(rows)))
    for name, kind, output in rows:
        if kind == "failed":
            print(f"   FAILED {name}")
            print("\n".join("      " + line for line in output.splitlines()[-60:]))


def everything(folder):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    failed, skipped = [], {}
    for broken in sorted(folder.glob("*.build-failed")):
        failed.append(f"{broken.stem}: did not build or run")
        total["failed"] += 1
    for log in sorted(folder.glob("*.log")):
        xml = log.with_suffix(".xml")
        if log.stem.startswith("fuzz-"):
            continue
        rows = list(cases(xml)) if xml.exists() else [("the test runner", "failed", "")]
        for kind, n in counts(rows).items():
            total[kind] += n
        for name, kind, output in rows:
            if kind == "failed":
                failed.append(f"{log.stem}: {name}")
            if kind == "skipped":
                skipped.setdefault((name, reason(output)), []).append(log.stem)
    for (name, why), runs in sorted(skipped.items()):
        print(f"skipped {name} ({', '.join(runs)}): {why}")
    for line in failed:
        print(f"FAILED {line}")
    if not any(total.values()):
        print("FAILED: no test ran")
        total["failed"] = 1
    print(sentence(total))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        sys.exit(everything(pathlib.Path(sys.argv[1])))
