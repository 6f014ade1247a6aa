"""count(): predictions in any engine -> ConfusionCounts; the rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.engines.combinations import (
    Ask,
    Combinations,
    Question,
    added_up,
    counts_of,
    not_a_frame,
    question_of,
)
from pandas_tba.engines.engine_pairs import (
    pair_arrow,
    pair_dask,
    pair_in_engine,
    pairs_in_columns,
    question_of_pairs,
)
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.engines.pandas_pairs import pair_frame
from pandas_tba.engines.parquet import combinations_of_parquet, tqdm_bar
from pandas_tba.engines.partitions import combinations_of_dask, combinations_of_frame
from pandas_tba.engines.queries import combinations_in_engine
from pandas_tba.engines.streams import combinations_of_arrow
from pandas_tba.errors import InputError, KindError, check_flag
from pandas_tba.frames.columns import Columns, Missing

Combining = Callable[[Any, Ask], tuple[Question, Combinations]]


class Engine(NamedTuple):
    """An engine: its package, the classes of its frames, how they are counted, the extra it needs.

    Pairs of models in columns are counted like other combinations, those of models in rows are not.
    """

    package: str
    frames: tuple[str, ...]
    combinations: Combining
    pairs_in_rows: Callable[..., PairedCounts]
    extra: str | None = None


ENGINES = (
    Engine("pandas", ("DataFrame",), combinations_of_frame, pair_frame),
    Engine(
        "pyarrow",
        ("Table", "RecordBatch", "RecordBatchReader", "FileSystemDataset", "InMemoryDataset",
         "UnionDataset", "Dataset", "Scanner"),
        combinations_of_arrow,
        pair_arrow,
        "parquet",
    ),
    Engine("dask", ("DataFrame",), combinations_of_dask, pair_dask, "dask"),
    Engine("polars", ("DataFrame", "LazyFrame"), combinations_in_engine, pair_in_engine, "polars"),
    Engine("duckdb", ("DuckDBPyRelation",), combinations_in_engine, pair_in_engine, "duckdb"),
    Engine("pyspark", ("DataFrame",), combinations_in_engine, pair_in_engine, "spark"),
)  # fmt: skip


def _engine_of(frame: Any) -> Engine:
    """The engine that a frame belongs to, known by the name of its package."""
    if isinstance(frame, pd.DataFrame):
        return ENGINES[0]
    kind = type(frame)
    package = kind.__module__.partition(".")[0].lstrip("_")
    for engine in ENGINES:
        if engine.package == package and kind.__name__ in engine.frames:
            return engine
    return Engine(package, (), _in_some_engine, _pairs_in_some_engine)


def _in_some_engine(frame: Any, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations of a frame that is not in the table; narwhals may know it."""
    with _unknown(frame):
        return combinations_in_engine(frame, ask)


def _pairs_in_some_engine(frame: Any, columns: Columns, **options: Any) -> PairedCounts:
    """Counts of pairs of models in rows of a frame that is not in the table."""
    with _unknown(frame):
        return pair_in_engine(frame, columns, **options)


@contextmanager
def _unknown(frame: Any) -> Iterator[None]:
    """Without narwhals nobody knows the frame."""
    try:
        yield
    except ModuleNotFoundError as fault:
        raise not_a_frame(frame) from fault


