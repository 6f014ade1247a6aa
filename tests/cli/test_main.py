"""The command line: what a newcomer sees first."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import pandas_tba as tba
from pandas_tba.cli import main as command_line
from pandas_tba.cli.main import EXPONENTS, main


def demo_lines(capsys):
    assert main(["demo"]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_demo_fits_a_screen(capsys):
    lines = demo_lines(capsys)
    assert 30 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("model", ["logit", "balanced", "forest"])
def test_the_demo_shows_the_scores_of_each_model(capsys, model):
    scores = tba.load_income().tba(y_pred=model).score(t=EXPONENTS)
    row = next(line.split() for line in demo_lines(capsys) if line.startswith(f"{model} "))
    assert row == [model, *(f"{score:.3f}" for score in scores)]


@pytest.mark.parametrize("prevalence", ["own", "pooled"])
def test_the_demo_shows_both_kinds_of_weights(capsys, prevalence):
    frame = tba.load_income()
    table = frame.tba(y_pred="logit").score(by="sex", t=EXPONENTS, prevalence=prevalence)
    rows = [line.split() for line in demo_lines(capsys)]
    for sex, scores in table.iterrows():
        assert [sex, *(f"{score:.3f}" for score in scores)] in rows


def test_the_demo_names_the_best_model_of_each_t(capsys):
    scores = tba.load_income().tba(y_pred=["logit", "balanced", "forest"]).score(t=EXPONENTS)
    best = "; ".join(f"{t:g}: {scores[t].idxmax()}" for t in EXPONENTS)
    assert f"Best at t = {best}." in demo_lines(capsys)


def test_the_demo_states_class_mix_and_gaps(capsys):
    frame = tba.load_income()
    rich = frame["y_true"].eq(">50K").groupby(frame["sex"], observed=True).mean()
    text = "\n".join(demo_lines(capsys))
    assert f"{rich['Female']:.0%} of women, {rich['Male']:.0%} of men" in text
    own, pooled = (
        frame.tba(y_pred="logit").score(by="sex", t=1, prevalence=kind)
        for kind in ("own", "pooled")
    )
    gaps = [f"{table.max() - table.min():.3f}" for table in (pooled, own)]
    assert f"the gap at t = 1 is {gaps[0]}, not {gaps[1]}." in text


def test_the_demo_shows_the_confusion_matrix(capsys):
    rows = [line.split() for line in demo_lines(capsys)]
    matrix = tba.load_income().tba(y_pred="logit").confusion_matrix()
    for label, cells in matrix.iterrows():
        assert [label, *map(str, cells)] in rows


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"pandas-tba {tba.__version__}\n"


def test_every_line_of_python_in_the_demo_runs(capsys):
    names: dict = {}
    code = [line[4:] for line in demo_lines(capsys) if line.startswith(">>> ")]
    assert len(code) == 8
    for line in code:
        exec(line, names)


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "pandas_tba", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("4,000 people (UCI Adult census income)")
    assert done.stderr == ""


def test_without_a_command_it_shows_help(capsys):
    assert main([]) == 3
    assert "demo" in capsys.readouterr().out


@pytest.fixture(scope="module")
def income(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "income.csv"
    assert main(["demo", "--csv", str(path)]) == 0
    return path


def run(capsys, *words):
    """Exit code, output and errors of a command."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as done:
        code = done.code
    said = capsys.readouterr()
    return code, said.out, said.err


def examples(capsys, command):
    _, text, _ = run(capsys, *command, "--help")
    lines = text.partition("examples:")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  pandas-tba ")]


@pytest.mark.parametrize("command", [[], ["report"], ["check"]])
def test_the_examples_of_the_help_run_in_their_order(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    commands = examples(capsys, command)
    assert len(commands) == 4
    for words in commands:
        assert run(capsys, *words)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"income.csv", "report.html"}


def test_the_demo_writes_its_report(capsys, tmp_path):
    path = tmp_path / "demo.html"
    assert run(capsys, "demo", "--out", path) == (0, "", f"pandas-tba: wrote {path}\n")
    assert "Who earns over 50,000 dollars?" in path.read_text(encoding="utf-8")


