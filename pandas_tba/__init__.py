"""Judge classifiers honestly from a table of their predictions.

``import pandas_tba`` gives every DataFrame the accessor ``df.tba``; the same questions are
functions over counts: ``score(count(df, by="segment"), t=0.5)``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pandas_tba.accessor import TbaAccessor
from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.datasets import load_income
from pandas_tba.errors import ColumnError, InputError, InputWarning, KindError, UndefinedWarning
from pandas_tba.frames.schema import schema
from pandas_tba.questions.scores import (
    bounds,
    confusion_matrix,
    metrics,
    per_class,
    score,
    tempered_balanced_accuracy_score,
    undefined,
)
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import METRICS, f_beta, tempered
from pandas_tba.scoring.tempering import class_weights, t_from_cost_ratio, t_from_entropy

if TYPE_CHECKING:
    from pandas_tba.counts.paired import PairedCounts
    from pandas_tba.engines.dispatch import (
        ENGINES,
        count,
        count_batches,
        count_pairs,
        count_parquet,
    )
    from pandas_tba.inference.intervals import INTERVALS
    from pandas_tba.plots.accessor import TbaPlot
    from pandas_tba.plots.curves import plot_curve
    from pandas_tba.plots.dotplots import plot_compare, plot_groups, plot_slices
    from pandas_tba.plots.heatmaps import plot_confusion
    from pandas_tba.plots.sweeps import plot_sweep
    from pandas_tba.questions.decisions import decide
    from pandas_tba.questions.diagnosis import diagnose
    from pandas_tba.questions.disparities import disparity, gap
    from pandas_tba.questions.exponents import choose_t, crossings
    from pandas_tba.questions.gates import Check, check
    from pandas_tba.questions.intervals import interval, posterior
    from pandas_tba.questions.models import compare
    from pandas_tba.questions.slices import slices
    from pandas_tba.questions.thresholds import best_threshold, sweep
    from pandas_tba.reports.report import Report, report

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
    "Check": "questions.gates",
    "ENGINES": "engines.dispatch",
    "INTERVALS": "inference.intervals",
    "PairedCounts": "counts.paired",
    "Report": "reports.report",
    "TbaPlot": "plots.accessor",
    "best_threshold": "questions.thresholds",
    "check": "questions.gates",
    "choose_t": "questions.exponents",
    "compare": "questions.models",
    "count": "engines.dispatch",
    "count_batches": "engines.dispatch",
    "count_pairs": "engines.dispatch",
    "count_parquet": "engines.dispatch",
    "crossings": "questions.exponents",
    "decide": "questions.decisions",
    "diagnose": "questions.diagnosis",
    "disparity": "questions.disparities",
    "gap": "questions.disparities",
    "interval": "questions.intervals",
    "plot_compare": "plots.dotplots",
    "plot_confusion": "plots.heatmaps",
    "plot_curve": "plots.curves",
    "plot_groups": "plots.dotplots",
    "plot_slices": "plots.dotplots",
    "plot_sweep": "plots.sweeps",
    "posterior": "questions.intervals",
    "report": "reports.report",
    "slices": "questions.slices",
    "sweep": "questions.thresholds",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'pandas_tba' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"pandas_tba.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
