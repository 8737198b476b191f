"""Asks Apache Otava and asv, at their defaults, which series are red: JSON on standard input and output, as benches/gate/beside.rs has it."""

import json
import sys

from asv.step_detect import detect_regressions, detect_steps
from otava.analysis import compute_change_points


def otava(values, sign):
    """The newest change point is one for the worse."""
    points, _ = compute_change_points(values)
    if not points:
        return False
    newest = max(points, key=lambda point: point.index)
    return sign * (newest.stats.mean_2 - newest.stats.mean_1) < 0


def asv(values, sign):
    """asv looks for what got larger, by at least its 5 %."""
    costs = [1 / value for value in values] if sign > 0 else values
    latest, _, _ = detect_regressions(detect_steps(costs), threshold=0.05)
    return latest is not None


def answer(question):
    sign = 1 if question["is_better_higher"] else -1
    parts = [[series[: question["before"] + look] for series in question["series"]] for look in question["looks"]]
    return {rule.__name__: [sum(bool(rule(values, sign)) for values in part) for part in parts] for rule in (otava, asv)}


json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
