"""Messages on a terminal: they speak of options, and the repairs that they name work when pasted."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from predictions import FRAME, HOLED, N

from pandas_tba.cli.main import main
from pandas_tba.cli.messages import printable, with_options

OPTIONS = ["y_true", "y_pred", "y_score", "labels", "weight", "pos_label", "missing", "by", "t"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`y_pred` and `y_score`", "--y-pred and --y-score"),
        ("`sample_weight` of `other`", "--weight of `other`"),
        ("Add them to labels=, or not", "Add them to --labels, or not"),
        ("with labels=[...].", "with --labels."),
        ("in rows (y_pred=...)", "in rows (--y-pred)"),
        ("(labels='a', 'b')", "(--labels 'a', 'b')"),
        ("as in df.tba(pos_label='b')", "as in --pos-label b"),
        ("df.tba(y_true='a b', labels=[1, \"it's\"])", "--y-true 'a b' --labels 1 'it'\"'\"'s'"),
        ("df.tba(y_true='a)', missing='drop').", "--y-true 'a)' --missing drop."),
        ("no column 'labels=', `by`", "no column 'labels=', --by"),
        ('no column "`by`\'labels=", `by`', 'no column "`by`\'labels=", --by'),
        ("the models' own `by`, `t`", "the models' own --by, --t"),
        ("file= and run=", "file= and run="),
    ],
)
def test_arguments_become_options(text, found):
    assert with_options(text, OPTIONS) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb c\u00a0é😀\u200d", "a\nb c\u00a0é😀\u200d"),
        ("\x1b[31m\t\r\0\x7f\x9b", "\\x1b[31m\\t\\r\\x00\\x7f\\x9b"),
    ],
)
def test_control_characters_become_escapes(text, found):
    assert printable(text) == found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    frame = FRAME.assign(
        bad=FRAME["w"].where(np.arange(N) % 9 > 0, -1.5), one=7, t=FRAME["year"],
        gone=HOLED["y_pred"], more=FRAME["y_pred"].where(np.arange(N) % 9 > 0, "d"), answer=FRAME["yes"].map({True: "it's so", False: "no"}),
        case=np.arange(N) // 2, spoiled=FRAME["p"].astype(str).where(np.arange(N) > 0, "n.a.")
    )  # fmt: skip
    frame["my y"] = frame["y_true"]
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_parquet(folder / "x.parquet", row_group_size=11)
    frame.assign(lists=[[1]] * N).to_json(folder / "x.jsonl", orient="records", lines=True)
    return folder


def run(capsys, words):
    try:
        code = main([str(word) for word in words])
    except SystemExit as done:
        code = done.code
    return code, capsys.readouterr().err


WRONG = [
    "report --y-pred forest",
    "report --by year year",
    "report --model name --by name",
    "report --y-pred other other",
    "report --model name --y-pred y_pred other",
    "report --row case --y-pred y_pred other",
    "report --model name --row case",
    "report --weight name",
    "report --weight bad",
    "report --weight gone",
    "report --y-true yes --y-score name",
    "report --y-true yes --y-score spoiled",
    "report --y-true yes --y-pred p",
    "report --y-score p",
    "report --y-true answer --y-score p",
    "report --threshold 0.3",
    "report --y-true yes --y-score p --threshold nan",
    "report --y-pred gone other",
    "report --y-pred year",
    "report --labels a b",
    "report --labels a a b c",
    "report --labels 1 2 3",
    "report --abstain b",
    "report --pos-label a",
    "report --pos-label z",
    "report --y-true one --y-pred one --pos-label 7",
    "report --prevalence a=1 z=1",
    "report --prevalence a=0 b=1 c=1",
    "report --by t",
    "report --by lists",
    "report --t nan",
    "report --y-pred name",
    "check --by year --max-gap 0.1 --metrics recall",
    "check --by year --max-gap 0.1 --metrics recal",
    "check --by year --max-gap 2",
    "check --by year --max-gap 0.1 --min-support -1",
    "check --by year --max-gap 0.1 --y-true answer --y-pred answer --metrics recall",
]
PYTHON = re.compile(
    r"\bdf\b|\bpd\.|tba[.(]|\w\(|\b[a-z_]+=(?!\d|SHARE)|\.\.\.|\[(?!\d)|`|astype|None\b|True\b(?!')|mapping"
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("words", WRONG)
def test_messages_on_the_command_line_hold_no_python(capsys, files, kind, words):
    command, *rest = words.split()
    code, err = run(capsys, [command, files / f"x.{kind}", *rest])
    assert err.startswith("pandas-tba: ")
    assert code == 3 or "warning" in err
    assert not PYTHON.findall(err.replace(f"x.{kind}", ""))


# a command, what it pastes of the error (with the user's own for what stands in capitals), and what
# it takes back first
REPAIRS = {
    "a name": ("report --y-pred othr", r"Did you mean '(other)'\?", "--y-pred {}", "--y-pred othr"),
    "names": ("report --y-true truth --y-pred guess", r"as in (--y-true label --y-pred forest)\.", "{}", "--y-true truth --y-pred guess"),
    "missing": ("report --y-pred gone other", r"out with (--missing drop),", "{}", ""),
    "missing truth": ("report --y-true gone", r"out with (--missing drop)\.", "{}", ""),
    "scores": ("report --y-true yes --y-pred p", r"what it is: (--y-true yes --y-score p --threshold 0\.5),", "{}", "--y-true yes --y-pred p"),
    "scores of text": ("report --y-true answer --y-pred p", r"what it is: (--y-true .*), with (--pos-label LABEL) where", "{} {}", "--y-true answer --y-pred p"),
    "a positive label": ("report --y-true answer --y-score p", r"as in (--pos-label .*)\. Classes", "{}", ""),
    "scores of three classes": ("report --y-score p", r"(--y-pred COLUMN)\.", "{}", "--y-score p"),
    "a threshold": ("report --y-true yes --threshold 0.3", r"Name their column: (--y-score 'p')\.", "{}", ""),
    "labels": ("report --labels a b", r"holds ('c') \(.*Add them to (--labels)", "{1} a b {0}", "--labels a b"),
"one class": ("report --y-true one --y-pred one --pos-label 7", r"Declare both: (--labels OTHER 7)\.", "{}", ""),
    "a positive label of three": ("report --pos-label a", r"or leave --pos-label out()\.", "{}", "--pos-label a"),
    "metrics of one class": ("check --by year --max-gap 1 --metrics recall", r"as in (--metrics accuracy recall_macro)\.", "{}", "--metrics recall"),
    "metrics without a positive label": ("check --by year --max-gap 1 --y-true answer --y-pred answer --metrics recall", r"as in (--pos-label .*)\.$", "{}", ""),
    "a typo of a metric": ("check --by year --max-gap 1 --metrics acuracy", r"Did you mean '(\w+)'\?", "--metrics {}", "--metrics acuracy"),
    "no rule": ("check --by year", r"rule: (--max-gap X),", "{}", ""),
    "no group": ("check --max-gap 1", r"their columns: (--by COLUMN)\.", "{}", ""),
    "a row of no model": ("report --row case", r"(leave it out)", "", "--row case"),
    "models in two ways": ("report --model name --y-pred y_pred other", r"in columns \((--y-pred)\)", "", "--model name"),
    "a key of models": ("report --model name --by name", r"leave it out of (--by)", "", "--by name"),
    "labels to abstain": ("report --y-true other --y-pred more --labels a b c", r"holds ('d') \(.*no class go into (--abstain)\.", "{1} {0}", ""),
    "shares": ("report --prevalence mine", r"must be (own), pooled", "--prevalence {}", "--prevalence mine"),
}  # fmt: skip
OWN = {
    "COLUMN": "other", "label": "'my y'", "forest": "other", "LABEL": "\"it's so\"", "OTHER": "0", "X": "1",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("case", REPAIRS)
def test_a_repair_that_is_pasted_works(capsys, files, kind, case):
    words, pattern, repair, taken_back = REPAIRS[case]
    command, rest = words.split(" ", 1)
    code, err = run(capsys, [command, files / f"x.{kind}", *shlex.split(rest)])
    assert code == 3
    found = re.search(pattern, err.rstrip("\n"))
    assert found, err
    pasted = repair.format(*found.groups())
    for name, own in OWN.items():
        pasted = re.sub(rf"(?<!-)\b{name}\b", lambda _: own, pasted)  # noqa: B023
    rest = rest.replace(taken_back, "").split() if taken_back else rest.split()
    code, err = run(capsys, [command, files / f"x.{kind}", *rest, *shlex.split(pasted)])
    assert code in (0, 2), err
    assert code == 0 or command == "check"


def test_a_label_in_place_of_missing_predictions_is_named_with_abstain(capsys, files, tmp_path):
    code, err = run(capsys, ["report", files / "x.csv", "--y-pred", "gone"])
    assert code == 3
    assert "or write a label in place of missing predictions and name it: --abstain LABEL.\n" in err
    frame = pd.read_csv(files / "x.csv")
    frame["gone"] = frame["gone"].fillna("unsure")
    frame.to_csv(tmp_path / "x.csv", index=False)
    words = ["report", tmp_path / "x.csv", "--y-pred", "gone", "--abstain", "unsure"]
    assert run(capsys, words) == (0, "")


def test_a_file_of_another_encoding_is_saved_as_the_error_says(capsys, tmp_path):
    for encoding in ("utf-16", "cp1252"):
        path = tmp_path / f"{encoding}.csv"
        text = "y_true,y_pred,né\n1,1,é\n0,1,é\n"
        path.write_text(text, encoding=encoding)
        code, err = run(capsys, ["report", path])
        assert code == 3
        found = re.search(r"iconv -f (\S+) -t (\S+)\.\n", err)
        assert path.read_bytes().decode(found[1]).encode(found[2]).decode() == text


def test_columns_of_tabs_are_read_under_the_name_that_the_error_gives(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y_true\ty_pred\n1\t1\n0\t1\n", encoding="utf-8")
    code, err = run(capsys, ["report", path])
    assert code == 3
    assert err.endswith("Name it .tsv.\n")
    assert run(capsys, ["report", path.rename(tmp_path / "x.tsv")]) == (0, "")
