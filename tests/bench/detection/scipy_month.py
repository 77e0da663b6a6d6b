"""The detection of `surge` in NumPy and SciPy, all groups of a minute at once: the static detector (tilts from
SciPy's beta-binomial, cached by n) and the filter on its grid (SciPy's binomial), averaged Shiryaev-Roberts sums.
Nothing is learned, tempered or remembered, so it is less than what `surge` does. Prints one JSON line.
    python scipy_month.py [GROUPS [MINUTES]]
"""
import json
import sys
import time

import numpy as np
import scipy
from scipy import optimize, stats

CEILING, WOBBLE, SHARE, RATE = 0.02, 0.002, 0.01, 20
ALTERNATIVES = np.array([0.03, 0.06, 0.15, 0.4, 0.9])
POINTS = 61


def tilt(n, p1):
    """theta and log M(theta) of detection.md; SciPy's law, a bracketed root."""
    k = np.arange(n + 1)
    scale = 1 / WOBBLE - 1
    law = stats.betabinom(n, CEILING * scale, (1 - CEILING) * scale).logpmf(k)

    def mean(theta):
        weight = law + theta * k
        weight = np.exp(weight - weight.max())
        return (weight * k).sum() / weight.sum() - n * p1

    theta = optimize.brentq(mean, 0, 20)
    weight = law + theta * k
    return theta, weight.max() + np.log(np.exp(weight - weight.max()).sum())


def main():
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    minutes = int(sys.argv[2]) if len(sys.argv) > 2 else 1440
    random = np.random.default_rng(7)
    n = random.poisson(RATE, (minutes, groups))
    k = random.binomial(n, SHARE)
    most = n.max()
    begin = time.process_time()
    table = np.zeros((2, most + 1, len(ALTERNATIVES)))
    for each in range(1, most + 1):
        for j, p1 in enumerate(ALTERNATIVES):
            table[:, each, j] = tilt(each, p1)
    rates = SHARE * np.exp(np.linspace(-1.6, 1.6, POINTS))
    jump = np.exp(-np.subtract.outer(np.arange(POINTS), np.arange(POINTS)) ** 2 / 200.)
    jump = 59 / 60 * np.eye(POINTS) + 1 / 60 * jump / jump.sum(1, keepdims=True)
    weights = np.full((groups, POINTS), 1 / POINTS)
    fixed = np.full((groups, len(ALTERNATIVES)), -np.inf)
    moving = np.full((groups, 6), -np.inf)
    lifted = np.minimum(SHARE * np.array([2, 3.5, 6, 12, 25, 60]), 0.95)
    cap = np.log(90 * 1440)
    alarms = 0
    for minute in range(minutes):
        x = table[0, n[minute]] * k[minute][:, None] - table[1, n[minute]]
        fixed = np.logaddexp(fixed, 0) + np.minimum(x, cap / 3)
        weights = weights @ jump
        weights *= stats.binom.pmf(k[minute][:, None], n[minute][:, None], rates)
        null = weights.sum(1, keepdims=True)
        weights /= null
        x = stats.binom.logpmf(k[minute][:, None], n[minute][:, None], lifted) - np.log(null)
        moving = np.logaddexp(moving, 0) + np.minimum(x, cap / 2)
        mean = np.logaddexp(np.logaddexp.reduce(fixed, 1) - np.log(5), np.logaddexp.reduce(moving, 1) - np.log(6))
        alarms += int((mean - np.log(2) >= cap).sum())
    seconds = time.process_time() - begin
    print(json.dumps({"groups": groups, "minutes": minutes, "seconds": seconds, "alarms": alarms,
                      "scipy": scipy.__version__, "numpy": np.__version__}))


if __name__ == "__main__":
    main()
