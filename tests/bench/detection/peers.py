"""The detectors of other packages, request by request, on the arrays that detection_bench wrote.

    build/bench-detection-venv/bin/python tests/bench/detection/peers.py FOLDER > rows.jsonl

FOLDER holds what `detection_bench grid --dump=FOLDER` wrote. Rows are those of part "grid". A package that
can't be imported is said and left out.
"""
import argparse
import array
import collections
import copy
import functools
import json
import pathlib
import random
import re
import sys
import time

CALM = 2 * 1440


def river_detectors():
    from river import drift
    return {
        "river ADWIN": lambda: drift.ADWIN(),
        "river ADWIN 1e-6": lambda: drift.ADWIN(delta=1e-6),
        "river Page-Hinkley": lambda: drift.PageHinkley(),
        "river DDM": lambda: drift.binary.DDM(),
        "river HDDM_A": lambda: drift.binary.HDDMA(),
    }


class Frouros:
    """One of frouros' concept drift detectors with river's two names; starts anew after a drift."""

    def __init__(self, detector):
        self.detector = detector
        self.drift_detected = False

    def update(self, value):
        self.detector.update(value=value)
        self.drift_detected = bool(self.detector.status["drift"])
        if self.drift_detected:
            self.detector.reset()


def frouros_detectors():
    from frouros.detectors import concept_drift
    return {
        "frouros HDDM-A": lambda: Frouros(concept_drift.HDDMA()),
        "frouros CUSUM": lambda: Frouros(concept_drift.CUSUM()),
        "frouros geometric moving average": lambda: Frouros(concept_drift.GeometricMovingAverage()),
    }


class Alibi:
    """One of alibi-detect's calibrated online detectors with river's two names. Its reference are the last
    requests that it learned; more of them would cost hours of calibration."""
    REFERENCE = 2000
    # In requests, as the package sees nothing else. Ten times as many streams are simulated, so the 2.6
    # million between two false alarms a quarter at 20 requests a minute are out of reach.
    SETTINGS = {"ert": 1000, "n_bootstraps": 10000, "window_sizes": [20, 60, 240], "verbose": False}

    def __init__(self, make):
        self.make = make
        self.kept = collections.deque(maxlen=self.REFERENCE)
        self.detector = None
        self.drift_detected = False

    def learned(self):
        import numpy
        numpy.random.seed(0)
        self.detector = self.make(numpy.array(self.kept), **self.SETTINGS)
        self.kept.clear()

    def update(self, value):
        if self.detector is None:
            self.kept.append(value)
            return
        self.drift_detected = bool(self.detector.predict(value)["data"]["is_drift"])
        if self.drift_detected:
            self.detector.reset_state()


def alibi_detectors():
    from alibi_detect.cd import FETDriftOnline
    # CVMDriftOnline compares all pairs of its reference: 13 minutes of CPU were not enough for twelve series.
    return {"alibi FET, 1000 requests":
            lambda: Alibi(functools.partial(FETDriftOnline, alternative="greater"))}


FAMILIES = {"river": river_detectors, "frouros": frouros_detectors, "alibi-detect": alibi_detectors}
CELLS = {"alibi-detect": ["iid.1"]}


def minutes_of(path):
    """The requests of each minute, as bits in a random order that depends on the file's name alone."""
    numbers = array.array("i", path.read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    rng = random.Random(path.name)
    for n, k in zip(numbers[::2], numbers[1::2]):
        bits = bytearray(n)
        for place in rng.sample(range(n), k):
            bits[place] = 1
        yield bits


def drifts(detector, path, most=None, stop=False, count_from=0):
    """Minutes with a drift, of the first `most`."""
    found = []
    update = detector.update
    for minute, bits in enumerate(minutes_of(path)):
        if most is not None and minute >= most:
            break
        hit = False
        for bit in bits:
            update(bit)
            hit = hit or detector.drift_detected
        if hit and minute >= count_from:
            found.append(minute)
            if stop:
                break
    return found


def measure(name, make, folder, cell, options):
    """What a detector does on one cell; two rows, one for each share."""
    delays = {share: [] for share in options.shares}
    false, months = 0, 0
    for m in range(options.series):
        detector = make()
        drifts(detector, folder / f"{cell}.learn.{m}")
        if hasattr(detector, "learned"):
            detector.learned()
        watched = folder / f"{cell}.watch.{m}"
        if m < options.months:
            false += len(drifts(copy.deepcopy(detector), watched))
            months += 1
        drifts(detector, watched, most=CALM)
        for repetition in range(options.repetitions):
            for share in options.shares:
                path = folder / f"{cell}.change.{m}.{repetition}.{share}"
                found = drifts(copy.deepcopy(detector), path, most=1500, stop=True)
                delays[share].append(found[0] + 1 if found else None)
    baseline, rate = cell.rsplit(".", 1)
    for share, values in delays.items():
        print(json.dumps({"part": "grid", "baseline": baseline, "rate": float(rate), "detector": name,
                          "series_months": months, "false_pages": false, "share": share,
                          "delays": values}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cells", nargs="+", help="by default those of the family")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.05, 0.2])
    parser.add_argument("--series", type=int, default=12)
    parser.add_argument("--months", type=int, default=6)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--family", choices=sorted(FAMILIES))
    parser.add_argument("--only", default="", help="a regular expression for the detector's name")
    options = parser.parse_args()
    for family in [options.family] if options.family else FAMILIES:
        try:
            detectors = FAMILIES[family]()
        except ImportError as error:
            print(f"peers.py: left out: {error}", file=sys.stderr)
            continue
        for name, make in detectors.items():
            for cell in options.cells or CELLS.get(family, ["iid.20", "bursts.20"]):
                if not re.search(options.only, name):
                    continue
                begun = time.monotonic()
                measure(name, make, options.folder, cell, options)
                print(f"{name} on {cell}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