def test_a_report_on_a_file_is_that_on_its_frame(capsys, income):
    words = ["report", income, "--y-pred", "logit", "forest", "--by", "sex", "--t", "-0.5", "1"]
    code, out, err = run(capsys, *words, "--title", "Mine")
    door = tba.load_income().tba(y_pred=["logit", "forest"])
    assert (code, err) == (0, "")
    assert out == f"{door.report(by='sex', t=[-0.5, 1], title='Mine')!r}\n"


def test_a_report_takes_every_word_about_the_data(capsys, income, tmp_path):
    path = tmp_path / "report.md"
    words = [
        "report", income, "--y-score", "p_logit", "--threshold", "0.3", "--pos-label", ">50K", "--labels",
        "<=50K", ">50K", "--by", "sex", "race", "--prevalence", "<=50K=0.9", ">50K=0.1", "--missing", "drop",
        "--out", path,
    ]  # fmt: skip
    assert run(capsys, *words)[0] == 0
    door = tba.load_income().astype({"race": str}).tba(
        y_score="p_logit", threshold=0.3, pos_label=">50K", labels=["<=50K", ">50K"], missing="drop"
    )  # fmt: skip
    found = door.report(by=["sex", "race"], prevalence={"<=50K": 0.9, ">50K": 0.1})
    assert path.read_text(encoding="utf-8") == found.to_markdown()


def test_models_in_rows_and_weights(capsys, tmp_path):
    names = {"var_name": "model", "value_name": "y_pred"}
    long = tba.load_income().melt(["y_true", "p_logit"], ["logit", "forest"], **names)
    long["case"] = long.groupby("model").cumcount()
    path = tmp_path / "long.csv"
    long.to_csv(path, index=False)
    _, out, _ = run(capsys, "report", path, "--model", "model", "--row", "case")
    assert "Models compared" in out
    _, out, _ = run(capsys, "report", path, "--model", "model", "--weight", "p_logit")
    assert "Models compared" not in out
    assert "weight         " in out


def two_groups(folder, **columns):
    path = folder / "two.csv"
    frame = pd.DataFrame(
        {"y_true": [1, 1, 0, 0] * 2, "y_pred": [1, 1, 0, 0, 1, 0, 0, 0], **columns}
    )
    frame.assign(group=[*"aaaabbbb"]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("rules", "code", "status"),
    [
        (["--max-gap", "0.3"], 0, "pass"),
        (["--max-gap", "0.2"], 1, "fail"),
        (["--min-score", "0.7"], 0, "pass"),
        (["--min-score", "0.8"], 1, "fail"),
        (["--min-ratio", "0.8"], 1, "fail"),
        (["--max-gap", "0.3", "--metrics", "recall"], 1, "fail"),
        (["--max-gap", "0.3", "--min-support", "1"], 0, "pass"),
    ],
)
def test_a_check_tells_by_its_exit_code(capsys, tmp_path, rules, code, status):
    words = ["--by", "group", "--t", "0", "--level", "none", *rules]
    found, out, err = run(capsys, "check", two_groups(tmp_path), *words)
    assert (found, err) == (code, "")
    assert out.splitlines()[-1].endswith(status)


