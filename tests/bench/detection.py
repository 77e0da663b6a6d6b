#!/usr/bin/env python3
"""What the detectors promise, measured on seeded arrays, beside rules and packages that people use.

Writes report.md, report.json and plots below build/bench-results/detection, and the tables of
docs/detection.md. Uses one core; nothing is timed.
    tests/bench/run detection --quick    what tests/run checks (about a minute of CPU)
    tests/bench/run detection            a part of the grid, without Python packages (20 minutes of CPU)
    tests/bench/run detection --packages the same with river, frouros, alibi-detect, Evidently and NannyML
    tests/bench/run detection --full     all of it (hours)
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent / "detection"
BUILD = pathlib.Path(os.environ.get("OUTCOMED_BUILD", ROOT / "build" / "release"))
RESULTS = ROOT / "build" / "bench-results" / "detection"
VENVS = ROOT / "build" / "bench-detection-venv"
BASELINES = ("wobble_.3", "wobble_.5", "bursts", "azure", "ragpulse")


def run(name, words):
    """One program into one file; a file is whole or not there. The exit code tells of broken promises."""
    print(f"{name}: {' '.join(str(word) for word in words)}", file=sys.stderr, flush=True)
    part = RESULTS / f"{name}.part"
    with open(part, "wb") as out:
        ended = subprocess.run([str(word) for word in words], stdout=out, check=False)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{words[0]} ended with {ended.returncode}")
    part.rename(RESULTS / name)
    return ended.returncode


def coverage():
    """The coverage test of the rank statistics records what it measures."""
    found = RESULTS / "coverage.json"
    subprocess.run([str(BUILD / "tests" / "detectors_tests"), "--gtest_filter=*RealCoverage*",
                    f"--gtest_output=json:{found}"], stdout=subprocess.DEVNULL, check=False)
    with open(RESULTS / "coverage.jsonl", "w", encoding="utf-8") as out:
        for suite in json.loads(found.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                for key, value in test.items():
                    if key.startswith("coverage_"):
                        population = test.get("value_param", test["name"])
                        out.write(json.dumps({"part": "coverage", "population": population,
                                              "items": int(key[9:]), "coverage": float(value)}) + "\n")
    found.unlink()


def peers(streams):
    """The packages on the arrays that the grid left; a package that isn't there was said by `venv`."""
    subprocess.run([HERE / "venv"], check=False)
    for name in streams:
        python = VENVS / name / "bin" / "python"
        if (VENVS / name / "installed.txt").exists():
            run(f"peers_{name}.jsonl", [python, HERE / "peers.py", RESULTS / "arrays",
                                           "--family", name])
    for name in ("evidently", "nannyml"):
        python = VENVS / name / "bin" / "python"
        if (VENVS / name / "installed.txt").exists():
            run(f"peers_{name}.jsonl", [python, HERE / "daily_peers.py", RESULTS / "arrays"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    size.add_argument("--packages", action="store_true")
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    bench = BUILD / "tests" / "detection_bench"
    broken = run("quick.jsonl", [bench, "quick"])
    if options.quick:
        raise SystemExit(broken)
    (RESULTS / "arrays").mkdir(exist_ok=True)
    effort = [] if options.full else ["--series=20", "--shifted=12", "--repetitions=4"]
    if options.full:
        effort = ["--series=60", "--shifted=40", "--repetitions=5"]
    packages = options.full or options.packages
    dump = [f"--dump={RESULTS / 'arrays'}"] if packages else []
    run("against_oracle.jsonl", [bench, "against_oracle", f"--changes={1000 if options.full else 200}"])
    run("mean_time.jsonl", [bench, "mean_time", f"--minutes={4e7 if options.full else 1e7}"])
    run("grid_iid_20.jsonl", [bench, "grid", "--rates=20", *effort, *dump])
    run("grid_iid_1.jsonl", [bench, "grid", "--rates=1", *effort, *dump])
    run("grid_iid.jsonl", [bench, "grid", "--rates=0.2,5,100,500", *effort])
    run("grid_bursts_20.jsonl", [bench, "grid", "--baseline=bursts", "--rates=20", *effort, *dump])
    for baseline in BASELINES if options.full else ("bursts",):
        rates = "1,5,100" if baseline == "bursts" else "0.7" if baseline == "ragpulse" else "1,5,20,100"
        run(f"grid_{baseline}.jsonl", [bench, "grid", f"--baseline={baseline}", f"--rates={rates}", *effort])
    run("small.jsonl", [bench, "many_series", "ramp", "judge_swap", "--years=10", "--series=300",
                        *dump])
    run("outage.jsonl", [bench, "outage", f"--outages={200 if options.full else 40}"])
    run("nulls.txt", [BUILD / "tests" / "surge_nulls", 20, 100 if options.full else 30])
    run("days.txt", [BUILD / "tests" / "baseline_bench", 100 if options.full else 20])
    coverage()
    if packages:
        peers(("river", "frouros", "alibi-detect"))
    subprocess.run([sys.executable, HERE / "report.py", RESULTS], check=True)
    raise SystemExit(broken)


if __name__ == "__main__":
    main()
