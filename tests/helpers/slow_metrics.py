"""Every metric as a slow loop over rows, in fractions: obvious, and written apart from the package."""

import functools
import itertools
import math
from fractions import Fraction


def quotient(part, whole):
    if whole == 0:
        return math.nan if part == 0 else math.inf
    return Fraction(part) / Fraction(whole)


def pairs_of(matrix):
    places = itertools.product(range(len(matrix)), repeat=2)
    return [(i, j) for i, j in places for _ in range(matrix[i][j])]


def against_rest(pairs, k):
    hits = sum(i == k and j == k for i, j in pairs)
    misses = sum(i == k and j != k for i, j in pairs)
    false_positives = sum(i != k and j == k for i, j in pairs)
    return hits, misses, false_positives, sum(i != k and j != k for i, j in pairs)


def any_nan(values):
    return any(map(math.isnan, values))


def less_one(*parts):
    return math.nan if any_nan(parts) else sum(parts) - 1


def odds(*parts):
    return math.nan if any_nan(parts) else quotient(*parts)


def f_of(beta):
    square = Fraction(beta) ** 2
    return lambda h, m, a, r: quotient((1 + square) * h, (1 + square) * h + square * m + a)


OF_CLASS = {
    "recall": lambda h, m, a, r: quotient(h, h + m),
    "specificity": lambda h, m, a, r: quotient(r, r + a),
    "precision": lambda h, m, a, r: quotient(h, h + a),
    "npv": lambda h, m, a, r: quotient(r, r + m),
    "fpr": lambda h, m, a, r: quotient(a, a + r),
    "fnr": lambda h, m, a, r: quotient(m, m + h),
    "fdr": lambda h, m, a, r: quotient(a, a + h),
    "false_omission_rate": lambda h, m, a, r: quotient(m, m + r),
    "f1": f_of(1),
    "f2": f_of(2),
    "f0.5": f_of(Fraction(1, 2)),
    "jaccard": lambda h, m, a, r: quotient(h, h + m + a),
    "informedness": lambda h, m, a, r: less_one(quotient(h, h + m), quotient(r, r + a)),
    "markedness": lambda h, m, a, r: less_one(quotient(h, h + a), quotient(r, r + m)),
    "lr_plus": lambda h, m, a, r: odds(quotient(h, h + m), quotient(a, a + r)),
    "lr_minus": lambda h, m, a, r: odds(quotient(m, h + m), quotient(r, a + r)),
    "odds_ratio": lambda h, m, a, r: quotient(h * r, m * a),
    "prevalence": lambda h, m, a, r: quotient(h + m, h + m + a + r),
    "selection_rate": lambda h, m, a, r: quotient(h + a, h + m + a + r),
}


def mean(values):
    values = list(values)
    return math.nan if any_nan(values) else Fraction(sum(values)) / len(values)


def each(name):
    return lambda pairs, classes: [OF_CLASS[name](*against_rest(pairs, k)) for k in classes]


def by_support(name):
    def weighted(pairs, classes):
        values = dict(zip(classes, each(name)(pairs, classes), strict=True))
        return mean(values[i] for i, _ in pairs) if pairs else math.nan

    return weighted


def weights(pairs, classes, t):
    prevalences = [sum(i == k for i, _ in pairs) for k in classes]
    if 0 in prevalences and (t <= 0 or not pairs):
        return None
    powers = [size**t if size else 0 for size in prevalences]
    return [power / sum(powers) for power in powers]


def tempered_loop(pairs, classes, t=0.5):
    held, recalls = weights(pairs, classes, t), each("recall")(pairs, classes)
    if held is None:
        return math.nan
    return sum(w * r for w, r in zip(held, recalls, strict=True) if w)


def slope_loop(pairs, classes):
    held, recalls = weights(pairs, classes, 0.5), each("recall")(pairs, classes)
    if held is None:
        return math.nan
    logs = [
        math.log(sum(i == k for i, _ in pairs)) if w else 0
        for k, w in zip(classes, held, strict=True)
    ]
    middle = sum(w * log for w, log in zip(held, logs, strict=True))
    parts = zip(held, logs, recalls, strict=True)
    return sum(w * (log - middle) * r for w, log, r in parts if w)


def product_loop(pairs, classes):
    recalls = each("recall")(pairs, classes)
    return math.nan if any_nan(recalls) else math.prod(recalls) ** (1 / len(recalls))


def least_loop(pairs, classes):
    recalls = each("recall")(pairs, classes)
    return math.nan if any_nan(recalls) else min(recalls)


def covariance(first, second, labels):
    """Sum over labels of the covariance of their indicators."""
    n = len(first)
    share = sum(Fraction(a == b) for a, b in zip(first, second, strict=True)) / n
    return share - sum(Fraction(first.count(k), n) * Fraction(second.count(k), n) for k in labels)


def mcc_loop(pairs, classes):
    if not pairs:
        return math.nan
    truth, guess = zip(*pairs, strict=True)
    spread = covariance(truth, truth, classes) * covariance(guess, guess, classes)
    return covariance(truth, guess, classes) / math.sqrt(spread) if spread else math.nan


def kappa_loop(pairs, classes):
    if not pairs:
        return math.nan
    truth, guess = zip(*pairs, strict=True)
    n = len(pairs)
    by_chance = sum(Fraction(truth.count(k) * guess.count(k), n * n) for k in classes)
    observed = Fraction(sum(i == j for i, j in pairs), n)
    return math.nan if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


OVERALL = {
    "accuracy": lambda pairs, classes: quotient(sum(i == j for i, j in pairs), len(pairs)),
    "balanced_accuracy": lambda pairs, classes: mean(each("recall")(pairs, classes)),
    "tba": tempered_loop,
    "tba_-1": functools.partial(tempered_loop, t=-1),
    "tba_1.5": functools.partial(tempered_loop, t=1.5),
    "tba_slope": slope_loop,
    "majority": lambda pairs, classes: max(weights(pairs, classes, 0.5) or [math.nan]),
    "g_mean": product_loop,
    "min_recall": least_loop,
    "recall_macro": lambda pairs, classes: mean(each("recall")(pairs, classes)),
    "precision_macro": lambda pairs, classes: mean(each("precision")(pairs, classes)),
    "f1_macro": lambda pairs, classes: mean(each("f1")(pairs, classes)),
    "precision_weighted": by_support("precision"),
    "f1_weighted": by_support("f1"),
    "mcc": mcc_loop,
    "cohen_kappa": kappa_loop,
}


def slow(name, matrix):
    pairs, classes = pairs_of(matrix), range(len(matrix))
    if name in OF_CLASS:
        return [float(each(name)(pairs, [k])[0]) for k in classes]
    return float(OVERALL[name](pairs, classes))
