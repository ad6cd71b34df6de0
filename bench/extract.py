#!/usr/bin/env python3
"""How fast pages are read, against trafilatura, page by page in one run on one core.

usage: pip install trafilatura && cargo build --release -p extract --examples
       bench/extract.py FOLDER [PROGRAM]

FOLDER holds pages (*.html); PROGRAM is target/release/examples/pages unless said otherwise.  Of every page the time
to parse it and to say its text, title, author, date and language is taken; starting either program is not counted."""
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def ours(program, pages):
    asked = "".join(json.dumps({"id": page.stem, "url": "https://example.com/", "path": str(page)}) + "\n" for page in pages)
    printed = subprocess.run([program], input=asked.encode(), stdout=subprocess.PIPE, check=True).stdout
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return [json.loads(line)["seconds"] for line in printed.splitlines()], peak


def theirs(pages):
    import trafilatura  # Not before: the memory of a child begins with that of whoever started it.
    seconds = []
    for page in pages:
        html = page.read_bytes()
        began = time.perf_counter()
        trafilatura.bare_extraction(html, url="https://example.com/", with_metadata=True, include_comments=False)
        seconds.append(time.perf_counter() - began)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    folder = Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) > 2 else "target/release/examples/pages"
    pages = sorted(folder.glob("*.html"))
    os.sched_setaffinity(0, {0})
    rows = {"toolgate": ours(program, pages), "trafilatura": theirs(pages)}
    floor = sum(rows["trafilatura"][0])
    print(f"{len(pages)} pages on one core")
    print(f"{'':20} {'pages/s':>9} {'x':>6} {'mean ms':>8} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8} {'peak MB':>8}")
    for name, (seconds, peak) in rows.items():
        times = sorted(second * 1e3 for second in seconds)
        total = sum(seconds)
        print(f"{name:20} {len(times) / total:9.1f} {floor / total:6.1f} {1e3 * total / len(times):8.2f} "
              f"{times[len(times) // 2]:8.2f} {times[len(times) * 99 // 100]:8.2f} {times[-1]:8.2f} {peak:8.0f}")


if __name__ == "__main__":
    main()
