"""The command line: what a newcomer sees first."""

import subprocess
import sys

import pytest

import pandas_tba as tba
from pandas_tba.__main__ import EXPONENTS, main


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
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["guess"])
    assert "invalid choice: 'guess'" in capsys.readouterr().err
