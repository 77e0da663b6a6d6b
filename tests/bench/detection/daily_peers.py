"""The drift checks of Evidently and NannyML on days of real judge scores in which nothing changed.

    …/bench-detection-venv/evidently/bin/python tests/bench/detection/daily_peers.py FOLDER > rows.jsonl

FOLDER holds what `detection_bench judge_swap --dump=FOLDER` wrote: a file for each number of items a day, a
line of counts for each day. The first 28 days are the reference, the next ones are judged, each by itself.
"""
import csv
import json
import pathlib
import sys
import warnings

REFERENCE, DAYS = 28, 60

warnings.filterwarnings("ignore")


def days_of(path):
    """The scores of each day, as lists."""
    with open(path, newline="", encoding="ascii") as file:
        scores, *rows = csv.reader(file)
    return [[float(score) for score, count in zip(scores, row) for _ in range(int(count))] for row in rows]


def evidently(reference, days):
    """The data drift preset with its defaults, one report a day."""
    import pandas
    from evidently import Report
    from evidently.presets import DataDriftPreset
    past = pandas.DataFrame({"score": reference})
    alarms = 0
    for day in days:
        result = Report([DataDriftPreset()]).run(pandas.DataFrame({"score": day}), past).dict()
        alarms += any(metric["value"]["count"] > 0 for metric in result["metrics"]
                      if isinstance(metric["value"], dict) and "count" in metric["value"])
    return alarms


def nannyml(reference, days):
    """Univariate drift with its defaults for a continuous column, chunks of one day."""
    import nannyml as nml
    import pandas
    size = len(days[0])
    past = pandas.DataFrame({"score": reference})
    calculator = nml.UnivariateDriftCalculator(column_names=["score"], chunk_size=size)
    calculator.fit(past)
    now = pandas.DataFrame({"score": [score for day in days for score in day]})
    frame = calculator.calculate(now).filter(period="analysis").to_df()
    return int(frame[("score", "jensen_shannon", "alert")].sum())


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, check in (("Evidently, data drift preset", evidently), ("NannyML, univariate drift", nannyml)):
        for path in sorted(folder.glob("scores.*.csv"), key=lambda path: int(path.stem[7:])):
            days = days_of(path)
            judged = days[REFERENCE:REFERENCE + DAYS]
            try:
                alarms = check([score for day in days[:REFERENCE] for score in day], judged)
            except ImportError as error:
                print(f"daily_peers.py: {name} is left out: {error}", file=sys.stderr)
                break
            print(json.dumps({"part": "daily_peer", "check": name, "items": int(path.stem[7:]),
                              "days": len(judged), "alarms": alarms}), flush=True)


if __name__ == "__main__":
    main()
