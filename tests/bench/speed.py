#!/usr/bin/env python3
"""What detection costs: a month of 300 groups through each kind (kinds.cpp), and `surge` in NumPy and SciPy beside it.
    tests/bench/run speed [--repetitions N] [--minutes N]    (minutes of the SciPy part, scaled up to a month)
SciPy is that of the virtual environment of river (detection/venv).
"""
import argparse
import json
import os
import pathlib
import subprocess

from measure import RESULTS, ROOT, load, markdown, publish

GROUPS, MONTH = 300, 43_200


def ours(repetitions):
    build = pathlib.Path(os.environ.get("OUTCOMED_BUILD", ROOT / "build" / "release")).resolve()
    out = RESULTS / "speed.raw.json"
    subprocess.run([build / "tests" / "kinds_bench", f"--benchmark_repetitions={repetitions}",
                    "--benchmark_report_aggregates_only=true", f"--benchmark_out={out}",
                    "--benchmark_out_format=json"], check=True, stdout=subprocess.DEVNULL)
    found = [run for run in json.loads(out.read_text())["benchmarks"] if run["aggregate_name"] == "median"]
    out.unlink()
    return found


def scipy(minutes):
    here = ROOT / "tests" / "bench" / "detection"
    subprocess.run([here / "venv"], check=False)
    python = ROOT / "build" / "bench-detection-venv" / "river" / "bin" / "python"
    if not python.exists():
        return None
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # As NumPy chooses its kernels by itself.
    usual = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    ran = subprocess.run([python, here / "scipy_month.py", str(GROUPS), str(minutes)], check=True,
                         stdout=subprocess.PIPE, text=True, env={**usual, **one})
    return json.loads(ran.stdout)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--repetitions", type=int, default=3)
    options.add_argument("--minutes", type=int, default=1440)
    options = options.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = ours(options.repetitions)
    seconds = {run["run_name"]: run["cpu_time"] / 1e3 for run in found}
    rows = [[f"`{run['run_name']}`", f"{run['cpu_time'] / 1e3:.3g} s", f"{run['ns_each'] / 1e3:.3g} µs"]
            for run in found]
    rows.append(["all of them", f"{sum(seconds.values()):.3g} s", ""])
    peer = scipy(options.minutes)
    if peer:
        month = peer["seconds"] * MONTH / peer["minutes"]
        rows.append([f"the detection of `surge` alone, SciPy {peer['scipy']}", f"{month:.3g} s",
                     f"{peer['seconds'] / peer['minutes'] / peer['groups'] * 1e6:.3g} µs"])
        rows.append(["`surge` takes of that", f"1/{month / seconds['surge']:.0f}", ""])
    table = markdown(["30 days of 300 groups", "CPU", "a group and step"], rows)
    publish("speed", [table, f"Load {load():.1f}."], {"runs": found, "scipy": peer, "load": load()})


if __name__ == "__main__":
    main()