def test_a_check_may_be_undetermined(capsys, tmp_path):
    path = two_groups(tmp_path, y_true=[1, 1, 0, 0, 1, 1, 1, 1])
    words = ["check", path, "--by", "group", "--t", "0", "--max-gap", "0.9"]
    code, out, _ = run(capsys, *words)
    assert code == 2
    assert "undetermined" in out
    code, out, _ = run(capsys, *words, "--min-support", "1")
    assert code == 2
    assert "Left out, with too few rows of a class:" in out
    words = ["check", two_groups(tmp_path), "--by", "group", "--t", "0", "--max-gap", "0.5"]
    assert run(capsys, *words)[0] == 2  # of eight rows the gap may be larger
    assert run(capsys, *words, "--level", "0.1")[0] == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("report {income}", "income.csv has no column 'y_pred'. Columns: 'y_true', 'logit', 'balanced', 'forest', 'p_logit', 'sex', 'race', 'age_group', 'education'. Name yours, as in --y-true label --y-pred forest."),
        ("report {income} --y-pred logti", "income.csv has no column 'logti'. Did you mean 'logit'? Columns: 'y_true', 'logit', 'balanced', 'forest', 'p_logit', 'sex', 'race', 'age_group', 'education'. Name yours, as in --y-true label --y-pred forest."),
        ("report {income}.nowhere", "FILE must end in one of"),
        ("report /no/file.csv --y-pred logit", "No such file or directory: /no/file.csv"),
        ("report {income} --y-pred logit --y-score p_logit", "--y-pred and --y-score both name predictions; use one of them."),
        ("report {income} --y-pred logit --out report.pdf", "--out must end in .html or .md, or be - for text; got 'report.pdf'."),
        ("report {income} --y-pred logit --prevalence mine", "--prevalence must be own, pooled, or LABEL=SHARE for each class; got 'mine'."),
        ("report {income} --y-pred logit --weight sex", "income.csv: column 'sex' must hold numbers; could not convert string to float: 'Female'."),
        ("report {income} --y-score p_logit race", "income.csv: column 'race' must hold numbers; could not convert string to float: "),
        ("report {income} --y-pred logit --model sex --row sex", "--model and --row both name 'sex': one tells whose prediction a row is, the other which case it is about."),
        ("report {income} --y-pred logit --row sex", "--row pairs models in rows and needs --model; leave it out, or name both."),
        ("report {income} --y-pred logit --model sex --by sex", "--by: 'sex' is the models' own level here; leave it out of --by, or rename it."),
        ("report {income} --y-pred logit --t nan", "--t must be a number or a list of numbers, infinite ones included; got nan."),
        ("report {income} --y-pred p_logit", "--y-pred column 'p_logit' holds scores, not labels: numbers with fractions, while y_true has none. Name it as what it is: --y-true y_true --y-score p_logit --threshold 0.5, with --pos-label LABEL where the labels are not 0 and 1."),
        ("report {income} --y-score p_logit", "--y-score predicts one of two classes, and none is known to be positive. Name it, as in --pos-label '>50K'."),
        ("report /no/file.csv --out /no/folder/x.md", "No such file or directory: /no/folder/x.md"),
        ("check {income} --y-pred logit --by sex --max-gap 2", "--max-gap must lie between 0 and 1; got 2.0."),
        ("report /no/file.parquet", "No such file or directory: /no/file.parquet"),
        ("demo --csv /no/folder/x.csv", "No such file or directory: /no/folder/x.csv"),
        ("report {income} --y-pred logit --out /no/folder/x.md", "No such file or directory: /no/folder/x.md"),
        ("check {income} --y-pred logit --by sex", "Give at least one rule: --max-gap X, --min-ratio X or --min-score X."),
        ("check {income} --y-pred logit --max-gap 2", "There are no groups to compare; name their columns: --by COLUMN."),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_one_line(capsys, income, words, text):
    code, out, err = run(capsys, *words.format(income=income).split())
    assert (code, out) == (3, "")
    assert err.startswith("pandas-tba: ")
    assert err.count("\n") == 1
    assert text in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("guess", "invalid choice: 'guess'"),
        ("report", "the following arguments are required: FILE"),
        (f"report --y-pred a \0 --by c {'d' * 5000}", "the following arguments are required: FILE"),
        ("report --y-pred a b --by c d", "the following arguments are required: FILE"),
        ("report x.csv y.csv --y-pred a", "unrecognized arguments: y.csv"),
        ("check x.csv --max-gap much", "argument --max-gap: invalid float value: 'much'"),
    ],
)
def test_a_wrong_command_line_is_bad_input_too(capsys, words, text):
    code, _, err = run(capsys, *words.split())
    assert code == 3
    assert text in err
    assert "--help" in err


