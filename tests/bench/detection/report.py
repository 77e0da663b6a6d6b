"""Joins the rows of the detection bench: Markdown, JSON and SVG below build/bench-results/detection, and
the generated parts of docs/detection.md, which lie between <!-- NAME --> and <!-- end -->.

    tests/bench/detection/report.py [FOLDER]
"""
import collections
import json
import math
import pathlib
import re
import sys

import plot
import promises

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "detection.md"
FEEDS = ROOT / "docs" / "rules" / "baseline.md"
PICTURE = ROOT / "docs" / "detection.svg"
SHARES = (0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
BASELINES = {"iid": "the same 1 % in every minute", "wobble_.3": "1 % that wobbles from hour to hour by 0.3",
             "wobble_.5": "1 % that wobbles from hour to hour by 0.5",
             "bursts": "1 % that wobbles by 0.5, with bursts of retries",
             "azure": "1 %, volume as in Azure's recorded minutes",
             "ragpulse": "1 %, volume as in RAGPulse's recorded hours"}


def read(folder):
    """All rows by part; Markdown of other programs by file name."""
    parts, texts = collections.defaultdict(list), {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            parts[row.pop("part")].append(row)
    # The quick run makes some of the same.
    longest = {row["what"]: row for row in sorted(parts["mean_time"], key=lambda row: row["minutes"])}
    parts["mean_time"] = list(longest.values())
    for path in sorted(folder.glob("*.txt")):
        texts[path.stem] = path.read_text().strip()
    if "days" not in texts:  # The whole run is kept there.
        lines = FEEDS.read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("| n/day |"))
        texts["days"] = "\n".join(lines[start:lines.index("", start)])
    return parts, texts


def quantile(values, q):
    """The smallest value that a part q of all reaches; infinite where a change was never found."""
    known = sorted(math.inf if value is None else value for value in values)
    return known[max(0, math.ceil(q * len(known)) - 1)] if known else math.nan


def number(value):
    if value is None or math.isinf(value):
        return "never"
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 10 else f"{value:.3g}"


def delay(values):
    """Median, 95th percentile in brackets, and how many were found where some weren't."""
    if not values:
        return "-"
    found = sum(value is not None for value in values)
    if found == 0:
        return "never"
    text = f"{number(quantile(values, .5))} ({number(quantile(values, .95))})"
    return text if found == len(values) else f"{text}, {100 * found // len(values)} % found"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def mean_ratio(values, oracle):
    if not values or not oracle or None in values or None in oracle:
        return "-"
    return f"{sum(values) / len(values) / (sum(oracle) / len(oracle)):.2f}"


def cells(rows):
    """Of part "grid": {(baseline, rate): {detector: {share: row}}}, in the order of the rows."""
    found = {}
    for row in rows:
        cell = found.setdefault((row["baseline"], row["rate"]), {})
        cell.setdefault(row["detector"], {})[row["share"]] = row
    return found


def cell_table(cell):
    rows = []
    for name, of in cell.items():
        any_row = next(iter(of.values()))
        false = "-" if name.startswith("oracle") else \
            f"{any_row['false_pages'] / max(1, any_row['series_months']):.2f} ({any_row['series_months']})"
        rows.append([name, false] + [delay(of[share]["delays"]) if share in of else "" for share in SHARES])
    for ours, oracle in (("surge 90d", "oracle 90d"), ("surge 25y", "oracle 25y")):
        if ours in cell and oracle in cell:
            rows.append([f"*{ours}: mean / oracle's*", ""] + [
                mean_ratio(cell[ours][share]["delays"], cell[oracle][share]["delays"]) for share in SHARES])
    return table(["detector", "false pages a series-month (of)"] +
                 [f"→ {100 * share:.0f} %" for share in SHARES], rows)


def grid(parts):
    text = []
    for (baseline, rate), cell in sorted(cells(parts["grid"]).items(),
                                         key=lambda at: (list(BASELINES).index(at[0][0]), at[0][1])):
        first = next(iter(cell.values()))
        shifts = len(next(iter(first.values()))["delays"])
        text.append(f"**{rate:g} requests a minute; normal is {BASELINES[baseline]}; up to {shifts} changes "
                    f"for each share.**\n\n{cell_table(cell)}")
    return "\n\n".join(text) or "Not run."


def mean_time(parts):
    return table(["what", "budget, minutes", "minutes watched", "false pages", "mean time between them"],
                 [[row["what"], f"{row['budget']:.0f}", f"{row['minutes']:.3g}", row["pages"],
                   f"{row['mean']:.0f}" if row["pages"] else "none came"]
                  for row in parts["mean_time"]])


def small(parts):
    text = [table(["ten days with, every three hours", "requests a minute", "pages"],
                  [[row["what"], f"{row['rate']:g}", row["pages"]] for row in parts["harmless"]])]
    for row in parts["vanished_success"]:
        text.append("A model whose series of successes vanished, so that all requests fail: found after "
                    f"{row['minutes']} minutes.")
    for row in parts["ramp"]:
        text.append(f"1 to 10 % evenly within six hours, 20 requests a minute, {row['series']} series: found "
                    f"after {delay(row['delays'])} minutes.")
    for row in parts["many_series"]:
        text.append(f"{row['series']} series of 20 requests a minute at a budget of 25 years: "
                    f"{row['false_pages']} false pages in 30 days.")
    return "\n\n".join(text)


def outage(parts):
    if not parts["outage"]:
        return "Not run."
    first = parts["outage"][0]
    text = table(["failing", "the rule over the provider's models", "the first of 30 rules by model",
                  "classic rule over the sum", "models that paged by themselves"],
                 [[f"{100 * row['share']:g} %", delay(row["across"]), delay(row["first_model"]),
                   delay(row["classic"]), f"{row['models']:.0f} of 30"] for row in parts["outage"]])
    return f"{text}\n\n{len(first['across'])} outages for each share; {first['false_pages']} false pages in 30 days."


def real_requests(parts):
    return table(["endpoint", "requests", "failed", "first failure at", "requests from there to the page"],
                 [[row["endpoint"], row["requests"], row["failures"], row["first_failure"],
                   number(row["requests_to_page"])] for row in parts["real_requests"]])


def real_answers(parts):
    return table(["feed", "items a day", "halving rule alone: days", "alert: halved", "alert: evidence"],
                 [[row["feed"], row["items"], ", ".join(f"{day:.0f}" for day in row["halving_days"]) or "never",
                   row["halved"] or "never",
                   f"{row['evidence']}, {row['direction']}" if row["evidence"] else "never"]
                  for row in parts["real_answers"]])


def judge_swap(parts):
    rows = collections.defaultdict(dict)
    for row in parts["judge_swap"]:
        rows[row["items"]][row["mix"]] = f"{row['alarms']} in {row['years']} years" if "alarms" in row \
            else delay(row["delays"])
    return table(["items a day", "alarms without a change", "10 %: days", "30 %", "50 %", "all by the new judge"],
                 [[items] + [of.get(mix, "-") for mix in (0, .1, .3, .5, 1)] for items, of in rows.items()])


def daily_peers(parts):
    return table(["check", "items a day", "days with drift, of days without a change"],
                 [[row["check"], row["items"], f"{row['alarms']} of {row['days']}"]
                  for row in parts["daily_peer"]]) if parts["daily_peer"] else "Not run."


def against_oracle(parts):
    def ratio(row, ours, oracle):
        return f"{row[ours] / row[oracle]:.2f}"
    return table(["requests a minute", "budget, days", "1 % to", "mean, minutes", "oracle, same promise",
                  "oracle, same mean time", "ratio to it", "ratio if one step could page", "log A / KL"],
                 [[f"{row['rate']:g}", f"{row['budget_days']:g}", f"{100 * row['share']:g} %", number(row["mean"]),
                   number(row["oracle"]), number(row["oracle_same_time"]), ratio(row, "mean", "oracle_same_time"),
                   ratio(row, "without_cap", "oracle_same_time"), number(row["bound"])]
                  for row in parts["against_oracle"]]) if parts["against_oracle"] else "Not run."


def coverage(parts):
    return table(["population", "items", "part of the intervals that hold the truth"],
                 [[row["population"], row["items"], f"{row['coverage']:.3f}"] for row in parts["coverage"]]) \
        if parts["coverage"] else "Not run."


def fill(page, pieces):
    """`page` with the text between the marks of each piece replaced."""
    for name, text in pieces.items():
        page = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda mark: f"{mark[1]}{text}\n{mark[2]}",
                      page, flags=re.S)
    return page


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/bench-results/detection")
    parts, texts = read(folder)
    pieces = {"mean time": mean_time(parts), "against oracle": against_oracle(parts), "grid": grid(parts), "small": small(parts),
              "outage": outage(parts),
              "nulls": texts.get("nulls", "Not run."),
              "real requests": real_requests(parts), "real answers": real_answers(parts),
              "judge swap": judge_swap(parts), "daily peers": daily_peers(parts), "coverage": coverage(parts),
              "promises": table(["promise", "measured", ""], promises.judge(parts, texts))}
    (folder / "report.json").write_text(json.dumps(parts, indent=1))
    (folder / "report.md").write_text("\n\n".join(f"## {name}\n\n{text}" for name, text in pieces.items()))
    for (baseline, rate), cell in cells(parts["grid"]).items():
        picture = plot.delays(cell, SHARES, quantile)
        (folder / f"delays.{baseline}.{rate:g}.svg").write_text(picture)
        if (baseline, rate) == ("iid", 20):
            PICTURE.write_text(picture)
    if PAGE.exists():
        PAGE.write_text(fill(PAGE.read_text(), pieces))
    print(pieces["promises"])


if __name__ == "__main__":
    main()
