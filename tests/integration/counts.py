"""Requests and failures by model and class: from `outcomed signals`, and from what clients got."""
import collections
import csv
import io


class Counts:
    def __init__(self):
        self.n = collections.Counter()  # By model.
        self.k = collections.Counter()  # By model and error class (or whatever else splits failures).

    def __eq__(self, other):
        return self.n == other.n and self.k == other.k

    def __repr__(self):
        return f"n {dict(sorted(self.n.items()))}, k {dict(sorted(self.k.items()))}"


def of_signals(text, by="error_class"):
    """Rows of one step and model repeat n, one for each class."""
    counts, seen = Counts(), set()
    for row in csv.DictReader(io.StringIO(text)):
        if (row["start"], row["model"]) not in seen:
            seen.add((row["start"], row["model"]))
            counts.n[row["model"]] += int(row["n"])
        if int(row["k"]):
            counts.k[row["model"], row[by]] += int(row["k"])
    counts.n = +counts.n
    return counts


def of_clients(requests):
    """`requests`: pairs of model and error class, which is empty for a success."""
    counts = Counts()
    for model, error_class in requests:
        counts.n[model] += 1
        if error_class:
            counts.k[model, error_class] += 1
    return counts