def test_warnings_are_a_line_without_code(capsys, tmp_path):
    path = two_groups(tmp_path, y_pred=["1", "1", "0", "0", "1", "0", "0", "2"])
    code, _, err = run(capsys, "report", path)
    assert code == 0
    assert err.startswith("pandas-tba: warning: ")
    assert err.count("\n") == 1


def test_the_reader_may_stop_reading(income):
    command = f"{sys.executable} -m pandas_tba report {income} --y-pred logit | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "Tempered balanced accuracy\n"
    assert "Traceback" not in done.stderr


def test_a_check_has_its_code_though_nobody_reads_it(income):
    words = ["check", income, "--y-pred", "logit", "--by", "sex", "--min-score", "1"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "pandas_tba", *words],
        stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


COMMANDS = ["demo", "demo --out x.md", "report x.csv", "check x.csv --by g --max-gap 1"]


def failing(fault):
    def fail(*_, **__):
        raise fault

    return fail


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "fault", [ZeroDivisionError("x"), ValueError("x"), TypeError("x"), KeyError("x")], ids=repr
)
def test_a_fault_of_ours_has_a_code_of_its_own(capsys, monkeypatch, command, fault):
    for name in ("count_file", "load_income"):
        monkeypatch.setattr(command_line, name, failing(fault))
    code, out, err = run(capsys, *command.split())
    assert (code, out) == (70, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.splitlines()[-2].startswith(type(fault).__name__)
    assert err.splitlines()[-1] == (
        "pandas-tba: this is a fault of pandas-tba, not of what it was given. Please report it with "
        "the lines above."
    )


def test_a_fault_in_front_of_all_commands_is_ours_too(capsys, monkeypatch):
    monkeypatch.setattr(command_line, "_parser", failing(AssertionError))
    assert run(capsys, "--version")[0] == 70


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interruption_is_one_line(capsys, monkeypatch, command):
    for name in ("count_file", "load_income"):
        monkeypatch.setattr(command_line, name, failing(KeyboardInterrupt()))
    assert run(capsys, *command.split()) == (130, "", "pandas-tba: interrupted\n")


def test_too_little_memory_is_no_fault_of_ours(capsys, monkeypatch):
    fault = MemoryError("Unable to allocate 1. TiB")
    monkeypatch.setattr(command_line, "count_file", failing(fault))
    text = "pandas-tba: Unable to allocate 1. TiB\n"
    assert run(capsys, "report", "x.csv") == (3, "", text)


@pytest.mark.parametrize("words", ["demo --csv {}", "demo --out {}.md", "demo --out {}.html"])
@pytest.mark.parametrize("is_old", [True, False])
def test_an_interruption_leaves_no_half_of_a_file(capsys, monkeypatch, tmp_path, words, is_old):
    path = tmp_path / words.replace("demo --", "").replace("{}", "x").partition(" ")[2]
    if is_old:
        path.write_text("old", encoding="utf-8")

    def half(text):
        def write(self, place=None, *_, **__):
            Path(place or self).write_bytes(text)
            raise KeyboardInterrupt

        return write

    monkeypatch.setattr(pd.DataFrame, "to_csv", half(b"half"))
    monkeypatch.setattr(Path, "write_text", lambda self, *_, **__: half(b"half")(self))
    assert run(capsys, *words.format(tmp_path / "x").split())[0] == 130
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([b"old"] if is_old else [])


def test_the_demo_packs_its_data(capsys, tmp_path):
    path = tmp_path / "income.csv.gz"
    assert run(capsys, "demo", "--csv", path)[0] == 0
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert len(pd.read_csv(path)) == len(tba.load_income())
    assert [*tmp_path.iterdir()] == [path]


def test_a_warning_is_told_once_for_counts_and_pairs(capsys, tmp_path):
    path = two_groups(tmp_path, y_pred=[1, 1, 0, 0, 1, 0, 0, 2], other=[1, 1, 0, 0, 1, 0, 0, 2])
    pd.read_csv(path).to_parquet(tmp_path / "two.parquet")
    for name in ("two.csv", "two.parquet"):
        _, _, err = run(capsys, "report", tmp_path / name, "--y-pred", "y_pred", "other")
        assert err.count("warning: Predicted, but never in y_true: 2.") == err.count("\n") == 1


def test_shares_of_negative_labels(capsys, tmp_path):
    columns = {"y_true": [1, 1, -1, -1] * 2, "y_pred": [1, 1, -1, -1, 1, -1, -1, 1]}
    path = two_groups(tmp_path, **columns)
    found = run(capsys, "report", path, "--prevalence", "-1=0.3", "1=.7", "--labels", "-1", "1")
    door = pd.read_csv(path).tba(labels=[-1, 1])
    assert found == (0, f"{door.report(prevalence={-1: 0.3, 1: 0.7})!r}\n", "")


@pytest.mark.parametrize(
    "t", [["--t", "-inf"], ["--t=-inf"], ["--t", "-1e308"], ["--t", "-Infinity"]]
)
def test_exponents_may_be_negative_in_every_way_of_writing(capsys, income, t):
    code, out, err = run(capsys, "report", income, "--y-pred", "logit", "forest", *t)
    assert (code, err) == (0, "")
    door = tba.load_income().tba(y_pred=["logit", "forest"])
    assert out == f"{door.report(t=float('-inf'))!r}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("demo", "standard output"),
        ("demo --csv /dev/full", "/dev/full"),
        ("demo --out {link}", "{link}"),
    ],
)
def test_a_full_disk_is_told_with_its_place(tmp_path, words, where):
    link = tmp_path / "full.md"
    link.symlink_to("/dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pandas_tba", *words.format(link=link).split()],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    place = where.format(link=link)
    assert (done.returncode, done.stderr) == (3, f"pandas-tba: No space left on device: {place}\n")
    assert Path("/dev/full").is_char_device()


