"""Whatever text a label, key, model or column is, answers are those of plain text in its place."""

import inspect
import warnings
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import pandas_tba as tba

mpl.use("agg")
N = 60
MARKS = {"half a character": "\udc80", "a NUL": "\0", "markup": "<b>$_{", "a line": "\n%s"}
# what bears the mark: values, then names of columns
PARTS = ["label", "key", "model", "key name", "wide model", "column name"]

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def words(mark, texts):
    return np.array([mark + text for text in texts], dtype=object)


def asked(part, mark):
    """Doors to the same rows whose names or values begin with the mark."""
    rng = np.random.default_rng(1)
    of = {one: mark if one == part or part == "all" else "" for one in PARTS}
    labels = words(of["label"], "abc")
    truth = rng.integers(0, 3, N)
    first, second = (np.where(rng.random(N) < 0.6, truth, rng.integers(0, 3, N)) for _ in "12")
    y, g, h = of["column name"] + "y", of["key name"] + "g", of["key name"] + "h"
    p, q = of["wide model"] + "p", of["wide model"] + "q"
    columns = {
        y: labels[truth],
        p: labels[first],
        q: labels[second],
        g: words(of["key"], "uvw")[rng.integers(0, 3, N)],
        h: pd.Categorical.from_codes(
            rng.integers(0, 2, N), pd.Index(words(of["key"], "zx"), dtype=object)
        ),
        **dict(zip([p + "s", q + "s", "rest"], rng.dirichlet([1, 1, 1], N).T, strict=True)),
        "two": words(of["label"], "no")[rng.integers(0, 2, N)],
        "row": np.arange(N),
    }
    frame = frame_of(columns)
    who = of["column name"] + "who"
    models = [
        {**columns, p: columns[name], who: np.full(N, of["model"] + text, dtype=object)}
        for name, text in ((p, "m"), (q, "n"))
    ]
    long = {name: np.concatenate([part[name] for part in models]) for name in models[0]}
    scores = [p + "s", q + "s"]
    return SimpleNamespace(
        frame=frame, scores_of=scores, labels=labels, y=y, p=p, by=[g, h], groups=words(of["key"], "uv"),
        one=frame.tba(y_true=y, y_pred=p),
        wide=frame.tba(y_true=y, y_pred=[p, q]),
        long=frame_of(long).tba(y_true=y, y_pred=p, model=who, row="row"),
        scores=frame.tba(y_true="two", y_score=scores, pos_label=of["label"] + "n"),
        # faults: labels that are missing, and some that are not expected
        holed=frame_of({**columns, p: np.where(truth == 1, None, columns[p])}).tba(
            y_true=y, y_pred=p, labels=labels[1:]
        ),
    )  # fmt: skip


def frame_of(columns):
    held = pd.concat([pd.Series(column, dtype=column.dtype) for column in columns.values()], axis=1)
    return held.set_axis(pd.Index(list(columns), dtype=object), axis=1)


def reported(found):
    for text in (found.to_html(), found.to_markdown(), repr(found)):
        text.encode()
    return [found.to_frame(section) for section in ("overall", "groups")]


def drawn(picture):
    figure = np.ravel(np.array(picture, dtype=object))[0].figure
    figure.canvas.draw()
    mpl.pyplot.close(figure)
    return type(picture)


def fault(ask):
    with pytest.raises(tba.InputError) as caught:
        ask()
    found = caught.value.failure_cases
    return str(caught.value), None if found is None else found.to_numpy().tolist()


