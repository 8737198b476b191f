#!/usr/bin/env python3
"""What SciPy says, for the tests of `crates/stats/src`: `python3 tests/data/stats/vectors.py >tests/data/stats/vectors.json`.

Made with SciPy 1.17.1 and NumPy as it brings them along. The numbers come from a small generator of this file, so that they are the same
wherever it runs.
"""

import itertools
import json

import numpy as np
from scipy import stats


def numbers(seed, count, scale=1.0):
    """A linear congruential generator, then sums of four: nothing that a version of NumPy could change."""
    state = seed
    for _ in range(count):
        total = 0.0
        for _ in range(4):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            total += (state >> 11) / 2**53 - 0.5
        yield round(scale * total, 6)


def prediction(history, new):
    n, m = len(history), len(new)
    s = np.std(history, ddof=1)
    error = s * np.sqrt(1 / n + 1 / m)
    difference = np.mean(new) - np.mean(history)
    half = stats.t.ppf(0.975, n - 1) * error
    p = 2 * stats.t.sf(abs(difference) / error, n - 1)
    return {"history": history, "new": new, "difference": difference, "interval": [difference - half, difference + half], "p": p}


def unequal(first, second):
    n, m = len(first), len(second)
    t = stats.ttest_ind(second, first, equal_var=False).statistic
    difference = np.mean(second) - np.mean(first)
    half = stats.t.ppf(0.975, min(n, m) - 1) * difference / t
    p = 2 * stats.t.sf(abs(t), min(n, m) - 1)
    return {"first": first, "second": second, "difference": difference, "interval": [difference - half, difference + half], "p": p}


def ranks(first, second):
    """By all ways to choose the second group, which is right with ties too."""
    ranked = stats.rankdata(first + second)
    own = sum(ranked[len(first):])
    sums = [sum(choice) for choice in itertools.combinations(ranked, len(second))]
    low = sum(one <= own + 1e-9 for one in sums) / len(sums)
    high = sum(one >= own - 1e-9 for one in sums) / len(sums)
    u = stats.mannwhitneyu(second, first).statistic
    shift = float(np.median([b - a for a in first for b in second]))
    return {"first": first, "second": second, "u": float(u), "p": min(1.0, 2 * min(low, high)), "shift": shift}


def untied(first, second, method):
    said = stats.mannwhitneyu(second, first, method=method)
    return {"first": first, "second": second, "u": float(said.statistic), "p": float(said.pvalue)}


def signs(differences):
    exact = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
    walsh = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2)]
    return {"differences": differences, "p": float(exact.pvalue), "shift": float(np.median(walsh))}


def drift(series):
    slope = stats.theilslopes(series).slope
    rises = sum(np.sign(b - a) for a, b in itertools.combinations(series, 2))
    return {"series": series, "rises": float(rises), "slope": float(slope)}


group = lambda seed, count, scale=1.0: list(numbers(seed, count, scale))
tied = lambda seed, count: [round(2 * value) / 2 for value in numbers(seed, count)]
p_values = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275, 0.34]
print(json.dumps({
    "t": [{"p": p, "df": df, "quantile": float(stats.t.ppf(p, df))} for p in (0.5, 0.6, 0.9, 0.975, 0.995, 0.9999) for df in (1, 2, 3, 4, 5, 7, 9, 14, 29, 199)],
    "tails": [{"t": t, "df": df, "p": float(2 * stats.t.sf(t, df))} for t in (0.0, 0.1, 1.0, 2.5, 8.0, 40.0) for df in (1, 2, 5, 29)],
    "normal": [{"z": z, "p": float(stats.norm.cdf(z))} for z in (-8.0, -3.0, -1.96, 0.0, 0.5, 2.0, 6.0)],
    "predictions": [prediction(group(seed, n), group(seed + 50, m)) for seed, n, m in ((1, 2, 1), (2, 3, 1), (3, 5, 1), (4, 10, 1), (5, 10, 3), (6, 30, 2), (7, 30, 1))],
    "unequal": [unequal(group(seed, n), group(seed + 50, m, 3.0)) for seed, n, m in ((1, 2, 2), (2, 5, 2), (3, 12, 3), (4, 2, 7), (5, 30, 3))],
    "ranks": [ranks(group(seed, n), group(seed + 50, m)) for seed, n, m in ((1, 1, 1), (2, 3, 3), (3, 4, 4), (4, 5, 7), (5, 8, 8))]
    + [ranks(tied(seed, n), tied(seed + 50, m)) for seed, n, m in ((1, 4, 4), (2, 6, 5), (3, 8, 8))],
    "untied": [untied(group(seed, n), group(seed + 50, m), method) for seed, n, m, method in ((8, 20, 25, "exact"), (9, 45, 50, "exact"), (10, 60, 70, "asymptotic"))],
    "tied": [untied(tied(11, 60), tied(61, 70), "asymptotic")],
    "signs": [signs(group(seed, count)) for seed, count in ((2, 2), (3, 5), (4, 6), (5, 9), (6, 13))],
    "drifts": [drift(group(seed, count)) for seed, count in ((1, 3), (2, 10), (3, 40))] + [drift(tied(4, 20))],
    "adjusted": {"p": p_values, "benjaminiHochberg": list(stats.false_discovery_control(p_values))},
}, indent=1))
