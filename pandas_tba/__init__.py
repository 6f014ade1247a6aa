"""Judge classifiers honestly from a table of their predictions.

``import pandas_tba`` gives every DataFrame the accessor ``df.tba``; the same questions are
functions over counts: ``score(count(df, by="segment"), t=0.5)``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pandas_tba.accessor import TbaAccessor
from pandas_tba.catalog import METRICS, Metric, f_beta, tempered
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.datasets import load_income
from pandas_tba.errors import ColumnError, InputError, InputWarning, KindError, UndefinedWarning
from pandas_tba.specification import schema
from pandas_tba.tables import (
    bounds,
    confusion_matrix,
    metrics,
    per_class,
    score,
    tempered_balanced_accuracy_score,
    undefined,
)
from pandas_tba.tempering import class_weights, t_from_cost_ratio, t_from_entropy

if TYPE_CHECKING:
    from pandas_tba.choosing import choose_t, crossings
    from pandas_tba.comparison import compare
    from pandas_tba.curves import plot_curve
    from pandas_tba.decisions import decide
    from pandas_tba.diagnosing import diagnose
    from pandas_tba.dotplots import plot_compare, plot_groups, plot_slices
    from pandas_tba.engines import ENGINES, count, count_batches, count_pairs, count_parquet
    from pandas_tba.fairness import disparity, gap
    from pandas_tba.gates import Check, check
    from pandas_tba.heatmaps import plot_confusion
    from pandas_tba.intervals import INTERVALS
    from pandas_tba.pairing import PairedCounts
    from pandas_tba.plotting import TbaPlot
    from pandas_tba.reporting import Report, report
    from pandas_tba.slicing import slices
    from pandas_tba.sweeps import plot_sweep
    from pandas_tba.thresholds import best_threshold, sweep
    from pandas_tba.uncertainty import interval, posterior

__version__ = "0.1.0"

__all__ = [
    "ENGINES",
    "INTERVALS",
    "METRICS",
    "Check",
    "ColumnError",
    "ConfusionCounts",
    "InputError",
    "InputWarning",
    "KindError",
    "Metric",
    "PairedCounts",
    "Report",
    "TbaAccessor",
    "TbaPlot",
    "UndefinedWarning",
    "best_threshold",
    "bounds",
    "check",
    "choose_t",
    "class_weights",
    "compare",
    "confusion_matrix",
    "count",
    "count_batches",
    "count_pairs",
    "count_parquet",
    "crossings",
    "decide",
    "diagnose",
    "disparity",
    "f_beta",
    "gap",
    "interval",
    "load_income",
    "metrics",
    "per_class",
    "plot_compare",
    "plot_confusion",
    "plot_curve",
    "plot_groups",
    "plot_slices",
    "plot_sweep",
    "posterior",
    "report",
    "schema",
    "score",
    "slices",
    "sweep",
    "t_from_cost_ratio",
    "t_from_entropy",
    "tempered",
    "tempered_balanced_accuracy_score",
    "undefined",
]

# loaded when first asked for, so that import stays fast
_LATER = {
    "Check": "gates",
    "ENGINES": "engines",
    "INTERVALS": "intervals",
    "PairedCounts": "pairing",
    "Report": "reporting",
    "TbaPlot": "plotting",
    "best_threshold": "thresholds",
    "check": "gates",
    "choose_t": "choosing",
    "compare": "comparison",
    "count": "engines",
    "count_batches": "engines",
    "count_pairs": "engines",
    "count_parquet": "engines",
    "crossings": "choosing",
    "decide": "decisions",
    "diagnose": "diagnosing",
    "disparity": "fairness",
    "gap": "fairness",
    "interval": "uncertainty",
    "plot_compare": "dotplots",
    "plot_confusion": "heatmaps",
    "plot_curve": "curves",
    "plot_groups": "dotplots",
    "plot_slices": "dotplots",
    "plot_sweep": "sweeps",
    "posterior": "uncertainty",
    "report": "reporting",
    "slices": "slicing",
    "sweep": "thresholds",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'pandas_tba' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"pandas_tba.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