def _combined(frame: Any, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations of a frame of any engine."""
    engine = _engine_of(frame)
    with _naming_the_extra(engine.package, engine.extra):
        return engine.combinations(frame, ask)


@contextmanager
def _naming_the_extra(what: str, extra: str | None) -> Iterator[None]:
    """Say which extra brings a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as fault:
        lacking = str(fault.name).partition(".")[0]
        if extra is None or lacking not in ("narwhals", "pyarrow"):
            raise
        raise ModuleNotFoundError(
            f"Counting in {what} needs {lacking}: pip install 'pandas-tba[{extra}]'.", name=lacking
        ) from fault


def count(
    frame: Any,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] | None = None,
    by: Any = None,
    model: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    sample_weight: Hashable | None = None,
    schema: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> ConfusionCounts:
    """Counts of the rows of a frame: the one pass over the data, from which all answers come.

    An engine counts its rows itself: only the counts come back.

    Parameters
    ----------
    frame : DataFrame
        Predictions, one row each, in pandas; or a Polars DataFrame or LazyFrame, a PyArrow table,
        record batch, reader of batches or dataset, a DuckDB relation, a Dask or a Spark SQL
        DataFrame, or what else narwhals knows. It is not changed; of a reader nothing is left.
    y_true : column name, default "y_true"
        True labels.
    y_pred : column name, or list of them, optional
        Predicted labels, "y_pred" unless scores are named; a list holds one column for each model.
    by : key, or list of keys, optional
        Groups: names of columns or index levels, Series, arrays or Groupers; outside pandas names
        of columns alone.
    model : column name, optional
        Column that says which model made the prediction of a row.
    labels : list, optional
        The classes, in the order wanted; by default the labels that occur in y_true. Any other
        label is then an error.
    abstain : list, optional
        Labels that may be predicted and are no class, such as a reject option.
    pos_label : label, optional
        The positive one of two classes; inferred for False/True, 0/1 and -1/1.
    missing : {"raise", "drop"}, default "raise"
        Whether a missing label, score or weight is an error, or its row is left out for all models
        at once.
    y_score : column name, or list of them, optional
        Scores in place of `y_pred`: the positive one of exactly two classes is predicted where
        they reach the threshold. A list holds one column for each model.
    threshold : float, default 0.5
        Scores greater than or equal to it predict the positive class, in the precision of their
        column: a float32 score of 0.7 reaches 0.7, though as float64 it is a little less.
    sample_weight : column name, optional
        Sampling weights, finite and not negative. Tables then show n (rows) and weight.
    schema : pandera DataFrameSchema or DataFrameModel, optional
        Run on the bound columns, and on others that it names, before anything is counted. It only
        checks: coercions are not applied. Pandas only.
    dropna : bool, default False
        Whether to leave out rows with a missing key; by default they form a group.
    observed : bool, default True
        False adds a group without rows for each combination of categories that does not occur.

    Returns
    -------
    ConfusionCounts
        Counts by group, true and predicted label.

    Raises
    ------
    ColumnError
        If a name does not lead to exactly one column.
    InputError
        If labels are missing, unexpected, or look like scores; or arguments do not fit together.
    KindError
        If labels of different kinds would be compared, or the frame is of no engine.
    ModuleNotFoundError
        If an engine needs a package that is not installed.

    Warns
    -----
    InputWarning
        If a label is only predicted, or a key holds very many different numbers.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.count(tba.load_income(), y_pred="forest", by="sex")
    <ConfusionCounts: 4,000 rows, 2 groups by 'sex', 2 classes: '<=50K', '>50K'>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
        sample_weight=sample_weight,
        schema=schema,
    )
    if isinstance(frame, pd.DataFrame):
        return count_frame(frame, columns, by=by, dropna=dropna, observed=observed)
    question, found = _combined(frame, partial(question_of, columns=columns, by=by))
    return counts_of(found, question, dropna=dropna, observed=observed)


def count_pairs(
    frame: Any,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] | None = None,
    by: Any = None,
    model: Hashable | None = None,
    row: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    sample_weight: Hashable | None = None,
    dropna: bool = False,
    observed: bool = True,
) -> PairedCounts:
    """Count for each two models how often they predict which two labels for rows of a class.

    An engine counts its rows itself: only the counts come back.

    Parameters
    ----------
    frame : DataFrame
        Predictions in any engine that `count` takes. Models in columns, as in
        ``y_pred=["logit", "forest"]``, or models in rows, as in ``model="model", row="case_id"``:
        for these an engine must bring the rows of a case together, and Arrow holds the columns
        needed in memory.
    y_true, y_pred, by, model
        As in `count`. True label, keys and weight must be the same in all rows of a case.
    row : column name, optional
        With `model`: the column that says which rows are the same case.
    labels, abstain, pos_label, missing, y_score, threshold, sample_weight, dropna, observed
        As in `count`.

    Returns
    -------
    PairedCounts
        A pair for each two models, in the order of `y_pred`, or of the models. Cases that only
        one of the two has scored are left out, and counted.

    Raises
    ------
    InputError
        If there are fewer than two models, a model scores a case twice, or true label, keys or
        weight differ within a case; the smallest such case is named. And as in `count`.
    ColumnError, KindError, ModuleNotFoundError
        As in `count`.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.count_pairs(tba.load_income(), y_pred=["logit", "forest"])
    <PairedCounts: 1 pair of models, 2 classes: '<=50K', '>50K'>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
        sample_weight=sample_weight,
    )
    if isinstance(frame, pd.DataFrame):
        return pair_frame(frame, columns, row=row, by=by, dropna=dropna, observed=observed)
    if model is None:
        ask = partial(question_of_pairs, columns=columns, row=row, by=by)
        question, found = _combined(frame, ask)
        return pairs_in_columns(found, question, dropna=dropna, observed=observed)
    engine = _engine_of(frame)
    with _naming_the_extra(engine.package, engine.extra):
        return engine.pairs_in_rows(
            frame, columns, row=row, by=by, dropna=dropna, observed=observed
        )


