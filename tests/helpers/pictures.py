"""Plots of all kinds, and what each shows in words and numbers, to be compared with a baseline."""

import json
import re
import warnings
from pathlib import Path

import make_gallery
import numpy as np
import pandas as pd
from hostile import NAMES, hostile_frame
from matplotlib import cbook
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.lines import Line2D
from matplotlib.text import Text

import pandas_tba as tba

FOLDER = Path(__file__).parents[1] / "plots" / "baselines"
MODELS = ["logit", "balanced", "forest"]
SHARES = {"<=50K": 0.9, ">50K": 0.1}
MOST_POINTS = 50  # of a line or area that are kept
TOLERANCE = {"rtol": 1e-6, "atol": 1e-9}
DIGITS = 8  # so that rounding is well within the tolerance


# The plots


def income(**asked):
    return tba.load_income().tba(**{"y_pred": "forest", "labels": ["<=50K", ">50K"]} | asked).plot


def weighted():
    frame = tba.load_income().assign(w=0.25 + np.arange(4000) % 7)
    return frame.tba(y_pred="forest", sample_weight="w").plot


def hostile(*models):
    return hostile_frame().tba(y_pred=list(models) or NAMES[0]).plot


def scored():
    """Scores that are no probabilities; nobody in the last group is positive."""
    truth, score = [0, 1, 0, 1, 1, 0, 1, 0, 0], [-1.5, 2, 0, 0.5, 0.5, 3, 1, 0.25, 0.75]
    frame = pd.DataFrame({"y_true": truth, "s": score, "g": [*"aaabbbcdd"]})
    return frame.tba(y_score="s", pos_label=1).plot


def one_class():
    return pd.DataFrame({"y_true": ["only"] * 8, "y_pred": ["only"] * 7 + ["other"]}).tba.plot


def no_rows():
    return tba.load_income().iloc[:0].tba(y_pred="forest", labels=["<=50K", ">50K"]).plot


def abstaining():
    """No row is truly of class c, and a label that is no class may be predicted."""
    frame = pd.DataFrame({"y_true": [*"aaabb"], "y_pred": [*"aab?b"]})
    return frame.tba(labels=[*"abc"], abstain=["?"]).plot


def crossing():
    """Five groups of three classes that swap rank twelve times."""
    hits = [(91, 14, 6), (82, 24, 4), (90, 24, 2), (74, 13, 9), (61, 24, 7)]
    matrices = [[[a, 100 - a, 0], [0, b, 30 - b], [10 - c, 0, c]] for a, b, c in hits]
    groups = pd.Index([*"vwxyz"], name="group")
    return tba.ConfusionCounts.from_matrix(matrices, labels=[*"abc"], groups=groups)


def many_labels():
    matrix = np.add.outer(np.arange(25), np.arange(25)) % 7 + 40 * np.eye(25, dtype=int)
    return tba.ConfusionCounts.from_matrix(matrix, labels=[f"label {at}" for at in range(25)])


def on_given_axes():
    left, right = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")[1]
    income(y_pred=MODELS).curve(ax=left)
    income(y_pred=MODELS).groups(t=0, ax=right)


