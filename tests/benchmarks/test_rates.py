"""The simulation itself: its designs, its bars, and that it notices methods that are broken."""

import numpy as np
import pandas as pd
import pytest
from simulation import designs, findings, groups, mutations, pairs, single_metrics, table
from simulation.findings import SMOOTH, VERDICT, Limits, Rate, RateBar
from simulation.studies import Line, Study, run

TBA = Study("tba", "13 designs", designs.THIRTEEN, single_metrics.measure_tba, 0, SMOOTH, short=500)
FAMILIES = Study(
    *("disparity", "families", (groups.FORTY, groups.THREE), groups.measure_family, 0),
    *(groups.FAMILY, groups.FAMILY_BARS),
    short=60,
)


@pytest.mark.parametrize(
    ("mutation", "study", "caught"),
    [
        ("unsmoothed", TBA, {f"tba, t = {t:g}" for t in (-1, -0.5, 0, 0.5)}),
        ("wald", TBA, {f"tba, t = {t:g}" for t in single_metrics.EXPONENTS}),
        ("holm", FAMILIES, {"any false alarm (adjusted p)"}),
    ],
)
def test_a_broken_method_is_noticed(mutation, study, caught):
    lines, _ = mutations.run_mutated(study, mutation=mutation, is_short=True)
    assert caught <= {line.what for line in lines if not line.finding.holds}


def test_the_method_that_is_not_broken_holds():
    lines, _ = mutations.run_mutated(TBA, is_short=True)
    assert [line.finding.holds for line in lines] == [True] * 5


def test_mutations_leave_the_library_as_it_was():
    before = single_metrics.tba.interval
    mutations.run_mutated(TBA, mutation="wald", share=0, is_short=True)
    assert single_metrics.tba.interval is before


def test_the_same_seed_finds_the_same():
    first, second = (run(TBA, is_short=True, share=0.1)[0] for _ in range(2))
    assert first == second


def test_a_study_that_breaks_does_not_hold():
    def broken(design, n_samples, generator):
        raise TypeError("no such\nargument")

    lines, _ = run(Study("one", "designs", (1,), broken, 10, SMOOTH))
    error = "TypeError: no such argument (broken)"
    finding = findings.Finding("", error, "", 0, holds=False)
    assert lines == [Line("one", "", "designs", finding)]
    assert table.as_row(lines[0]) == f"| one | designs |  | {error} |  | 0 |  | **no** |"


def test_limits_are_judged_by_side():
    limits = pd.DataFrame(
        {
            "score": [0.5, 0.5, 0.5, 0.5, np.nan],
            "low": [0.4, 0.6, 0.1, np.nan, 0.0],
            "high": [0.6, 0.9, 0.3, 0.6, 1.0],
        }
    )
    cell = findings.judge_limits("one", limits, 0.5, np.array([True, True, False, True, True]))
    assert cell == Limits("one", 4, 1, 1, 1, Limits("one", 3, 1, 0, 1))
    assert cell.covered == 25
    assert cell.missed == (25, 25)


COVERAGE_CASES = [
    # too high, too low, without, of 1,000; how the sides are and whether the bars hold
    ((20, 20, 0), "even", True),
    ((45, 45, 0), "uneven", False),  # the mean is 91
    ((5, 5, 0), "even", False),  # the mean is 99
    ((0, 45, 0), "uneven", True),
    ((0, 60, 0), "**no**", False),  # the mean is 94
    ((20, 20, 30), "even", False),  # no limits
]


@pytest.mark.parametrize(("misses", "sides", "holds"), COVERAGE_CASES)
def test_bars_of_coverage(misses, sides, holds):
    finding = SMOOTH.judge([Limits("one", 1000, *misses)], 0)
    assert (finding.sides, finding.holds) == (sides, holds)


@pytest.mark.parametrize(("n_missed", "is_known"), [(40, False), (65, True), (75, False)])
def test_a_line_known_to_fall_short_must_be_no_worse(n_missed, is_known):
    known = {"all": SMOOTH._replace(mean=(93, 97.5))}
    study = Study("one", "designs", (), max, 10, SMOOTH, known=known)
    half = n_missed // 2
    finding = study.judge("all", [Limits("one", 1000, half, n_missed - half, 0)], 0)
    assert (finding.holds, finding.is_known) == (n_missed == 40, is_known)
    assert not study.judge("other", [Limits("one", 1000, 33, 32, 0)], 0).is_known


