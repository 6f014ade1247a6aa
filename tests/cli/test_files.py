"""Files of predictions counted: Parquet and Feather as streams, that say what their frames say."""

import datetime
import decimal
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from predictions import FRAME, GUESS, HOLED, TRUTH, N, assert_same

import pandas_tba as tba
from pandas_tba.cli import files, reading
from pandas_tba.cli import main as command
from pandas_tba.cli.files import count_file, label_of
from pandas_tba.cli.main import main
from pandas_tba.engines import streams
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.engines.parquet import check_batch
from pandas_tba.frames.columns import Columns
from pandas_tba.reports.report import pairs_of_models

pa = pytest.importorskip("pyarrow")
# pandera imports pyspark where it is installed, which warns of pandas 3
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

CASES = FRAME.assign(case=np.arange(N) // 2, gone=HOLED["y_pred"])
STREAMS = ["parquet", "feather", "folder"]


def written(folder, kind, frame=CASES):
    path = folder / f"x.{kind}"
    if kind == "folder":
        path.mkdir()
        for at, part in enumerate((frame.iloc[:7], frame.iloc[7:])):
            part.to_parquet(path / f"{at}.parquet", index=False)
    elif kind == "feather":
        frame.to_feather(path, chunksize=11)
    else:
        frame.to_parquet(path, row_group_size=11)
    return path


def counted_frame(path, columns, by, *, paired):
    """The witness: the same file as a frame, counted as ``df.tba`` counts it."""
    frame = pd.read_feather(path) if path.suffix == ".feather" else pd.read_parquet(path)
    found = [frame[name].dropna().unique() for name in files._labels(columns)]
    known = {str(label): label for labels in found for label in labels.tolist()}
    columns = files._with_labels(columns, known)
    counts = count_frame(frame, columns, by=by or None)
    return files.Counted(counts, pairs_of_models(frame, columns) if paired else None, known)


def said(capsys, words):
    """Exit code, output and errors of a command."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err.rstrip("\n")


def both(capsys, words):
    """What a command says of a stream and of the frame of its file."""
    stream = said(capsys, words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "count_file", counted_frame)
        return stream, said(capsys, words)


GOOD = {
    "all rows": "report",
    "groups": "report --by segment year",
    "groups of fractions": "report --by share",
    "models in columns": "report --y-pred y_pred other --by segment --t -1 0 inf",
    "one model": "report --y-pred other",
    "models in rows": "report --model name --by segment",
    "models in rows, paired": "report --model name --row case --y-true case --y-pred case",
    "weights": "report --weight w --by segment",
    "weighted models": "report --weight w --y-pred other y_pred --prevalence pooled",
    "scores": "report --y-true yes --y-score p q --by year",
    "scores and a threshold": "report --y-true yes --y-score p --threshold 0.3",
    "missing left out": "report --y-pred gone other --missing drop",
    "labels": "report --labels c b a --title Three",
    "abstaining": "report --labels a b c d --abstain e f",
    "a positive class": "report --y-true yes --y-score p --pos-label False",
    "shares": "report --y-pred y_pred other --prevalence a=1 b=2 c=3",
    "a rule": "check --by segment --max-gap 0.9",
    "rules that are broken": "check --by segment year --min-score 0.9 --min-ratio 1 --t 0",
    "rules on models": "check --by segment --y-pred y_pred other --max-gap 0 --prevalence own",
    "rules on another metric": "check --y-true yes --y-score p --by name --max-gap 1 --metrics recall fpr",
    "small groups": "check --by segment year --max-gap 0.5 --min-support 3",
}
BAD = {
    "no column": "report --y-pred forest",
    "no group": "report --by segmnt",
    "a group twice": "report --by year year",
    "a group of models": "report --model name --by name",
    "models named twice": "report --y-pred other other",
    "models in columns and rows": "report --model name --y-pred y_pred other",
    "a row of no model": "report --row case --y-pred y_pred other",
    "cases that repeat": "report --model segment --row year",
    "text as weights": "report --weight name",
    "bad weights": "report --weight bad",
    "text as scores": "report --y-true yes --y-score name",
    "scores as labels": "report --y-true yes --y-pred p",
    "no positive class": "report --y-score p",
    "a threshold of labels": "report --threshold 0.3",
    "missing": "report --y-pred gone other",
    "text against numbers": "report --y-pred year",
    "labels that are not all": "report --labels a b",
    "labels twice": "report --labels a a b c",
    "to abstain from a class": "report --abstain b",
    "positive of three": "report --pos-label a",
    "shares of other labels": "report --prevalence a=1 z=1",
    "rules without a positive class": "check --by year --max-gap 0.1 --metrics recall",
    "a limit": "check --by year --max-gap 2",
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("case", [*GOOD, *BAD])
def test_a_stream_says_what_its_frame_says(capsys, tmp_path, kind, case):
    frame = CASES.assign(bad=FRAME["w"].where(np.arange(N) % 9 > 0, -1.5))
    command, *words = (GOOD | BAD)[case].split()
    stream, frames = both(capsys, [command, written(tmp_path, kind, frame), *words])
    if case in ("no column", "no group"):  # the file is spoken of, not a frame
        assert stream[2].startswith(f"pandas-tba: x.{kind} has no column ")
    else:
        assert stream == frames
    assert (stream[0] == 3) is (case in BAD)


def labelled(*values):
    """The frame with three values as labels, whatever dtype they have."""
    held = pd.Series(values)
    columns = {"y_true": TRUTH, "y_pred": GUESS, "other": GUESS[::-1]}
    return CASES.assign(**{name: held.take(at).array for name, at in columns.items()})


def as_dtype(frame, dtype):
    return frame.astype(dict.fromkeys(("y_true", "y_pred", "other"), dtype))


DAYS = [datetime.date(2024, month, 29) for month in (1, 2, 3)]
TIMES = pd.to_datetime(DAYS)
NUMBERS = labelled(3, 1, 2)
LABELS = {
    "text": CASES,
    "texts of numbers": labelled("10", "9", "1"),
    "whole numbers": NUMBERS,
    "numbers": labelled(3.0, 1.0, 2.0),
    "fractions": labelled(0.5, 1.0, 2.0),
    "small numbers": as_dtype(NUMBERS, "int8"),
    "nullable numbers": as_dtype(NUMBERS, "Int64"),
    "categories": as_dtype(CASES, pd.CategoricalDtype([*"czba"])),
    "categories of numbers": as_dtype(NUMBERS, "category"),
    "days": labelled(*DAYS),
    "days as categories": as_dtype(labelled(*DAYS), "category"),
    "times": labelled(*TIMES),
    "times of a zone": labelled(*TIMES.tz_localize("Europe/Paris")),
    "durations": labelled(*pd.to_timedelta([1, 2, 3], "h")),
    "periods": labelled(*TIMES.to_period("M")),
    "decimals": labelled(*map(decimal.Decimal, ("1.50", "2.25", "3.00"))),
}
PAIRS = {
    "booleans": labelled(False, True, True),
    "nullable booleans": as_dtype(labelled(False, True, True), "boolean"),
    "numbers 0 and 1": labelled(0, 1, 1),
    "numbers -1 and 1": labelled(-1, 1, 1),
    "booleans and numbers": labelled(False, True, True).assign(y_pred=(GUESS > 0) * 1),
    "yes and no": labelled("no", "yes", "yes"),
}


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", [*LABELS, *PAIRS])
def test_labels_are_written_as_they_are_shown(capsys, tmp_path, kind, name):
    # errors name labels in their order of occurrence, that of a stream with those of rows left out
    frame = (LABELS | PAIRS)[name].sort_values("y_true", ignore_index=True)
    frame["y_pred"] = frame["y_pred"].where(np.arange(N) % 11 > 0)
    path = written(tmp_path, kind, frame)
    labels = [str(label) for label in sorted(frame["y_true"].unique())]
    for words in (
        ["--labels", *labels[::-1], "--missing", "drop", "--by", "segment"],
        ["--labels", *labels[:-1], "--abstain", labels[-1], "--missing", "drop"],
        ["--pos-label", labels[0], "--missing", "drop", "--y-pred", "other", "y_pred"],
        ["--y-score", "p", "--pos-label", labels[-1]],
        ["--y-pred", "other", "--prevalence", *(f"{label}=1" for label in labels)],
        [],
    ):
        stream, frames = both(capsys, ["report", path, *words])
        stop = ", or give missing predictions"  # by a line of Python that the dtype decides
        assert stream[2].partition(stop)[0] == frames[2].partition(stop)[0]
        assert stream[:2] == frames[:2]
    is_good = said(capsys, ["report", path, "--labels", *labels, "--missing", "drop"])[0] == 0
    assert is_good


def test_a_label_that_does_not_occur_is_a_number_where_the_others_are(tmp_path):
    columns = Columns(labels=["1", "2", "3", "7", "x"])
    for kind in ("parquet", "feather"):
        counts = count_file(written(tmp_path, kind, NUMBERS), columns, [], paired=False).counts
        assert counts.labels.tolist() == [1, 2, 3, 7, "x"]


@pytest.mark.parametrize(
    ("text", "known", "label"),
    [
        ("1", {"0": 0, "1": 1}, 1),
        ("2", {"0": 0, "1": 1}, 2),
        ("2.5", {"0": 0, "1": 1}, 2.5),
        ("x", {"0": 0, "1": 1}, "x"),
        ("2", {"a": "a"}, "2"),
        ("9007199254740993", {"0": 0, "1": 1}, 2**53 + 1),
        ("123456789012345678901", {"0": 0, "1": 1}, 123456789012345678901),
        ("1e3", {"0": 0, "1": 1}, 1000),
        ("0.70", {"0.7": 0.7, "1.3": 1.3}, 0.7),
        ("True", {"True": True, "False": False}, True),
        ("a", {}, "a"),
    ],
)
def test_labels_are_those_of_the_file(text, known, label):
    found = label_of(text, known)
    assert (found, type(found)) == (label, type(label))


@pytest.mark.parametrize("index", [["y_true"], ["segment", "year"], ["w"]])
def test_what_pandas_had_as_index_is_a_column(tmp_path, index):
    path = tmp_path / "x.parquet"
    CASES.set_index(index).to_parquet(path)
    columns = Columns(y_pred=["y_pred", "other"])
    found = count_file(path, columns, ["segment", "year"], paired=True)
    assert_same(found.counts, count_frame(CASES, columns, by=["segment", "year"]))
    assert found.pairs.cells.tolist() == pairs_of_models(CASES, columns).cells.tolist()


def test_names_that_are_numbers_or_hold_dots(tmp_path):
    path = tmp_path / "x.parquet"
    frame = CASES[["y_true", "y_pred", "segment"]].set_axis([0, "a.b", "été"], axis=1)
    table = pa.Table.from_pandas(frame.rename(columns={0: "0"}))
    pa.parquet.write_table(table, path)
    columns = Columns(y_true="0", y_pred=["a.b", "0"])
    found = count_file(path, columns, ["été"], paired=True)
    names = {"0": "y_true", "a.b": "y_pred"}
    assert (
        found.counts.cells.tolist()
        == tba.count(CASES, y_pred=[names["a.b"], "y_true"], by="segment").cells.tolist()
    )
    assert len(found.pairs) == 1


def test_folders_name_columns(tmp_path):
    CASES.to_parquet(tmp_path / "x", partition_cols=["year", "name"])
    found = count_file(tmp_path / "x", Columns(model="name"), ["year"], paired=True)
    assert_same(found.counts, count_frame(CASES, Columns(model="name"), by=["year"]))


@pytest.mark.parametrize("kind", [*STREAMS, "csv", "csv.gz", "jsonl"])
@pytest.mark.parametrize("words", ["report", "check --by segment --max-gap 1"])
def test_files_without_rows_are_an_error(capsys, tmp_path, kind, words):
    empty, path = CASES.iloc[:0], tmp_path / f"x.{kind}"
    written(tmp_path, kind, empty) if kind in STREAMS else to_text(empty, path)
    command, *words = words.split()
    text = "holds no rows" if kind == "jsonl" else "has no rows to count"
    assert said(capsys, [command, path, *words]) == (3, "", f"pandas-tba: x.{kind} {text}.")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather"])
def test_files_whose_rows_are_all_left_out_are_an_error(capsys, tmp_path, kind):
    frame, path = CASES.assign(gone=None).astype({"gone": "str"}), tmp_path / f"x.{kind}"
    frame["gone"] = pd.Series([None] * N, dtype="str")
    written(tmp_path, kind, frame) if kind in STREAMS else to_text(frame, path)
    text = f"pandas-tba: x.{kind} has no rows to count: values are missing in {N} rows."
    words = ["report", path, "--y-pred", "gone", "--missing", "drop"]
    assert said(capsys, words) == (3, "", text)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather"])
def test_a_text_that_is_too_long_for_a_label_or_key_is_an_error(capsys, tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    for name, words in {"y_pred": [], "y_true": [], "segment": ["--by", "segment"]}.items():
        frame = CASES.astype({name: object})
        frame.loc[3, name] = "x" * 100_001
        written(tmp_path, kind, frame) if kind in STREAMS else to_text(frame, path)
        text = f"pandas-tba: Column '{name}' holds a text of 100,001 characters, which is neither a label nor a key. Name another column."
        assert said(capsys, ["report", path, *words]) == (3, "", text)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("name", ["y_true", "y_pred"])
def test_very_many_distinct_labels_are_hardly_labels(capsys, tmp_path, monkeypatch, kind, name):
    path = tmp_path / f"x.{kind}"
    frame = pd.DataFrame({"y_true": ["a", "b"] * 600, "y_pred": "a"})
    frame[name] = [f"{at}s" for at in range(1200)]
    written(tmp_path, kind, frame) if kind in STREAMS else to_text(frame, path)
    ask = f"distinct values in '{name}': are these labels? Scores are named with --y-score."
    code, _, err = said(capsys, ["report", path])
    assert (code, err.splitlines()[0]) == (0, f"pandas-tba: warning: More than 1,000 {ask}")
    monkeypatch.setattr(files, "_MOST_VALUES", 1100)
    text = f"pandas-tba: More than 1,100 {ask}"
    assert said(capsys, ["report", path]) == (3, "", text)
    frame.iloc[:1000].to_csv(tmp_path / "x.csv", index=False)
    assert "are these labels" not in said(capsys, ["report", tmp_path / "x.csv"])[2]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_part_of_the_rows_is_held_at_a_time(tmp_path, monkeypatch, kind):
    sizes = []
    count = streams.combinations_of_batch

    def noted(batch, *others):
        sizes.append(batch.num_rows)
        return count(batch, *others)

    monkeypatch.setattr(streams, "combinations_of_batch", noted)
    n = 1 << 20
    frame = pd.DataFrame({"y_true": np.arange(n) % 3, "y_pred": np.arange(n) % 2})
    path = tmp_path / f"x.{kind}"
    getattr(frame, f"to_{kind}")(path)
    counts = count_file(path, Columns(), [], paired=False).counts
    assert counts.rows.tolist() == [n] == [sum(sizes)]
    assert max(sizes) <= n // 4


@pytest.mark.parametrize("kind", [*STREAMS, "csv", "csv.gz", "jsonl"])
@pytest.mark.parametrize(
    ("is_terminal", "patience", "is_shown"), [(True, 0, True), (True, 99, False), (False, 0, False)]
)
def test_a_bar_shows_on_a_terminal_when_reading_takes_long(
    tmp_path, monkeypatch, capsys, kind, is_terminal, patience, is_shown
):
    pytest.importorskip("tqdm")
    path = tmp_path / f"x.{kind}"
    if kind in STREAMS:
        path = written(tmp_path, kind)
    else:
        to_text(CASES, path)
    monkeypatch.setattr(reading, "_PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    count_file(path, Columns(y_pred=["y_pred", "other"]), [], paired=True)
    shown = capsys.readouterr().err
    assert (f"\rx.{kind}:   0%|" in shown) is is_shown
    assert bool(shown) is is_shown
    assert shown[-2:] == (" \r" if is_shown else "")  # gone in the end


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_the_bar_is_gone_after_a_fault(tmp_path, monkeypatch, capsys, kind):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(reading, "_PATIENCE", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(streams, "_FEWEST_ROWS", 1)
    number = iter(range(99))

    def interrupted(*_):
        if next(number) == 2:
            raise KeyboardInterrupt
        return count(*_)

    count = streams.combinations_of_batch
    monkeypatch.setattr(streams, "combinations_of_batch", interrupted)
    assert main(["report", str(written(tmp_path, kind))]) == 130
    assert capsys.readouterr().err.endswith(" \rpandas-tba: interrupted\n")


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "jsonl"])
def test_without_tqdm_there_is_no_bar(tmp_path, monkeypatch, capsys, kind):
    path = tmp_path / f"x.{kind}"
    if kind in STREAMS:
        written(tmp_path, kind)
    else:
        to_text(CASES, path)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(reading, "_PATIENCE", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert count_file(path, Columns(), [], paired=False).counts.rows.tolist() == [N]
    assert capsys.readouterr().err == ""


def to_text(frame, path):
    if path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)


def damaged(path, start, number):
    content = bytearray(path.read_bytes())
    content[start : start + number] = b"\xff" * number
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def emptied(path):
    path.write_bytes(b"")


FAULTS = {
    "a Parquet file cut off": ("parquet", cut, "Cannot read x.parquet: Could not open Parquet input source '{path}': Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file."),
    "an empty Parquet file": ("parquet", emptied, "Cannot read x.parquet: Could not open Parquet input source '{path}': Parquet file size is 0 bytes."),
    "a damaged Parquet file": ("parquet", lambda path: damaged(path, 4, 60), "Cannot read row group 0 of 6 in '{path}', column 'y_true': "),
    "a Feather file cut off": ("feather", cut, "Cannot read x.feather: Could not open IPC input source '{path}': Not an Arrow file."),
    "an empty Feather file": ("feather", emptied, "Cannot read x.feather: Could not open IPC input source '{path}': File is too small: 0."),
    "a folder with another file": ("folder", lambda path: (path / "z.txt").write_text("text", encoding="utf-8"), "Cannot read the footer of '{path}/z.txt': "),
    "a folder without a file": ("folder", lambda path: [file.unlink() for file in path.iterdir()], "x.folder is a folder without a Parquet file."),
    "no file": ("feather", lambda path: path.unlink(), "No such file or directory: {path}"),
    "no folder": ("folder", shutil.rmtree, "FILE must end in one of .csv, .tsv, .tab, .jsonl, .ndjson, .json, which may be packed (.gz, .bz2, .xz, .zip, .zst), or of .parquet, .pq, .feather, .arrow, or be a folder of Parquet files, or - for standard input; got 'x.folder', which is not there."),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_cannot_be_read_is_one_line(capsys, tmp_path, fault):
    kind, spoil, text = FAULTS[fault]
    path = written(tmp_path, kind)
    spoil(path)
    code, out, err = said(capsys, ["report", path])
    assert (code, out) == (3, "")
    assert err.startswith(f"pandas-tba: {text.format(path=path)}")
    assert "\n" not in err
    assert err == f"pandas-tba: {text.format(path=path)}" or text.endswith(": ")


def test_a_damaged_batch_of_feather(capsys, tmp_path):
    path = written(tmp_path, "feather")
    damaged(path, path.stat().st_size // 4, path.stat().st_size // 4)
    code, out, err = said(capsys, ["report", path, "--y-pred", "y_pred", "other"])
    assert (code, out) == (3, "")
    assert err.startswith("pandas-tba: Cannot read x.feather: ")
    assert "\n" not in err


def no_utf_8(values):
    """Text of Arrow that is no UTF-8, which Arrow writes and reads as it is."""
    held = pa.array([bytes([value]) for value in values])
    return pa.StringArray.from_buffers(len(held), *held.buffers()[1:])


@pytest.mark.parametrize("is_dictionary", [True, False])
@pytest.mark.parametrize("name", ["y_true", "y_pred", "segment"])
@pytest.mark.parametrize("kind", STREAMS)
def test_text_that_is_no_utf_8_is_named_with_its_place(capsys, tmp_path, kind, name, is_dictionary):
    table = pa.table({key: [*"abba"] * 2 for key in ("y_true", "y_pred", "segment")})
    texts = no_utf_8([97, 98, 98, 97, 97, 255, 254, 97])
    table = table.set_column(table.column_names.index(name), name, texts)
    path = tmp_path / f"x.{kind}"
    if kind == "feather":
        pa.feather.write_feather(table, path, chunksize=4)
        where = "batch 1 of 2 in x.feather"
    else:
        file = path
        if kind == "folder":
            path.mkdir()
            file = path / "0.parquet"
        pa.parquet.write_table(table, file, row_group_size=4, use_dictionary=is_dictionary)
        where = f"row group 1 of 2 in '{file}'"
    code, out, err = said(capsys, ["report", path, "--by", "segment"])
    assert (code, out) == (3, "")
    assert err.startswith(f"pandas-tba: Cannot read {where}, column '{name}': ")
    assert "Invalid UTF8 sequence at string index 1. Nothing was counted; " in err


def test_columns_of_unequal_length_are_named():
    class Batch:
        schema = pa.schema({"a": pa.int8(), "b": pa.int8()})
        columns = (pa.array([1, 2]), pa.array([1]))
        num_rows = 2

    text = "Cannot read x, column 'b': it has 1 rows, and others 2. Nothing was counted; write the file anew, or leave it out."
    with pytest.raises(tba.InputError, match=f"^{re.escape(text)}$"):
        check_batch(Batch, "x")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_damaged_file_is_counted_or_refused(capsys, tmp_path, kind):
    whole = written(tmp_path, kind).read_bytes()
    random = np.random.default_rng(3)
    path = tmp_path / f"damaged.{kind}"
    for _ in range(40):
        content = bytearray(whole)
        for at in random.integers(0, len(whole), 3):
            content[at] = random.integers(0, 256)
        path.write_bytes(content)
        code, _, err = said(capsys, ["report", path, "--by", "segment"])
        assert code in (0, 3), err


def test_two_columns_of_one_name(capsys, tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table([[1], [1], [2]], names=["y_true", "y_pred", "y_pred"])
    pa.parquet.write_table(table, path)
    _, _, err = said(capsys, ["report", path])
    assert (
        err == "pandas-tba: Cannot read x.parquet: Can't unify schema with duplicate field names."
    )


def test_the_folder_one_is_in(capsys, tmp_path, monkeypatch):
    path = written(tmp_path, "folder")
    monkeypatch.chdir(path)
    assert said(capsys, ["report", "."])[0] == 0
    _, _, err = said(capsys, ["report", ".", "--by", "group"])
    assert err.startswith("pandas-tba: x.folder has no column 'group'.")


def test_without_arrow(capsys, tmp_path, monkeypatch):
    path = written(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    code, _, err = said(capsys, ["report", path])
    assert (code, err) == (
        3,
        "pandas-tba: x.parquet needs pyarrow: pip install 'pandas-tba[parquet]'.",
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "feather"])
@pytest.mark.parametrize("number", [14 / 15, 0.7, 0.000201, 0.1 + 0.2, 1 / 3])
def test_scores_labels_and_weights_that_are_typed_are_those_of_the_file(tmp_path, kind, number):
    frame = pd.DataFrame({"y": [0, 1] * 10, "p": [number] * 10 + [number / 2] * 10, "w": number})
    frame["label"] = frame["p"]
    path = tmp_path / f"x.{kind}"
    if kind in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    elif kind == "jsonl":
        lines = [str(row).replace("'", '"') for row in frame.astype(object).to_dict("records")]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        getattr(frame, f"to_{kind}")(path)
    columns = Columns(y_true="y", y_score="p", threshold=float(repr(number)), sample_weight="w")
    counts = count_file(path, columns, ["p"], paired=False).counts
    assert counts.groups.tolist() == [number / 2, number]
    assert counts.pooled().cells.tolist() == (np.full((1, 2, 2), 5) * number).tolist()
    assert [[5 * number, 0], [5 * number, 0]] in counts.cells.tolist()
    labels = [repr(number), repr(number / 2)]
    columns = Columns(y_true="label", y_pred="label", labels=labels)
    found = count_file(path, columns, [], paired=False).counts
    assert found.labels.tolist() == [number, number / 2]
    assert found.cells.tolist() == [[[10, 0], [0, 10]]]


def test_whole_numbers_beyond_64_bits_are_labels_like_others(tmp_path):
    path = tmp_path / "x.jsonl"
    pairs = [(123456789012345678901, 12776324570088369205), (12776324570088369205,) * 2]
    lines = [f'{{"y_true": {truth}, "y_pred": {guess}}}' for truth, guess in pairs]
    path.write_text("\n".join(lines), encoding="utf-8")
    counts = count_file(path, Columns(), [], paired=False).counts
    assert counts.labels.tolist() == [12776324570088369205, 123456789012345678901]
    assert counts.cells.tolist() == [[[1, 0], [1, 0]]]
