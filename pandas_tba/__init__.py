"""Judge classifiers honestly from a table of their predictions.

``import pandas_tba`` gives every DataFrame the accessor ``df.tba``; the same questions are
functions over counts: ``score(count(df, by="segment"), t=0.5)``.
"""

from pandas_tba.accessor import TbaAccessor
from pandas_tba.catalog import METRICS, Metric
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.datasets import load_income
from pandas_tba.engines import count
from pandas_tba.errors import ColumnError, InputError, InputWarning, KindError, UndefinedWarning
from pandas_tba.specification import schema
from pandas_tba.tables import (
    bounds,
    confusion_matrix,
    metrics,
    per_class,
    score,
    tempered_balanced_accuracy_score,
)
from pandas_tba.tempering import class_weights, t_from_cost_ratio, t_from_entropy

__version__ = "0.1.0"

__all__ = [
    "METRICS",
    "ColumnError",
    "ConfusionCounts",
    "InputError",
    "InputWarning",
    "KindError",
    "Metric",
    "TbaAccessor",
    "UndefinedWarning",
    "bounds",
    "class_weights",
    "confusion_matrix",
    "count",
    "load_income",
    "metrics",
    "per_class",
    "schema",
    "score",
    "t_from_cost_ratio",
    "t_from_entropy",
    "tempered_balanced_accuracy_score",
]
