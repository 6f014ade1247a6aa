"""What counting costs for each dtype: 20 groups, 3 labels, all columns of that dtype.

python tests/benchmarks/dtypes.py [--rows 10_000_000] [--rounds 5] [--only DTYPE] [--markdown]

Booleans have 2 labels, and keys of int8.  Temporaries are those that numpy and pandas report; what
Arrow takes is not seen.
"""

import argparse
import tracemalloc
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from run import FEW_ROWS, KEYS, frame_of, raced

import pandas_tba  # noqa: F401  registers df.tba

NAMES = pd.Index([f"name {at}" for at in range(20)])
DAYS = pd.date_range("2024-01-01", periods=20).to_numpy()


class Row(NamedTuple):
    """What one dtype cost, and the most bytes a row that it may take, if there is a bar."""

    dtype: str
    nanoseconds: float
    ratio: float
    temporaries: float
    bar: float | None

    def cells(self):
        numbers = (f"{self.nanoseconds:.2f}", f"{self.ratio:.1f} x", f"{self.temporaries:.2f}")
        if self.bar is None:
            return (self.dtype, *numbers, "", "")
        held = "pass" if self.temporaries <= self.bar else "above"
        return (self.dtype, *numbers, f"<= {self.bar:g}", held)


def numbers(dtype):
    return lambda codes: codes.astype("int8").astype(dtype)


def booleans(dtype):
    return lambda codes: codes.astype("int8") if codes.name == "g" else (codes > 0).astype(dtype)


def text(dtype):
    return lambda codes: pd.Series(pd.Categorical.from_codes(codes, NAMES)).astype(dtype)


def dictionary(codes):
    held = pa.DictionaryArray.from_arrays(pa.array(codes.to_numpy(np.int32)), pa.array(NAMES))
    return pd.Series(pd.arrays.ArrowExtensionArray(held))


# how a column of codes becomes one of the dtype, and the bar
DTYPES = {
    "bool": (booleans("bool"), 4),
    "boolean": (booleans("boolean"), 16),
    "int8": (numbers("int8"), 4),
    "int64": (numbers("int64"), 4),
    "Int64": (numbers("Int64"), 16),
    "float64": (numbers("float64"), 16),
    "object": (text("object"), None),
    "str": (text("str"), None),
    "string[python]": (text("string[python]"), None),
    "string[pyarrow]": (text("string[pyarrow]"), None),
    "Arrow string": (text(pd.ArrowDtype(pa.string())), None),
    "Arrow dictionary": (dictionary, None),
    "category": (text("category"), 4),
    "datetime64": (lambda codes: pd.Series(DAYS[codes]), None),
}


def measured(dtype, n_rows, rounds):
    """The row of one dtype."""
    make, bar = DTYPES[dtype]
    check(frame_of_dtype(make, FEW_ROWS))
    frame = frame_of_dtype(make, n_rows)
    seconds = raced(contenders(frame), rounds)
    tracemalloc.start()
    frame.tba.counts(by="g")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ours = seconds["ours"]
    return Row(dtype, 1e9 * ours / n_rows, seconds["groupby"] / ours, peak / n_rows, bar)


def frame_of_dtype(make, n_rows):
    codes = frame_of("int64", n_rows, len(NAMES))
    return pd.DataFrame({name: make(codes[name]) for name in KEYS})


def contenders(frame):
    return {
        "ours": lambda: frame.tba.counts(by="g"),
        "groupby": lambda: frame.groupby(KEYS, observed=True).size(),
    }


def check(frame):
    """Refuse to time contenders that do not count the same."""
    counts, groupby = (contender() for contender in contenders(frame).values())
    ours, theirs = (
        {tuple(map(str, key)): n for key, n in found.items()}
        for found in (counts.to_table().set_index(KEYS)["n"], groupby)
    )
    if ours != theirs:
        raise SystemExit("The contenders do not count the same.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=DTYPES)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    line = (
        "| {} | {} | {} | {} | {} | {} |" if options.markdown else "{:<18}" + "{:>22}" * 4 + "  {}"
    )
    titles = ("Dtype", "ns a row", "groupby.size / ours", "bytes a row", "Bar", "Held")
    print(line.format(*titles))
    if options.markdown:
        print("| --- | --: | --: | --: | --: | --- |")
    for dtype in DTYPES:
        if options.only in (None, dtype):
            row = measured(dtype, options.rows, options.rounds)
            print(line.format(*row.cells()), flush=True)


if __name__ == "__main__":
    main()