def test_a_terminal_may_know_ascii_alone(income):
    done = subprocess.run(
        [sys.executable, "-m", "pandas_tba", "report", income, "--y-pred", "logit", "--by", "sex", "race"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Female \\xb7 Black" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "--y-pred forest logit {file}",
        "--y-pred forest logit {file} --by sex",
        "--y-pr forest logit {file} --by sex",
        "--by sex --y-pred forest logit {file}",
        "--by sex {file} --y-pred forest logit",
        "--title x {file} --by sex --y-pred forest logit",
        "--title=x {file} --by sex --y-pred forest logit",
        "--by=sex {file} --y-pred forest logit",
        "--y-pred forest logit --t 0.5 -1 {file} --by sex",
        "--y-pred forest logit --t {file}",
        "--prevalence own {file} --y-pred forest logit",
        "--prevalence <=50K=1 >50K=1 {file} --y-pred forest logit",
        "--labels <=50K >50K {file} --y-pred forest logit",
        "--y-pred forest logit --by sex -- {file}",
        "{file} --y-pred forest logit",
    ],
)
@pytest.mark.parametrize("name", ["income.csv", "income.csv.gz", "folder"])
def test_the_file_may_stand_behind_any_option(capsys, tmp_path, words, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        tba.load_income().to_parquet(path / "x.parquet")
    else:
        tba.load_income().to_csv(path, index=False)
    found = [word.format(file=path) for word in words.split()]
    if words.endswith("--t {file}"):
        assert run(capsys, "report", *found)[0] == 3  # an option without a value
        return
    first = [str(path), *(word for word in found if word not in (str(path), "--"))]
    expected = run(capsys, "report", *first)
    assert expected[0] == 0
    assert run(capsys, "report", *found) == expected


def test_a_column_that_is_named_like_a_folder_is_no_file(capsys, income, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forest").mkdir()
    words = ["report", "--by", "sex", income, "--y-pred", "logit", "forest"]
    assert run(capsys, *words)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["report", "\x1b[31m.csv"],
        ["report", "x.csv", "--\x1b[31m"],
        ["report", "x.csv", "--out", "\x1b[31m/x.md"],
        ["report", "{income}", "--y-pred", "logit", "--by", "\x9b31m\x07"],
        ["report", "{income}", "--y-pred", "logit", "--title", "\x1b[31m\r\x7f"],
        ["report", "{income}", "--y-pred", "logit", "--pos-label", "\x1b[31m"],
        ["report", "{income}", "--y-pred", "logit", "--out", "{folder}/\x1b[31m.md"],
        ["demo", "--csv", "{folder}/\x1b[31m.csv"],
        ["report", "{labels}"],
        ["check", "{labels}", "--by", "g", "--max-gap", "1"],
        ["\x1b[31m"],
    ],
)  # fmt: skip
def test_control_characters_are_shown_and_not_obeyed(capsys, income, tmp_path, words):
    labels = tmp_path / "labels.csv"
    labels.write_text("y_true,y_pred,g\n\x1b[31m,a\x07,\x9b1\na,a,b\n", encoding="utf-8")
    names = {"income": income, "folder": tmp_path, "labels": labels}
    _, out, err = run(capsys, *(word.format(**names) for word in words))
    assert out + err
    assert {*out, *err} - {"\n"} == {letter for letter in out + err if letter.isprintable()}
    assert re.search(r"\\x(1b|9b|07)", out + err)