NASTY = {
    "curve-one-class": lambda: one_class().curve(),
    "curve-no-rows": lambda: no_rows().curve(),
    "curve-eight-groups": lambda: income().curve(by=np.arange(4000) % 8, prevalence=SHARES),
    "curve-undefined": lambda: income().curve(by=["race", "age_group", "sex"]),
    "curve-pooled": lambda: income().curve(by=["race", "age_group"], prevalence="pooled"),
    "curve-crossings": lambda: tba.plot_curve(crossing(), prevalence="pooled"),
    "curve-weights": lambda: weighted().curve(by="sex"),
    "curve-names": lambda: hostile().curve(by=NAMES[1]),
    "curve-names-in-panels": lambda: hostile(NAMES[0], NAMES[3]).curve(by=NAMES[1]),
    "on-given-axes": on_given_axes,
    "groups-undefined": lambda: income().groups(by=["race", "age_group", "sex"], t=0, most=12),
    "groups-of-models": lambda: income(y_pred=MODELS).groups(by="sex", level=0.9, method="mover"),
    "groups-weights": lambda: weighted().groups(by="education", prevalence="pooled"),
    "groups-names": lambda: hostile().groups(by=NAMES[1], t=0),
    "slices-of-models": lambda: income(y_pred=MODELS).slices(by=["sex", "age_group"], t=0, most=5),
    "slices-names": lambda: hostile().slices(by=[NAMES[1]], t=0),
    "compare-undefined": lambda: income(y_pred=MODELS).compare(
        by=["race", "age_group"], t=0, level=0.9, small=40, most=9
    ),
    "compare-names": lambda: hostile(NAMES[0], NAMES[3]).compare(by=NAMES[1], t=0),
    "confusion-abstain": lambda: abstaining().confusion(),
    "confusion-25-labels": lambda: tba.plot_confusion(many_labels()),
    "confusion-weights": lambda: weighted().confusion(),
    "confusion-names": lambda: hostile().confusion(by=NAMES[1]),
    "sweep-undefined": lambda: scored().sweep(by="g"),
    "sweep-many-t": lambda: scored().sweep(t=[-1, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 2]),
}
PICTURES = {picture.name: picture.draw for picture in make_gallery.PICTURES} | NASTY


def drawn(name):
    """Draw a plot; what the library warns of is tested elsewhere."""
    plt.close("all")
    with warnings.catch_warnings():
        for kind in (tba.InputWarning, tba.UndefinedWarning):
            warnings.simplefilter("ignore", kind)
        PICTURES[name]()
    return plt.gcf()


# What a plot shows


def described(figure):
    """All that is on a figure, as values that JSON has."""
    return _shown(
        title=figure.get_suptitle(),
        formulas=[text.get_text() for text in figure.findobj(Text) if _is_formula(text)],
        inches=_numbers(figure.get_size_inches()),
        axes=[_axes(ax) for ax in figure.axes],
    )


def _axes(ax):
    titles = [ax.get_title(loc=place) for place in ("left", "center", "right")]
    legend = ax.get_legend()
    return _shown(
        title="\n".join(filter(None, titles)),
        x=_axis(ax.xaxis, 0),
        y=_axis(ax.yaxis, 1),
        lines=[_look(line) | _points(*line.get_data()) for line in ax.lines],
        collections=[_collection(collection) for collection in ax.collections],
        patches=[_look(patch) | _area(patch) for patch in ax.patches],
        images=[_image(image) for image in ax.images],
        texts=[_text(text) for text in ax.texts],
        legend=legend and _entries(legend),
    )


def _axis(axis, side):
    limits = axis.get_view_interval()  # the second is lower where the axis is turned round
    low, high = sorted(limits)
    ticks = axis.get_majorticklabels()
    return _shown(
        label=axis.get_label_text(),
        limits=_numbers(limits),
        ticks=[tick.get_text() for tick in ticks if low <= tick.get_position()[side] <= high],
        turned=(ticks and ticks[0].get_rotation()) or None,
    )


def _look(artist):
    if not isinstance(artist, Line2D):
        return _shown(
            fill=_colours(artist.get_facecolor()),
            edge=_colours(artist.get_edgecolor()),
            width=_numbers(artist.get_linewidth()),
            order=artist.get_zorder(),
        )
    look = _shown(
        colour=_colours(artist.get_color(), artist.get_alpha()),
        width=artist.get_linewidth(),
        dashes=_dashes(artist),
        steps=artist.get_drawstyle().replace("default", ""),
        order=artist.get_zorder(),
    )
    if artist.get_marker() == "None":
        return look
    return look | _shown(
        marker=artist.get_marker(),
        fill=_colours(artist.get_markerfacecolor()),
        edge=_colours(artist.get_markeredgecolor()),
        size=artist.get_markersize(),
        every=artist.get_markevery(),
    )


def _dashes(line):
    """What is on and off, in points; matplotlib tells it under a private name alone."""
    if line.get_linestyle() == "None":
        return "none"
    return " ".join(f"{length:.4g}" for length in line._dash_pattern[1] or []) or "solid"


