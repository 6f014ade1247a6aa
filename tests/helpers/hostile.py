"""Names that must be shown as they are and do nothing, in every output."""

import pandas as pd

import pandas_tba as tba  # noqa: F401 - registers df.tba

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><!--",
    "$x_1$ | *a* `b` [c](d)",
    "שלום עולם",
    "long name " * 30 + "end",
]
TITLE = "</title><script>alert('title')</script> & $t$"


def hostile_frame():
    """Hostile labels, groups, models and columns; the last group lacks all classes but one."""
    rows = [
        (truth, NAMES[(at + step) % 3 if step % 4 == 0 else at], NAMES[at], NAMES[group])
        for group in range(len(NAMES))
        for at, truth in enumerate(NAMES[:3])
        for step in range(8)
        if group < 5 or at == 0
    ]
    return pd.DataFrame(rows, columns=["y_true", NAMES[0], NAMES[3], NAMES[1]])


def hostile_report(**asked):
    door = hostile_frame().tba(y_pred=[NAMES[0], NAMES[3]])
    return door.report(by=NAMES[1], title=TITLE, **asked)
