#!/usr/bin/env python3
"""What counting and judging cost without any server: the table of counting.cpp, medians of repetitions.
    tests/bench/run counting [--repetitions N] [--only REGEX]
"""
import argparse
import json
import os
import pathlib
import subprocess

from measure import RESULTS, ROOT, load, markdown, publish

UNITS = {"read_live": "a sample", "read_span": "a sample", "fold": "a group, rule and step",
         "replay_day": "a group, rule and step"}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--only", default=".")
    options = options.parse_args()
    build = pathlib.Path(os.environ.get("OUTCOMED_BUILD", ROOT / "build" / "release")).resolve()
    RESULTS.mkdir(parents=True, exist_ok=True)
    out = RESULTS / "counting.raw.json"
    subprocess.run([build / "tests" / "counting_bench", f"--benchmark_repetitions={options.repetitions}",
                    f"--benchmark_filter={options.only}", "--benchmark_min_time=0.2",
                    "--benchmark_report_aggregates_only=true", f"--benchmark_out={out}",
                    "--benchmark_out_format=json"], check=True, stdout=subprocess.DEVNULL)
    found = json.loads(out.read_text())["benchmarks"]
    out.unlink()
    milliseconds = {"ns": 1e-6, "us": 1e-3, "ms": 1}
    rows = [[run["run_name"].replace("/", ", ", 1).replace("/", ", "),
             f"{run['cpu_time'] * milliseconds[run['time_unit']]:.3g} ms",
             f"{run['ns_each']:.3g} ns", UNITS[run["run_name"].split("/")[0]]]
            for run in found if run["aggregate_name"] == "median"]
    table = markdown(["", "CPU", "each", "of"], rows)
    publish("counting", [table, f"Load {load():.1f}."], {"runs": found, "load": load()})


if __name__ == "__main__":
    main()
