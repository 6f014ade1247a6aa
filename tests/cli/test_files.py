"""Files of predictions counted: Parquet and Feather as streams, that say what their frames say."""

import datetime
import decimal
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from predictions import FRAME, GUESS, HOLED, TRUTH, N, assert_same

import pandas_tba as tba
from pandas_tba.cli import files, progress
from pandas_tba.cli import main as command
from pandas_tba.cli.files import counted, label_of
from pandas_tba.cli.main import main
from pandas_tba.engines import streams
from pandas_tba.engines.pandas_frames import count_frame
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
        patch.setattr(command, "counted", counted_frame)
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
        counts = counted(written(tmp_path, kind, NUMBERS), columns, [], paired=False).counts
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
    found = counted(path, columns, ["segment", "year"], paired=True)
    assert_same(found.counts, count_frame(CASES, columns, by=["segment", "year"]))
    assert found.pairs.cells.tolist() == pairs_of_models(CASES, columns).cells.tolist()


def test_names_that_are_numbers_or_hold_dots(tmp_path):
    path = tmp_path / "x.parquet"
    frame = CASES[["y_true", "y_pred", "segment"]].set_axis([0, "a.b", "été"], axis=1)
    table = pa.Table.from_pandas(frame.rename(columns={0: "0"}))
    pa.parquet.write_table(table, path)
    columns = Columns(y_true="0", y_pred=["a.b", "0"])
    found = counted(path, columns, ["été"], paired=True)
    names = {"0": "y_true", "a.b": "y_pred"}
    assert (
        found.counts.cells.tolist()
        == tba.count(CASES, y_pred=[names["a.b"], "y_true"], by="segment").cells.tolist()
    )
    assert len(found.pairs) == 1


def test_folders_name_columns(tmp_path):
    CASES.to_parquet(tmp_path / "x", partition_cols=["year", "name"])
    found = counted(tmp_path / "x", Columns(model="name"), ["year"], paired=True)
    assert_same(found.counts, count_frame(CASES, Columns(model="name"), by=["year"]))


@pytest.mark.parametrize("kind", STREAMS)
def test_files_without_rows(capsys, tmp_path, kind):
    words = ["--y-pred", "y_pred", "other", "--by", "segment"]
    stream, frames = both(capsys, ["report", written(tmp_path, kind, CASES.iloc[:0]), *words])
    assert stream == frames
    assert stream[0] == 0


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
    counts = counted(path, Columns(), [], paired=False).counts
    assert counts.rows.tolist() == [n] == [sum(sizes)]
    assert max(sizes) <= n // 4


@pytest.mark.parametrize("kind", [*STREAMS, "csv", "csv.gz", "jsonl"])
@pytest.mark.parametrize(
    ("is_terminal", "patience", "is_shown"),
    [(True, -1, True), (True, 99, False), (False, -1, False)],
)
def test_a_bar_shows_on_a_terminal_when_reading_takes_long(
    tmp_path, monkeypatch, capsys, kind, is_terminal, patience, is_shown
):
    path = tmp_path / f"x.{kind}"
    if kind in STREAMS:
        path = written(tmp_path, kind)
    elif kind == "jsonl":
        CASES.to_json(path, orient="records", lines=True)
    else:
        CASES.to_csv(path)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    counted(path, Columns(y_pred=["y_pred", "other"]), [], paired=True)
    shown = capsys.readouterr().err
    assert bool(shown) is is_shown
    if is_shown:
        assert f"x.{kind} [{'#' * 30}] 100%" in shown
        assert shown.endswith("\r\033[K")
        assert shown.count("\r\033[K") == (2 if kind in STREAMS else 1)
        assert max(map(len, shown.split("\r"))) < 80


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_the_bar_is_gone_after_a_fault(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.setattr(progress, "_PATIENCE", -1)
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
    assert capsys.readouterr().err.endswith("%\r\033[Kpandas-tba: interrupted\n")


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
    "a damaged Parquet file": ("parquet", lambda path: damaged(path, 4, 60), "Cannot read row group 0 of 6 in '{path}': "),
    "a Feather file cut off": ("feather", cut, "Cannot read x.feather: Could not open IPC input source '{path}': Not an Arrow file."),
    "an empty Feather file": ("feather", emptied, "Cannot read x.feather: Could not open IPC input source '{path}': File is too small: 0."),
    "a folder with another file": ("folder", lambda path: (path / "z.txt").write_text("text", encoding="utf-8"), "Cannot read the footer of '{path}/z.txt': "),
    "a folder without a file": ("folder", lambda path: [file.unlink() for file in path.iterdir()], "x.folder is a folder without a Parquet file."),
    "no file": ("feather", lambda path: path.unlink(), "No such file or directory: {path}"),
    "no folder": ("folder", shutil.rmtree, "FILE must end in one of .csv, .tsv, .tab, .jsonl, .ndjson, .json, which may be packed (.gz, .bz2, .xz, .zip, .zst), or of .parquet, .pq, .feather, .arrow, or be a folder of Parquet files; got 'x.folder', which is not there."),
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
    counts = counted(path, columns, ["p"], paired=False).counts
    assert counts.groups.tolist() == [number / 2, number]
    assert counts.pooled().cells.tolist() == (np.full((1, 2, 2), 5) * number).tolist()
    assert [[5 * number, 0], [5 * number, 0]] in counts.cells.tolist()
    labels = [repr(number), repr(number / 2)]
    columns = Columns(y_true="label", y_pred="label", labels=labels)
    found = counted(path, columns, [], paired=False).counts
    assert found.labels.tolist() == [number, number / 2]
    assert found.cells.tolist() == [[[10, 0], [0, 10]]]


def test_whole_numbers_beyond_64_bits_are_labels_like_others(tmp_path):
    path = tmp_path / "x.jsonl"
    pairs = [(123456789012345678901, 12776324570088369205), (12776324570088369205,) * 2]
    lines = [f'{{"y_true": {truth}, "y_pred": {guess}}}' for truth, guess in pairs]
    path.write_text("\n".join(lines), encoding="utf-8")
    counts = counted(path, Columns(), [], paired=False).counts
    assert counts.labels.tolist() == [12776324570088369205, 123456789012345678901]
    assert counts.cells.tolist() == [[[1, 0], [1, 0]]]