def count_batches(
    batches: Iterable[Any],
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] | None = None,
    by: Any = None,
    model: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    sample_weight: Hashable | None = None,
    dropna: bool = False,
    observed: bool = True,
) -> ConfusionCounts:
    """Counts of a stream of frames, in constant memory: each is counted, added up and forgotten.

    Parameters
    ----------
    batches : iterable of frames
        Frames of any engine that `count` takes, with the same columns: what
        ``pd.read_csv(..., chunksize=...)`` gives, record batches, shards.
    y_true, y_pred, by, model, labels, abstain, pos_label, missing, y_score, threshold, \
sample_weight, dropna, observed
        As in `count`; `by` names columns.

    Returns
    -------
    ConfusionCounts
        The same as from one frame of all rows.

    Raises
    ------
    ColumnError, InputError, KindError
        As in `count`; InputError also if there is no batch at all, KindError if this is one frame.

    Examples
    --------
    >>> import pandas as pd, pandas_tba as tba
    >>> days = [pd.DataFrame({"y_true": [0, 1], "y_pred": [0, 0]}) for day in range(3)]
    >>> tba.count_batches(days)
    <ConfusionCounts: 6 rows, 2 classes: 0, 1>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
        sample_weight=sample_weight,
    )
    _check_batches(batches)
    ask = partial(question_of, columns=columns, by=by)
    found = added_up(_combined(batch, ask) for batch in batches)
    if found is None:
        raise InputError("`batches` is empty: nothing says which columns there would be.")
    return counts_of(found[1], found[0], dropna=dropna, observed=observed)


def _check_batches(batches: Any) -> None:
    """KindError unless these are several frames: of one frame, iteration gives columns or names."""
    is_frame = bool(_engine_of(batches).frames) and not hasattr(batches, "read_next_batch")
    is_iterable = hasattr(batches, "__iter__") or hasattr(batches, "__getitem__")
    if is_frame or not is_iterable or isinstance(batches, (str, bytes, Mapping)):
        raise KindError(
            f"`batches` must be an iterable of frames; got {type(batches).__name__}. One frame is "
            "counted by tba.count(frame), Parquet files by tba.count_parquet(path)."
        )


def count_parquet(
    source: Any,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] | None = None,
    by: Any = None,
    model: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    sample_weight: Hashable | None = None,
    dropna: bool = False,
    observed: bool = True,
    progress: bool = False,
) -> ConfusionCounts:
    """Counts of Parquet files of any size, in constant memory.

    Only the columns that are named are read. Folders such as ``day=2024-01-31`` are columns.

    Parameters
    ----------
    source : path, list of paths, or pyarrow.dataset.Dataset
        Files, or a folder of them.
    y_true, y_pred, by, model, labels, abstain, pos_label, missing, y_score, threshold, \
sample_weight, dropna, observed
        As in `count`; `by` names columns.
    progress : bool, default False
        Whether to show a bar, where tqdm is installed (``pandas-tba[progress]``).

    Returns
    -------
    ConfusionCounts
        The same as from one frame of all rows.

    Raises
    ------
    ColumnError, InputError, KindError
        As in `count`. InputError also names the file and the row group that cannot be read, a file
        that is reached twice, as through a link, and a column that files hold in different types.
    FileNotFoundError
        If there is no such file.
    ModuleNotFoundError
        If PyArrow is not installed.

    Examples
    --------
    >>> import tempfile, pandas_tba as tba
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tba.load_income().to_parquet(f"{folder}/income.parquet")
    ...     tba.count_parquet(folder, y_pred="forest", by="sex")
    <ConfusionCounts: 4,000 rows, 2 groups by 'sex', 2 classes: '<=50K', '>50K'>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
        sample_weight=sample_weight,
    )
    check_flag("progress", progress)
    with _naming_the_extra("Parquet", "parquet"):
        ask = partial(question_of, columns=columns, by=by)
        question, found = combinations_of_parquet(source, ask, bar=tqdm_bar if progress else None)
    return counts_of(found, question, dropna=dropna, observed=observed)
