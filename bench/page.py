#!/usr/bin/env python3
"""How large a report page is, and how fast it opens in headless Chromium.

usage: page.py PGOKIT PROFILE [OPTION OF pgokit report]...

Ready is when the page has drawn itself and takes clicks, from the begin of its navigation; CPU is
that of the page's main thread until then. Medians of five runs, each in a browser of its own.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "web"))

from browser import Browser, find_chromium  # noqa: E402

RUNS = 5
READY = "document.documentElement?.dataset.ready"


def open_once(html, empty):
    """Seconds until ready, seconds of CPU, bytes of memory with what buffers hold."""
    with tempfile.TemporaryDirectory() as folder, Browser(folder) as browser:
        page = browser.open(empty)
        page.call("Performance.enable", timeDomain="threadTicks")
        page.call("Page.navigate", url="file://" + os.path.abspath(html))
        page.wait(f"location.href.endsWith({json.dumps(os.path.basename(html))}) && {READY}",
                  seconds=120)
        ready = float(page.evaluate(READY)) / 1000
        metrics = {m["name"]: m["value"] for m in page.call("Performance.getMetrics")["metrics"]}
        page.call("HeapProfiler.enable")
        page.call("HeapProfiler.collectGarbage")
        memory = page.call("Runtime.getHeapUsage")
        return (ready, metrics["TaskDuration"],
                memory["usedSize"] + memory.get("backingStorageSize", 0))


def main():
    pgokit, profile, *options = sys.argv[1:]
    if not find_chromium():
        sys.exit("missing chromium")
    with tempfile.TemporaryDirectory() as folder:
        html, empty = os.path.join(folder, "report.html"), os.path.join(folder, "empty.html")
        with open(empty, "w", encoding="ascii") as file:
            file.write("<!doctype html><html data-ready=1><body id=app></body></html>")
        start = time.monotonic()
        command = [pgokit, "report", profile, "-q", "-o", html, *options]
        subprocess.run(command, check=True)
        written = time.monotonic() - start
        print("$", *command)
        print(f"written in     {written:8.2f} s")
        print(f"size           {os.path.getsize(html) / 1e6:8.2f} MB")
        runs = [open_once(html, empty) for _ in range(RUNS)]
    for number, (what, unit, scale) in enumerate((("ready", "s", 1), ("CPU until ready", "s", 1),
                                                  ("memory", "MB", 1e6))):
        values = sorted(run[number] / scale for run in runs)
        print(f"{what:15}{statistics.median(values):8.2f} {unit}  "
              f"({values[0]:.2f} to {values[-1]:.2f})")
    print(f"load average   {os.getloadavg()[0]:8.2f} on {os.cpu_count()} processors")


main()