def _collection(collection):
    if isinstance(collection, QuadMesh):  # the colour bar
        return {"kind": "mesh", "colours": collection.cmap.name}
    kind = "segments" if isinstance(collection, LineCollection) else "areas"
    corners = [path.vertices for path in collection.get_paths()] or [np.empty((0, 2))]
    return {"kind": kind} | _look(collection) | _points(*np.concatenate(corners).T)


def _area(patch):
    """Where it ends: what is a polygon to one matplotlib is a rectangle to the next."""
    box = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
    return {"area": _numbers(box)}


def _image(image):
    values = np.ma.filled(image.get_array().astype(float), np.nan)
    return {
        "colours": image.cmap.name,
        "limits": _numbers(image.get_clim()),
        "area": _numbers(image.get_extent()),
        "rows": [_numbers(row) for row in values],
    }


def _text(text):
    to = getattr(text, "arrow_patch", None) and text.xy
    return _shown(
        text=text.get_text(),
        colour=_colours(text.get_color()),
        size=text.get_fontsize(),
        at=_numbers(text.get_position()),
        line_to=to and _numbers(to),
    )


def _entries(legend):
    pairs = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return [{"text": text.get_text()} | _look(handle) for text, handle in pairs]


def _is_formula(text):
    return text.get_usetex() or (text.get_parse_math() and cbook.is_math_text(text.get_text()))


def _colours(colours, alpha=None):
    """One colour, or a list of several."""
    found = [to_hex(one, keep_alpha=True) for one in to_rgba_array(colours, alpha)]
    return found[0] if len(found) == 1 else found


def _points(x, y):
    """Points of a line or area; of many not every one, but the number and sums of all."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    step = 1 + len(x) // MOST_POINTS
    kept = {"x": _numbers(x[::step]), "y": _numbers(y[::step])}
    sums = _numbers([np.nansum(x), np.nansum(y)])
    return kept if step == 1 else kept | {"points": len(x), "sums": sums}


def _numbers(values):
    return [_number(value) for value in np.ravel(values)]


def _number(value):
    if np.isnan(value):
        return None
    if abs(value) < TOLERANCE["atol"]:
        return 0
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _shown(**parts):
    """The parts that there are."""
    return {name: part for name, part in parts.items() if part not in (None, "", [])}


# Baselines


def as_text(shown):
    """JSON, with short lists on one line."""
    text = json.dumps(shown, indent=1, ensure_ascii=False, allow_nan=False)
    return re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\n *", "", found[0]), text) + "\n"


def differences(was, now, place=""):
    """Say what of a plot is not as in its baseline."""
    if _is_numeric(was) and _is_numeric(now):
        yield from _numeric_differences(was, now, place)
    elif isinstance(was, dict) and isinstance(now, dict):
        for name in was | now:
            inner = f"{place}, {name}" if place else name
            yield from differences(was.get(name), now.get(name), inner)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for at, pair in enumerate(zip(was, now, strict=True), start=1):
            yield from differences(*pair, f"{place} {at}")
    elif was != now:
        yield f"{place}: {_brief(now)}; the baseline has {_brief(was)}"


def _is_numeric(value):
    parts = value if isinstance(value, list) else [value]
    return parts != [None] and all(isinstance(part, (int, float, type(None))) for part in parts)


def _numeric_differences(was, now, place):
    old, new = (np.array(numbers, dtype=float, ndmin=1) for numbers in (was, now))
    if old.shape != new.shape:
        yield f"{place}: {len(new)} numbers; the baseline has {len(old)}"
        return
    others = np.flatnonzero(~np.isclose(new, old, **TOLERANCE, equal_nan=True))
    if len(others):
        at = others[0]
        where = f", number {at + 1} of {len(old)}" if len(old) > 1 else ""
        more = f" ({len(others)} differ)" if len(others) > 1 else ""
        yield f"{place}{where}: {new[at]:.8g}; the baseline has {old[at]:.8g}{more}"


def _brief(part):
    if part is None:
        return "none"
    return f"{len(part)} of them" if isinstance(part, (list, dict)) else repr(part)