@pytest.mark.parametrize(("variable", "value"), [("MPLBACKEND", "junk"), ("MPLBACKEND", "module")])
def test_settings_that_matplotlib_refuses_are_bad_input(income, tmp_path, variable, value):
    done = subprocess.run(
        [sys.executable, "-m", "pandas_tba", "report", income, "--y-pred", "logit", "--out", tmp_path / "x.html"],
        env={**os.environ, variable: value}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    *warnings, error = done.stderr.splitlines()
    assert error.startswith("pandas-tba: matplotlib does not start: ")
    assert error.endswith(". Correct or unset MPLBACKEND.")
    # matplotlib before 3.10.8 uses names of pyparsing that today's pyparsing warns of
    assert all(" deprecated - use " in line for line in warnings)
    assert [*tmp_path.iterdir()] == []


_SLOW = """
import sys, time
from pathlib import Path
import pandas as pd
from pandas_tba.cli.main import main

def half(path):
    with open(path, "w") as file:
        file.write("half")
    print("written", flush=True)
    time.sleep(60)

Path.write_text = lambda self, *_, **__: half(self)
pd.DataFrame.to_csv = lambda self, path, **_: half(path)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("words", ["--csv x.csv", "--out x.md"])
def test_a_signal_leaves_no_draft(tmp_path, name, is_old, words):
    path = tmp_path / words.split()[1]
    if is_old:
        path.write_text("old", encoding="utf-8")
    number = getattr(signal, name)
    with subprocess.Popen(
        [sys.executable, "-c", _SLOW, "demo", *words.split()], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "written\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err == ("pandas-tba: interrupted\n" if name == "SIGINT" else "")
    assert [file.read_text() for file in tmp_path.iterdir()] == (["old"] if is_old else [])


def test_signals_are_as_they_were_when_a_command_ends(capsys):
    numbers = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    before = [signal.getsignal(number) for number in numbers]
    assert run(capsys, "report", "x.csv")[0] == 3
    assert [signal.getsignal(number) for number in numbers] == before
    with ThreadPoolExecutor(1) as pool:  # where Python lets nobody set them
        assert pool.submit(main, ["report", "x.csv"]).result() == 3


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_pipe_that_nobody_reads_can_be_left(income, tmp_path, name):
    os.mkfifo(tmp_path / "x.md")
    words = ["report", income, "--y-pred", "logit", "--out", tmp_path / "x.md"]
    with subprocess.Popen(
        [sys.executable, "-m", "pandas_tba", *words], stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(5)
        assert process.poll() is None  # it waits for a reader, as `cat income.csv > x.md` does
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=60)
    assert process.returncode == 128 + getattr(signal, name)
    assert (tmp_path / "x.md").is_fifo()