def test_the_exit_code_allows_what_is_known(monkeypatch, capsys):
    def found(is_known):
        line = Line("one", "", "designs", findings.NOTHING._replace(is_known=is_known))
        monkeypatch.setattr(table, "run_all", lambda *_: [line])
        return table.main(["--only", "mover"])

    assert (found(False), found(True)) == (1, 0)
    assert "**no**, known" in capsys.readouterr().out


def test_a_cell_is_judged_where_every_denominator_has_five_rows():
    good = [Limits(f"good {i}", 1000, 15, 15, 0) for i in range(9)]
    bad = Limits("bad", 1000, 15, 15, 0, Limits("bad", 600, 0, 120, 0))
    assert not SMOOTH.judge([*good, bad], 0).holds
    rare = bad._replace(solid=Limits("bad", 400, 0, 80, 0))
    assert SMOOTH.judge([*good, rare], 0).holds


@pytest.mark.parametrize(
    ("bar", "times", "slack", "holds"),
    [
        (VERDICT, (35, 0), 0, True),
        (VERDICT, (36, 0), 0, False),
        (VERDICT, (36, 0), 3, True),
        (RateBar("5", 2, 6.5), (10, 20), 0, False),  # too seldom
        (RateBar("5", 2, 6.5), (10, 60), 0, True),
    ],
)
def test_bars_of_rates(bar, times, slack, holds):
    cells = [Rate("one", 1000, number) for number in times]
    assert bar.judge(cells, slack).holds is holds


def test_random_designs_follow_their_rule():
    found = designs.random_designs()
    assert len(found) == 60
    for design in found:
        assert 60 <= design.n <= 2000
        assert design.cells.sum() == pytest.approx(1)
        assert design.n * min(design.cells.sum(axis=0).min(), design.cells.sum(axis=1).min()) >= 8


def test_joint_cells_have_the_recalls_of_both_models():
    pair = pairs.Pair(100, (0.6, 0.3, 0.1), (0.9, 0.8, 0.7), (0.85, 0.85, 0.7), 0.4)
    cells = pair.cells
    assert cells.min() >= 0
    for recalls, axis in ((pair.first, 2), (pair.second, 1)):
        of_model = cells.sum(axis=axis)
        assert np.diag(of_model) / of_model.sum(axis=1) == pytest.approx(recalls)
    assert cells.sum(axis=(1, 2)) == pytest.approx(pair.shares)


def test_the_last_class_against_the_rest():
    cells = np.arange(9).reshape(3, 3)
    assert designs.against_rest(cells).tolist() == [[0 + 1 + 3 + 4, 2 + 5], [6 + 7, 8]]


def test_rows_of_groups_keep_their_sizes():
    generator, sizes = np.random.default_rng(0), [[20, 2], [5, 7]]
    recalls = np.array([[0.9, 0.8], [0.5, 0.6]])
    fixed = designs.draw_rows(sizes, recalls, 50, generator)
    drawn = designs.draw_rows(sizes, recalls, 50, generator, is_fixed=False)
    assert (fixed.sum(axis=-1) == sizes).all()
    assert drawn.shape == fixed.shape
    assert (drawn.sum(axis=(2, 3)) == [22, 12]).all()
    assert not (drawn.sum(axis=-1) == sizes).all()


def test_the_table_is_written_and_the_exit_code_says_whether_it_holds(tmp_path, capsys):
    target = tmp_path / "table.md"
    options = ["--only", "interval, mover", "--share", "0.05"]
    assert table.main([*options, "--write", str(target)]) == 0
    written = target.read_text(encoding="utf-8")
    assert written.splitlines()[0] == f"| {' | '.join(table.HEADS)} |"
    assert written.count("| yes |") == 5
    assert "5 of 5 lines hold;" in capsys.readouterr().out


def test_a_selection_of_no_study_is_an_error():
    with pytest.raises(SystemExit, match=r"^no study has 'nothing' in its name$"):
        table.main(["--only", "nothing"])
