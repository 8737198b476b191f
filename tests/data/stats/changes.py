#!/usr/bin/env python3
"""Where Apache Otava (Hunter) sees series part, for the tests of `crates/stats/src/change.rs`:
`python3 tests/data/stats/changes.py >tests/data/stats/changes.json`.

Made with apache-otava 0.8.0 and numpy 2.2.0. For each series: the energy statistic Q of all divisions in two (Matteson & James 2014),
from its own `PairDistanceCalculator`, and the change points that it finds by Student's t at p < 0.0001 without a least length. The numbers
come from the generator of `vectors.py`.
"""

import json
import sys

import numpy as np
from otava.analysis import TTestSignificanceTester
from otava.change_point_divisive.calculator import PairDistanceCalculator
from otava.change_point_divisive.detector import ChangePointDetector


def numbers(seed, count, scale=1.0):
    state = seed
    for _ in range(count):
        total = 0.0
        for _ in range(4):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            total += (state >> 11) / 2**53 - 0.5
        yield scale * total


def levels(seed, *parts):
    """Parts of (length, level), with noise of a standard deviation of about 0.58."""
    means = [level for length, level in parts for _ in range(length)]
    return [round(mean + noise, 6) for mean, noise in zip(means, numbers(seed, len(means)))]


def judged(name, series):
    values = np.array(series)
    column = PairDistanceCalculator(values)._get_Q_vals(0, len(values))[:, -1]
    found = ChangePointDetector(TTestSignificanceTester(0.0001), PairDistanceCalculator).get_change_points(values)
    return {"name": name, "series": series, "q": [float(q) for q in column], "changes": [int(point.index) for point in found]}


json.dump([
    judged("nothing", levels(1, (40, 0))),
    judged("one", levels(2, (20, 0), (20, 4))),
    judged("early", levels(3, (6, 4), (34, 0))),
    judged("late", levels(4, (34, 0), (6, 4))),
    judged("there and back", levels(5, (15, 0), (15, 4), (15, 0))),
    judged("stairs", levels(6, (12, 0), (12, 4), (12, 8), (12, 12))),
    judged("small", levels(7, (30, 0), (30, 1))),
    judged("ties", [round(value) for value in levels(8, (20, 0), (20, 3))]),
], sys.stdout, indent=1)
