"""Small frames that the tests of errors and warnings ask."""

import pandas as pd
from pandas.testing import assert_frame_equal

PURE = {"y_true": [1, 1, 0, 0], "y_pred": [1, 1, 0, 0]}
TEXT = {"y_true": [*"abab"], "y_pred": [*"abab"]}


def frame_of(**columns):
    """Four rows and a group, with some columns replaced or added; None leaves one out."""
    plain = {"y_true": [1, 0, 1, 0], "y_pred": [1, 0, 0, 0], "segment": [*"aabb"]}
    held = {name: values for name, values in {**plain, **columns}.items() if values is not None}
    return pd.DataFrame(held)


def doubled(*names):
    return pd.DataFrame([[1] * len(names)] * 2, columns=names)


def made(columns):
    frame = columns if isinstance(columns, pd.DataFrame) else frame_of(**columns)
    frame.attrs["source"] = {"file": "x.csv"}
    return frame


def assert_untouched(frame, before):
    assert_frame_equal(frame, before)
    assert frame.attrs == before.attrs == {"source": {"file": "x.csv"}}
    assert frame.dtypes.equals(before.dtypes)
