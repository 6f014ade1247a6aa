"""Files of text as frames: formats, packing, labels that are numbers."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import sys
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba.cli import reading
from pandas_tba.cli.main import main
from pandas_tba.cli.reading import format_of, read_table, with_values

INCOME = tba.load_income()
COLUMNS = ["y_true", "forest", "sex", "p_logit"]
PACKINGS = ["", ".gz", ".bz2", ".xz", ".zip"]


def written(folder, name, frame=INCOME):
    path = folder / name
    kind = path.suffixes[0]
    if kind in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


def score(frame):
    return frame.tba(y_pred="forest").score(by="sex", t=[0, 1]).to_numpy()


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_every_format_gives_the_same_scores(tmp_path, kind, packing):
    found = read_table(written(tmp_path, f"x{kind}{packing}"), COLUMNS, numbers=["p_logit"])
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


@pytest.mark.parametrize("late", ["1", "7.0", "unsure", "True", "007"])
@pytest.mark.parametrize("early", ["1", "1.0", "True", "false", "a", "007"])
def test_parts_that_look_like_numbers_or_booleans_are_text_until_all_are_known(
    tmp_path, monkeypatch, early, late
):
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 3)
    path, texts = tmp_path / "x.csv", [early] * 6 + [late] * 2
    pd.DataFrame({"y": texts, "w": 0.5}).to_csv(path, index=False)
    found = read_table(path, ["y", "w"], numbers=["w"])
    assert found["y"].tolist() == texts
    assert found["w"].tolist() == [0.5] * 8


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
        (["True", "False"], ["TRUE", "true"], [[True, False], [True, True]]),
        (["True", "False"], ["0", "1"], [[True, False], [0, 1]]),
        (["True", "False"], ["True", "unsure"], [["True", "False"], ["True", "unsure"]]),
        (["yes", "no"], ["0.5", "0"], [["yes", "no"], [0.5, 0.0]]),
        (["1", "2"], ["unsure", "unsure"], [[1, 2], ["unsure", "unsure"]]),
        (["1e300", "1"], ["1", "1"], [[1e300, 1.0], [1, 1]]),
        (["9007199254740993", "1"], ["1", "1"], [[2**53 + 1, 1], [1, 1]]),
        (["9007199254740993", "9007199254740992"], ["0", "1"], [[2**53 + 1, 2**53], [0, 1]]),
        (["18446744073709551615", "1"], ["1", "1"], [[2**64 - 1, 1], [1, 1]]),
        (["18446744073709551616", "1"], ["1", "1"], [[str(2**64), "1"], ["1", "1"]]),
        (["9007199254740993", "0.5"], ["1", "0.5"], [["9007199254740993", "0.5"], ["1", "0.5"]]),
        (["9007199254740994", "0.5"], ["1", "0.5"], [[2.0**53 + 2, 0.5], [1, 0.5]]),
    ],
)
def test_labels_are_numbers_or_booleans_unless_a_column_mixes_them(truth, predicted, expected):
    frame = pd.DataFrame({"y": truth, "p": predicted}, dtype="category")
    found = with_values(frame, ["y", "p"])
    assert [found["y"].tolist(), found["p"].tolist()] == expected


def test_keys_are_numbers_each_for_itself_and_missing_stays_missing():
    frame = pd.DataFrame({"y": ["a", "b", "a"], "k": ["10", None, "9"]}, dtype="category")
    found = with_values(frame, ["y"])
    assert found["k"].cat.categories.tolist() == [9, 10]
    assert found["k"].isna().tolist() == [False, True, False]
    assert found["y"].tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_column_that_is_not_there_is_named(tmp_path, name):
    path = written(tmp_path, name, INCOME[["y_true", "forest"]])
    text = f"{name} has no column 'forst'. Did you mean 'forest'? Columns: 'y_true', 'forest'. Name yours, as in --y-true label --y-pred forest."
    with pytest.raises(tba.ColumnError, match=re.escape(text)):
        read_table(path, ["y_true", "forst"])


@pytest.mark.parametrize("name", ["x.xlsx", "x", "x.gz", "x.parquet.gz", "x.feather.zip"])
def test_an_unknown_format_is_named(tmp_path, name):
    text = (
        "FILE must end in one of .csv, .tsv, .tab, .jsonl, .ndjson, .json, which may be packed (.gz, "
        ".bz2, .xz, .zip, .zst), or of .parquet, .pq, .feather, .arrow, or be a folder of Parquet "
        f"files, or - for standard input; got {name!r}, which is not there."
    )
    with pytest.raises(tba.InputError, match=f"^{re.escape(text)}$"):
        format_of(tmp_path / name)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_file_without_rows(tmp_path, name):
    (tmp_path / name).write_text("" if name == "x.jsonl" else "y_true\n", encoding="utf-8")
    if name == "x.jsonl":
        with pytest.raises(tba.InputError, match=r"x\.jsonl holds no rows\."):
            read_table(tmp_path / name, ["y_true"])
    else:
        assert len(read_table(tmp_path / name, ["y_true"])) == 0


def test_a_name_that_two_columns_have_is_an_error_where_it_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("\ufeffy,p,p,\n0,1,0,1\n", encoding="utf-8")
    text = "x.csv has 2 columns 'p'. Rename all but one."
    with pytest.raises(tba.ColumnError, match=f"^{re.escape(text)}$"):
        read_table(path, ["y", "p"])
    assert read_table(path, ["y", "Unnamed: 3"]).astype(str).to_numpy().tolist() == [["0", "1"]]


def no_utf_8(name, byte, encoding):
    return f"{name} must be text in UTF-8; byte {byte} is not, and looks like {encoding}. Save it anew, as with iconv -f {encoding} -t UTF-8."


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.csv", "é,y\n1,2\n".encode("latin-1"), no_utf_8("x.csv", "0xe9", "Windows-1252")),
        ("x.csv", "y\né\n".encode("latin-1"), no_utf_8("x.csv", "0xe9", "Windows-1252")),
        ("x.tsv", "y\n1\n".encode("utf-16"), no_utf_8("x.tsv", "0xff", "UTF-16")),
        ("x.jsonl", '{"y": "é"}\n'.encode("latin-1"), no_utf_8("x.jsonl", "0xe9", "Windows-1252")),
        ("x.csv", b"", "Cannot read x.csv: No columns to parse from file."),
        ("x.csv", b"y,z\n1,2\n1,2,3\n", "Cannot read x.csv: Error tokenizing data. C error: Expected 2 fields in line 3, saw 3."),
        ("x.csv", b"y,z\na,1,2\nb,1,2\n", "x.csv has rows with more fields than its header."),
        ("x.jsonl", b'{"y":\n', "x.jsonl must hold an object in each line; line 1: Expecting value."),
        ("x.json", b'[{"y": 1}, {"y": 2}]', "x.json must hold an object in each line; line 1: got [{'y': 1}, {'y': 2}]."),
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
    assert re.sub(r" at position \d+", "", str(caught.value)) == text


def test_names_that_are_numbers(tmp_path):
    for name, text in {"x.csv": "0,1\n5,6\n", "x.jsonl": '{"0": 5, "1": 6}\n'}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = with_values(read_table(tmp_path / name, ["1", "0"]), [])
        assert found.to_dict("list") == {"1": [6], "0": [5]}


def test_rows_that_all_end_in_a_comma(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y,z\r\n1,2,\r\n3,4,\r\n", encoding="utf-8")
    assert read_table(path, ["z", "y"]).astype(str).to_numpy().tolist() == [["2", "1"], ["4", "3"]]


def test_other_columns_may_hold_anything(tmp_path):
    frame = INCOME.assign(note='é, "x"\n', nothing=None, y=np.arange(len(INCOME)) / 7)
    found = read_table(written(tmp_path, "x.csv", frame), COLUMNS, numbers=["p_logit"])
    assert_frame_equal(found, read_table(written(tmp_path, "y.csv"), COLUMNS, numbers=["p_logit"]))


def test_a_column_without_numbers_is_named(tmp_path):
    path = written(tmp_path, "x.csv")
    text = "x.csv: column 'sex' must hold numbers; could not convert string to float: 'Female'."
    with pytest.raises(tba.KindError, match=f"^{re.escape(text)}$"):
        read_table(path, ["y_true", "sex", "p_logit"], numbers=["p_logit", "sex"])


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.jsonl"])
def test_counts_are_no_predictions(tmp_path, name):
    counts = tba.count(INCOME, y_pred="forest").to_table(text=True)
    text = (
        f"{name} holds counts, as ConfusionCounts.to_table(text=True) writes them, and no predictions. "
        "In Python: tba.report(tba.ConfusionCounts.from_table(pd.read_csv(...)))."
    )
    with pytest.raises(tba.InputError, match=f"^{re.escape(text)}$"):
        read_table(written(tmp_path, name, counts), ["y_true", "y_pred"])
    rows = INCOME[["y_true"]].assign(y_pred=INCOME["forest"], n=1, tba=0.5)
    assert len(read_table(written(tmp_path, name, rows), ["y_true", "y_pred"])) == len(rows)


def numbers_in_text(number=2_000, seed=20):
    """Floats as text in 1 to 20 digits, most of which need a parser that finds the nearest one."""
    pick = random.Random(seed)
    shapes = [*(f"{{:.{digits}g}}" for digits in (1, 6, 15, 16, 17)), "{:.17f}", "{:.20e}", "{!r}"]
    sizes = [0, 0, 0, 0, -5, 3, 20, 290, -300, -318]
    return [
        pick.choice(shapes).format(pick.random() * 10.0 ** pick.choice(sizes))
        for _ in range(number)
    ] + ["-0.5", "0", "-0.0", "1e-400", "0.7", "0.9333333333333333", "7", "123456789012345678901"]


def written_as_it_is(path, texts):
    """A file of two columns of the same numbers, digit by digit; its name says format and packing."""
    if path.name.startswith("x.jsonl"):
        lines = [f'{{"p": {text}, "k": {text}}}' for text in texts]
    else:
        sep = "\t" if path.name.startswith("x.tsv") else ","
        lines = [f"{text}{sep}{text}" for text in ["p", *texts]]
        lines[0] = f"p{sep}k"
    content = "\n".join(lines).encode()
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("x", content)
    else:
        path.write_bytes(pack.get(path.suffix, bytes)(content))
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_numbers_are_read_as_python_reads_them(tmp_path, monkeypatch, kind, packing):
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 700)
    texts = numbers_in_text()
    path = written_as_it_is(tmp_path / f"x.{kind}{packing}", texts)
    found = with_values(read_table(path, ["p", "k"], numbers=["p"]), ["k"])
    expected = [float(text) for text in texts]
    assert found["p"].tolist() == expected
    assert [
        *map(float, found["k"])
    ] == expected  # one is beyond 64 bits, and so all stay as they are


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_labels_and_keys_with_fractions_are_read_as_python_reads_them(tmp_path, kind):
    texts = [text for text in numbers_in_text() if text != "123456789012345678901"]
    path = written_as_it_is(tmp_path / f"x.{kind}", texts)
    found = with_values(read_table(path, ["p", "k"]), ["p"])
    for name in ("p", "k"):
        assert found[name].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "text", ["1e400", "-1e400", "1.7976931348623159e308", "9" * 310 + ".0", "1" + "0" * 25]
)
def test_numbers_too_large_for_a_float_are_infinite(tmp_path, kind, text):
    path = written_as_it_is(tmp_path / f"x.{kind}", ["0.7", text])
    assert read_table(path, ["p"], numbers=["p"])["p"].tolist() == [0.7, float(text)]


@pytest.mark.parametrize(
    "values",
    [
        [123456789012345678901, 12776324570088369205],
        [2**64 - 1, 2**63, 5],
        [2**64 - 1, -1],
        [-(2**63), -(2**63) - 1],
        [2**53 + 1, 2**53, None],
        [2**53 + 1, 2**53, 0.5],
        [2**53 + 1, True],
        [10**30, "a"],
        [1, 2, None],
        [True, False, None],
        ["1", "007", "true", "\ud800", ""],
        ["a", 1, 1.5, None],
        [[1], {"a": [2**70]}],
    ],
    ids=repr,
)
def test_values_of_json_lines_are_those_of_python(tmp_path, values):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps({"k": value}) for value in values), encoding="utf-8")
    found = with_values(read_table(path, ["k"]), ["k"])["k"]
    assert found.isna().tolist() == [value is None for value in values]
    plain = [value for value in values if value is not None]
    assert found.dropna().tolist() == plain
    types = {int, float} if {*map(type, plain)} <= {int, float} else set()
    assert all(
        type(a) is type(b) or {type(a), type(b)} <= types
        for a, b in zip(found.dropna(), plain, strict=True)
    )


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("csv", ["0.5", "Female"], "could not convert string to float: 'Female'"),
        ("csv", ["True", "False"], "could not convert string to float: 'True'"),
        ("jsonl", ["0.5", '"0.7"'], "got '0.7'"),
        ("jsonl", ["0.5", "true"], "got True"),
        ("jsonl", ["null", "[0.5]"], "got [0.5]"),
        ("jsonl", ["null", '{"a": 1}'], "got {'a': 1}"),
        ("jsonl", ["0.5", "1" + "0" * 400], "int too large to convert to float"),
    ],
)
def test_what_is_no_number_is_named_in_every_format(tmp_path, kind, values, text):
    path = written_as_it_is(tmp_path / f"x.{kind}", values)
    with pytest.raises(tba.KindError) as caught:
        read_table(path, ["p"], numbers=["p"])
    assert str(caught.value) == f"x.{kind}: column 'p' must hold numbers; {text}."


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_numbers_that_are_missing_or_whole(tmp_path, kind):
    nothing = "null" if kind == "jsonl" else ""
    path = written_as_it_is(tmp_path / f"x.{kind}", ["0", "1", nothing, "1"])
    assert read_table(path, ["p"], numbers=["p"])["p"].fillna(9).tolist() == [0, 1, 9, 1]


def test_json_lines_may_lack_keys_hold_blank_lines_and_begin_with_a_mark(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('\ufeff{"y": "a"}\n\n  \n{"p": 0.7}\r\n{"y": "b", "p": 1}\n', encoding="utf-8")
    found = read_table(path, ["y", "p"], numbers=["p"])
    assert found.fillna({"y": "", "p": -1}).to_numpy().tolist() == [["a", -1], ["", 0.7], ["b", 1]]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.csv", "y;p\n1;1\n", "x.csv has columns that are separated by ';', as in 'y;p'; in .csv files they are by ','. Separate them by ','."),
        ("x.csv.gz", "y|p|a,b\n1|1|1\n", "x.csv.gz has columns that are separated by '|', as in 'y|p|a,b'; in .csv files they are by ','. Separate them by ','."),
        ("x.csv", "y\tp\n1\t1\n", "x.csv has columns that are separated by '\\t', as in 'y\\tp'; in .csv files they are by ','. Name it .tsv."),
        ("x.tsv", "y,p\n1,1\n", "x.tsv has columns that are separated by ',', as in 'y,p'; in .tsv files they are by '\\t'. Separate them by '\\t'."),
        ("x.csv", "a;b,p\n1,1\n", "x.csv has no column 'y'. Columns: 'a;b', 'p'. Name yours, as in --y-true label --y-pred forest."),
    ],
)  # fmt: skip
def test_another_separator_is_named(tmp_path, name, content, text):
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(tba.ColumnError) as caught:
        read_table(tmp_path / name, ["y", "p"])
    assert str(caught.value) == text


def test_names_may_hold_other_separators(tmp_path):
    (tmp_path / "x.csv").write_text("y;1;2,p\na,b\n", encoding="utf-8")
    assert read_table(tmp_path / "x.csv", ["y;1;2"])["y;1;2"].tolist() == ["a"]


UNPACKED = [".csv", ".tsv", ".jsonl", ".parquet", ".feather"]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", [*UNPACKED, ".csv.gz", ".jsonl.bz2", ".tsv.xz", ".csv.zip"])
def test_what_comes_through_a_pipe_is_read_as_its_file(tmp_path, capsys, kind, named):
    path = tmp_path / f"x{kind}"
    if kind in (".parquet", ".feather"):
        getattr(INCOME, f"to_{kind[1:]}")(path)
    else:
        written(tmp_path, path.name)
    words = ["--y-pred", "forest", "logit", "--by", "sex"]
    assert main(["report", str(path), *words]) == 0
    expected = capsys.readouterr().out
    pipe = tmp_path / (f"pipe{kind}" if named else "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    code = main(["report", str(pipe), *words])
    writer.join()
    assert (code, capsys.readouterr().out) == (0, expected)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("kind", UNPACKED)
def test_standard_input_is_read_as_its_file(tmp_path, capsys, monkeypatch, kind, name):
    path = tmp_path / f"x{kind}"
    if kind in (".parquet", ".feather"):
        getattr(INCOME, f"to_{kind[1:]}")(path)
    else:
        written(tmp_path, path.name)
    words = ["--y-pred", "forest", "--by", "sex"]
    assert main(["report", str(path), *words]) == 0
    expected = capsys.readouterr().out
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["report", name, *words]) == 0
        assert capsys.readouterr().out == expected
        file.seek(0)
        assert main(["report", *words, name, "--by", "segmnt"]) == 3
    assert capsys.readouterr().err.startswith(f"pandas-tba: stdin{kind} has no column 'segmnt'.")


def test_standard_input_that_is_closed_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["report", "-"]) == 3
    text = "pandas-tba: Standard input is closed; give a file, or a pipe to read from.\n"
    assert capsys.readouterr().err == text


def test_a_pipe_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("y,p\n1,1\n"))
    writer.start()
    assert main(["report", str(tmp_path / "pipe")]) == 3
    writer.join()
    assert "pipe.csv has no column 'y_true'" in capsys.readouterr().err
    assert [*(tmp_path / "temporary").iterdir()] == []


def zipped(data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as held:
        held.writestr("x", data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress), (".zip", zipped)],
)  # fmt: skip
@pytest.mark.parametrize(
    ("kind", "start"),
    [
        (".csv", ""),
        (".csv", "y,p\n1,1\n"),
        (".csv", 'y,p\n"'),
        (".jsonl", ""),
        (".jsonl", '{"y":1}\n'),
    ],
)
def test_a_line_that_would_fill_the_memory_is_an_error(
    tmp_path, monkeypatch, ending, pack, kind, start
):
    monkeypatch.setattr(reading, "_LONGEST_LINE", 1 << 20)
    path = tmp_path / f"x{kind}{ending}"
    path.write_bytes(pack(start.encode() + b"1" * (1 << 21)))
    text = f"{path.name} has a line of more than 1 MiB: this is no table with a row in each line."
    with pytest.raises(tba.InputError, match=f"^{re.escape(text)}$"):
        read_table(path, ["y", "p"])


@pytest.mark.parametrize("fault", [MemoryError(), EOFError(), MemoryError("much")], ids=repr)
def test_a_fault_without_a_text_has_a_reason(tmp_path, monkeypatch, fault):
    def fail(*_, **__):
        raise fault

    monkeypatch.setattr(pd, "read_csv", fail)
    reason = str(fault) or {MemoryError: "too little memory", EOFError: "EOFError()"}[type(fault)]
    with pytest.raises(tba.InputError) as caught:
        read_table(written(tmp_path, "x.csv"), COLUMNS)
    assert str(caught.value) == f"Cannot read x.csv: {reason}."


def test_zstandard_is_named_where_it_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.csv.zst").write_bytes(b"")
    with pytest.raises(ModuleNotFoundError) as caught:
        read_table(tmp_path / "x.csv.zst", COLUMNS)
    assert str(caught.value) == "x.csv.zst needs zstandard: pip install zstandard."


@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_zstandard_is_read_where_it_is_installed(tmp_path, kind):
    zstandard = pytest.importorskip("zstandard")
    path = written(tmp_path, f"x{kind}")
    packed = path.rename(tmp_path / f"y{kind}.zst")
    packed.write_bytes(zstandard.compress(packed.read_bytes()))
    assert score(read_table(packed, COLUMNS)).tolist() == score(INCOME).tolist()


def test_two_files_in_one_zip_are_an_error(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.csv.zip", "w") as file:
        file.writestr("a.csv", "y\n1\n")
        file.writestr("b.csv", "y\n1\n")
    text = "Cannot read x.csv.zip: it must hold one file, and holds 2."
    with pytest.raises(tba.InputError, match=f"^{re.escape(text)}$"):
        read_table(tmp_path / "x.csv.zip", ["y"])


@pytest.mark.parametrize("late", ["1", "7.0", "unsure", "True", "007", "1e400", ""])
@pytest.mark.parametrize("early", ["1", "1.0", "True", "false", "a", "007", "", "1\x01000"])
def test_labels_alone_are_the_texts_of_the_file(tmp_path, monkeypatch, early, late):
    monkeypatch.setattr(reading, "_ROWS_AT_A_TIME", 3)
    texts = [early] * 6 + [late] * 2
    pd.DataFrame({"y": texts, "p": texts}).to_csv(tmp_path / "x.csv", index=False)
    found = read_table(tmp_path / "x.csv", ["y", "p"])
    assert found["y"].astype(object).fillna("").tolist() == texts
    assert found["p"].astype(object).fillna("").tolist() == texts