MATRICES, DRAWS = [[[8, 2], [1, 9]], [[7, 3], [4, 6]]], {"n_replicates": 20, "generator": 1}
TABLES = ["score", "metrics", "per_class", "confusion_matrix", "undefined", "bounds", "interval"]
ASKS = {
    **{name: lambda to, name=name: getattr(to.wide, name)(by=to.by) for name in TABLES},
    "posterior": lambda to: to.wide.posterior(by=to.by[0]),
    "compare": lambda to: [door.compare(by=to.by) for door in (to.wide, to.long)],
    "disparity": lambda to: to.long.disparity(by=to.by[0], reference=to.groups[0]),
    "gap": lambda to: to.wide.gap(by=to.by, **DRAWS),
    "check": lambda to: to.wide.check(by=to.by, max_gap=0.1).table,
    "slices": lambda to: to.wide.slices(by=to.by),
    "choose_t": lambda to: to.one.choose_t(by=to.by, cost=dict(zip(to.labels, [1, 2, 4], strict=True))),
    "crossings": lambda to: [to.long.crossings(by=to.by), to.one.crossings(by=to.by, between="groups")],
    "diagnose": lambda to: to.one.diagnose(by=to.by),
    "sweep": lambda to: to.scores.sweep(by=to.by),
    "best_threshold": lambda to: to.scores.best_threshold(by=to.by),
    "decide": lambda to: to.frame.tba(
        y_true=to.y, y_score=dict(zip(to.labels, [*to.scores_of, "rest"], strict=True))
    ).decide(t=0),
    "report": lambda to: reported(to.wide.report(by=to.by[0])),
    "count": lambda to: [door.counts(by=to.by) for door in (to.one, to.wide, to.long, to.scores)],
    "count_pairs": lambda to: repr(tba.count_pairs(to.frame, y_true=to.y, y_pred=[to.p, "two"])),
    "count_batches": lambda to: tba.count_batches(
        [to.frame[:20], to.frame[20:]], y_true=to.y, y_pred=[to.p], by=to.by
    ),
    "from_table": lambda to: [
        tba.ConfusionCounts.from_table(door.counts(by=to.by).to_table())
        for door in (to.one, to.wide, to.long)
    ],
    "from_matrix": lambda to: [
        tba.ConfusionCounts.from_matrix(MATRICES, labels=to.labels[:2], groups=groups)
        for groups in (to.groups, list(zip(to.groups, [1, 2], strict=True)))
    ],
    "crosstab": lambda to: tba.ConfusionCounts.from_matrix(
        pd.DataFrame(MATRICES[0], *[pd.Index(to.labels[:2], dtype=object)] * 2)
    ),
    "adding": lambda to: to.one.counts(by=to.by) + to.one.counts(by=to.by),
    "tempered_balanced_accuracy_score": lambda to: tba.tempered_balanced_accuracy_score(
        to.frame[to.y].tolist(), to.frame[to.p].to_numpy()
    ),
    "schema": lambda to: tba.schema(y_true=to.y, y_pred=to.p).validate(to.frame),
    "validate": lambda to: [door.validate() for door in (to.one, to.wide, to.long)],
    "faults": lambda to: [fault(to.holed.validate), fault(to.holed.score)],
    "repr": lambda to: repr(to.wide),
    "plot_curve": lambda to: drawn(to.wide.plot.curve(by=to.by)),
    "plot_confusion": lambda to: drawn(to.wide.plot.confusion(by=to.by[0])),
    "plot_groups": lambda to: drawn(to.wide.plot.groups(by=to.by)),
    "plot_compare": lambda to: drawn(to.wide.plot.compare(by=to.by)),
    "plot_slices": lambda to: drawn(to.one.plot.slices(by=to.by)),
    "plot_sweep": lambda to: drawn(to.scores.plot.sweep(by=to.by[0])),
}  # fmt: skip
QUICK = [name for name in ASKS if name != "report" and not name.startswith("plot")]
TAKE_NO_TEXT = {"class_weights", "f_beta", "load_income", "t_from_cost_ratio", "t_from_entropy",
                "tempered", "count_parquet"}  # fmt: skip


def metadata(found, mark):
    """All that an answer says, without the mark as it is, and as a repr shows it."""
    if isinstance(found, list):
        return [metadata(part, mark) for part in found]
    if isinstance(found, tba.ConfusionCounts):
        return metadata([found.to_table(), repr(found)], mark)
    said = [found]
    if isinstance(found, (pd.DataFrame, pd.Series)):
        columns = found.columns.tolist() if found.ndim == 2 else [found.name]
        values = found.astype(object).to_numpy().tolist()
        said = [found.attrs, columns, list(found.index.names), found.index.tolist(), values]
    text = repr(said)
    escaped = repr(mark)[1:-1]
    for form in (repr(repr(escaped)[1:-1])[1:-1], repr(escaped)[1:-1], escaped, mark):
        text = text.replace(form, "")
    return text


@pytest.fixture(scope="module")
def plain():
    doors = asked(None, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return {name: metadata(ask(doors), "\0\0") for name, ask in ASKS.items()}


CASES = [("half a character", part) for part in PARTS] + [(name, "all") for name in MARKS]


@pytest.mark.parametrize(("name", "part"), CASES)
def test_no_text_changes_an_answer(plain, name, part):
    mark = MARKS[name]
    doors = asked(part, mark)
    for question in ASKS if part == "all" else QUICK:
        assert metadata(ASKS[question](doors), mark) == plain[question], question


def test_every_public_function_is_asked():
    functions = {name for name in tba.__all__ if inspect.isfunction(getattr(tba, name))}
    assert functions - TAKE_NO_TEXT <= set(ASKS)


def test_labels_that_differ_in_unicode_form_are_shown_by_their_code_points():
    frame = pd.DataFrame({"y_true": ["\xe9", "a"], "y_pred": ["e\u0301", "a"]})
    with pytest.warns(tba.InputWarning) as caught:
        frame.tba.score(t=1)
    assert (
        "'e\\u0301' and '\\xe9' look alike and differ in Unicode form; write both columns with "
        ".str.normalize('NFC')."
    ) in str(caught[0].message)
