"""Files of predictions as frames: formats, packing, labels that are numbers, progress."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba import reading
from pandas_tba.reading import read_table, with_numbers

INCOME = tba.load_income()
COLUMNS = ["y_true", "forest", "sex", "p_logit"]
PACKINGS = ["", ".gz", ".bz2", ".xz", ".zip"]


def written(folder, name, frame=INCOME):
    path = folder / name
    kind = path.suffixes[0]
    if kind in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    elif kind == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    return path


def score(frame):
    return frame.tba(y_pred="forest").score(by="sex", t=[0, 1]).to_numpy()


@pytest.mark.parametrize(
    "name",
    [*(f"x{kind}{packing}" for kind in (".csv", ".tsv", ".jsonl") for packing in PACKINGS), "x.parquet", "x.feather"],
)  # fmt: skip
def test_every_format_gives_the_same_scores(tmp_path, name):
    found = read_table(written(tmp_path, name), COLUMNS, numbers=["p_logit"])
    assert list(found.columns) == COLUMNS
    assert found["p_logit"].dtype == np.float64
    assert score(found).tolist() == score(INCOME).tolist()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_parts_are_joined(tmp_path, monkeypatch, kind):
    path = written(tmp_path, f"x.{kind}")
    whole = read_table(path, COLUMNS, numbers=["p_logit"])
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 7)
    parts = read_table(path, COLUMNS, numbers=["p_logit"])
    assert_frame_equal(parts, whole)


def test_texts_take_a_byte_a_row(tmp_path):
    found = read_table(written(tmp_path, "x.csv"), ["y_true", "forest"])
    assert found.memory_usage(index=False, deep=True).max() < 2 * len(INCOME)


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        (["0", "1"], ["1", "1"], [[0, 1], [1, 1]]),
        (["0", "1"], ["1.0", "0.0"], [[0, 1], [1, 0]]),
        (["10", "9"], ["9", "10"], [[10, 9], [9, 10]]),
        (["0.5", "1"], ["1", "0.5"], [[0.5, 1.0], [1.0, 0.5]]),
        (["0", "1"], ["1", "unsure"], [["0", "1"], ["1", "unsure"]]),
        (["007", "1"], ["1", "007"], [["007", "1"], ["1", "007"]]),
        (["True", "False"], ["True", "True"], [["True", "False"], ["True", "True"]]),
    ],
)
def test_labels_are_numbers_all_or_none(truth, predicted, expected):
    frame = pd.DataFrame({"y": truth, "p": predicted}, dtype="category")
    found = with_numbers(frame, ["y", "p"])
    assert [found["y"].tolist(), found["p"].tolist()] == expected


def test_keys_are_numbers_each_for_itself_and_missing_stays_missing():
    frame = pd.DataFrame({"y": ["a", "b", "a"], "k": ["10", None, "9"]}, dtype="category")
    found = with_numbers(frame, ["y"])
    assert found["k"].cat.categories.tolist() == [9, 10]
    assert found["k"].isna().tolist() == [False, True, False]
    assert found["y"].tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.feather"])
def test_a_column_that_is_not_there_is_named(tmp_path, name):
    path = written(tmp_path, name, INCOME[["y_true", "forest"]])
    text = f"{name} has no column 'forst'. Did you mean 'forest'? Columns: 'y_true', 'forest'. Name yours, as in --y-true label --y-pred forest."
    with pytest.raises(tba.ColumnError, match=re.escape(text)):
        read_table(path, ["y_true", "forst"])


def test_an_unknown_format_is_named(tmp_path):
    text = (
        "FILE must end in one of .csv, .tsv, .tab, .jsonl, .ndjson, .json, .parquet, .pq, .feather, "
        ".arrow, and may be packed (.gz, .bz2, .xz, .zip, .zst); got 'x.xlsx'."
    )
    with pytest.raises(tba.InputError, match=re.escape(text)):
        read_table(tmp_path / "x.xlsx", ["y"])


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_file_without_rows(tmp_path, name):
    (tmp_path / name).write_text("" if name == "x.jsonl" else "y_true\n", encoding="utf-8")
    if name == "x.jsonl":
        with pytest.raises(tba.InputError, match=r"x\.jsonl holds no rows\."):
            read_table(tmp_path / name, ["y_true"])
    else:
        assert len(read_table(tmp_path / name, ["y_true"])) == 0


@pytest.mark.parametrize(("is_terminal", "patience", "is_shown"), [(True, 0, True), (True, 99, False), (False, 0, False)])  # fmt: skip
def test_a_bar_shows_on_a_terminal_when_reading_takes_long(
    tmp_path, monkeypatch, capsys, is_terminal, patience, is_shown
):
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 500)
    monkeypatch.setattr(reading, "_PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    read_table(written(tmp_path, "x.csv.gz"), COLUMNS)
    shown = capsys.readouterr().err
    assert bool(shown) is is_shown
    if is_shown:
        assert "x.csv.gz [##############################] 100%" in shown
        assert shown.endswith("\r\033[K")


def test_a_name_that_two_columns_have_is_an_error_where_it_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("\ufeffy,p,p,\n0,1,0,1\n", encoding="utf-8")
    text = "x.csv has 2 columns 'p'. Rename all but one."
    with pytest.raises(tba.ColumnError, match=f"^{re.escape(text)}$"):
        read_table(path, ["y", "p"])
    assert read_table(path, ["y", "Unnamed: 3"]).astype(str).to_numpy().tolist() == [["0", "1"]]


NO_UTF_8 = "must be text in UTF-8, and is not. Save it anew with that encoding."


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.csv", "é,y\n1,2\n".encode("latin-1"), NO_UTF_8),
        ("x.csv", "y\né\n".encode("latin-1"), NO_UTF_8),
        ("x.tsv", "y\n1\n".encode("utf-16"), NO_UTF_8),
        ("x.jsonl", '{"y": "é"}\n'.encode("latin-1"), NO_UTF_8),
        ("x.csv", b"", "Cannot read x.csv: No columns to parse from file."),
        ("x.jsonl", b'{"y":\n', "Cannot read x.jsonl: Expected object or value."),
        ("x.csv.gz", b"y\n1\n", "Cannot read x.csv.gz: Not a gzipped file (b'y\\n')."),
        ("x.csv.zip", b"y\n1\n", "Cannot read x.csv.zip: File is not a zip file."),
        ("x.csv.xz", b"y\n1\n", "Cannot read x.csv.xz: Input format not supported by decoder."),
        ("x.csv.bz2", b"y\n1\n", "Cannot read x.csv.bz2: Invalid data stream."),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(tba.InputError) as caught:
        read_table(tmp_path / name, ["y"])
    text = f"{name} {text}" if text == NO_UTF_8 else text
    assert re.sub(r" at position \d+", "", str(caught.value)) == text


def test_a_column_without_numbers_is_named(tmp_path):
    path = written(tmp_path, "x.csv")
    text = "x.csv: column 'sex' must hold numbers; could not convert string to float: 'Female'."
    with pytest.raises(tba.KindError, match=f"^{re.escape(text)}$"):
        read_table(path, ["y_true", "sex", "p_logit"], numbers=["p_logit", "sex"])
