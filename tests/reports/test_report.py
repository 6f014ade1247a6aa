"""The report as text, Markdown, tables and a page."""

import base64
import hashlib
import json
import math
import os
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from frames import frame_of
from hostile import NAMES, TITLE, hostile_report
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba.reports.report import Report, report

MODELS = ["logit", "balanced", "forest"]
INCOME = tba.load_income()
WIDE = INCOME.tba(y_pred=MODELS)


@pytest.fixture(scope="module")
def demo():
    return WIDE.report(by="sex")


@pytest.fixture(scope="module")
def page(demo):
    return demo.to_html()


@pytest.fixture(scope="module")
def hostile():
    return hostile_report()


def long_frame():
    names = {"var_name": "model", "value_name": "y_pred"}
    long = INCOME.melt(["y_true", "sex"], ["logit", "forest"], ignore_index=False, **names)
    return long.reset_index(names="case")


class Elements(HTMLParser):
    """All elements of a page with their attributes, and the text of some."""

    def __init__(self, text):
        super().__init__()
        self.found, self.texts = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        tag = self.found[-1][0] if self.found else ""
        self.texts.setdefault(tag, []).append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


# tables


@pytest.mark.parametrize(
    ("section", "ask"),
    [
        ("groups", lambda: WIDE.interval(by="sex", t=[0.5, 0, 1])),
        ("models", lambda: WIDE.compare(t=0.5)),
        ("crossings", WIDE.crossings),
        ("disparity", lambda: WIDE.disparity(by="sex", t=0.5)),
        ("gaps", lambda: WIDE.gap(by="sex", t=[0.5, 0, 1])),
        ("confusion", WIDE.confusion_matrix),
        ("metrics", lambda: WIDE.metrics(t=0.5)),
    ],
)
def test_a_section_is_the_table_of_its_question(demo, section, ask):
    assert_frame_equal(demo.to_frame(section), ask())


def test_the_table_of_a_section_is_a_copy(demo):
    table = demo.to_frame("overall")
    table["score"] = 0.0
    assert demo.to_frame("overall")["score"].min() > 0.7


def test_slices_need_two_keys():
    found = INCOME.tba(y_pred="forest").report(by=["sex", "age_group"])
    expected = INCOME.tba(y_pred="forest").slices(by=["sex", "age_group"], t=0.5)
    assert_frame_equal(found.to_frame("slices"), expected)


def test_overall_stands_beside_guessing(demo):
    overall = demo.to_frame("overall")
    majority = WIDE.metrics(metrics="majority", t=[0.5, 0, 1])["majority"]
    assert overall["majority"].tolist() == majority.tolist()
    assert set(overall["chance"]) == {0.5}


@pytest.mark.parametrize(
    ("ask", "sections"),
    [
        (lambda: WIDE.report(by="sex"), "summary data overall models crossings groups gaps disparity per_class confusion metrics undefined methods"),
        (WIDE.report, "summary data overall models crossings per_class confusion metrics undefined methods"),
        (lambda: INCOME.tba(y_pred="logit").report(), "summary data overall per_class confusion metrics undefined methods"),
        (lambda: INCOME.tba(y_pred="logit").report(by="sex"), "summary data overall crossings groups gaps disparity per_class confusion metrics undefined methods"),
        (lambda: INCOME[INCOME["sex"] == "Male"].tba(y_pred="logit").report(by="sex"), "summary data overall groups gaps disparity per_class confusion metrics undefined methods"),
        (lambda: long_frame().tba(model="model").report(), "summary data overall crossings per_class confusion metrics undefined methods"),
        (lambda: long_frame().tba(model="model", row="case").report(), "summary data overall models crossings per_class confusion metrics undefined methods"),
    ],
)  # fmt: skip
def test_what_there_is_to_tell_decides_the_sections(ask, sections):
    assert ask().sections == tuple(sections.split())


def test_models_in_rows_are_compared_like_models_in_columns():
    found = long_frame().tba(model="model", row="case").report().to_frame("models")
    expected = INCOME.tba(y_pred=["logit", "forest"]).compare(t=0.5)
    flip = (-1) ** (list(found.index) != list(expected.index))
    assert (flip * found["difference"]).tolist() == pytest.approx(expected["difference"].tolist())


@pytest.mark.parametrize("prevalence", ["own", "pooled", {"<=50K": 0.9, ">50K": 0.1}])
def test_class_shares_weigh_scores_and_gaps(prevalence):
    found = WIDE.report(by="sex", t=1, prevalence=prevalence)
    scores = WIDE.score(by="sex", t=1, prevalence=prevalence)
    assert found.to_frame("groups")["score"].tolist() == scores.tolist()
    common = "pooled" if prevalence == "own" else prevalence
    gaps = WIDE.gap(by="sex", t=1, prevalence=common)
    assert found.to_frame("gaps")["gap"].tolist() == gaps["gap"].tolist()


def test_the_function_over_counts_gives_the_same_as_the_door(demo):
    counts = tba.count(INCOME, y_pred=MODELS, by="sex")
    pairs = tba.count_pairs(INCOME, y_pred=MODELS)
    assert repr(report(counts, pairs=pairs)) == repr(demo)


def test_the_same_counts_give_the_same_report(demo, page):
    again = WIDE.report(by="sex")
    assert again.to_markdown() == demo.to_markdown()
    assert again.to_html() == page


# words


def test_in_short(demo):
    assert demo.to_frame("summary")["finding"].tolist() == [
        "At t = 0.5, logit has the highest score of 3 models: 0.818 [0.805, 0.831]. Always answering the largest class scores 0.635 at t = 0.5.",
        "No two models score apart at t = 0.5 beyond what chance can do (Holm, 5 %).",
        "Models swap rank: balanced and logit at t = 0.403; logit and forest at t = 0.634; balanced and forest at t = 0.447 (the first is better below it).",
        "logit: Male scores 0.029 below Female at t = 0.5; equal groups would show 0.014 (p = 0.072).",
        "balanced: Male scores 0.092 below Female at t = 0.5; equal groups would show 0.012 (p < 0.001).",
        "forest: Male scores 0.011 below Female at t = 0.5; equal groups would show 0.013 (p = 0.527).",
    ]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: WIDE.report(t=1), "forest beats balanced by 0.058"),
        (lambda: INCOME.tba(y_pred="forest").report(), "The score at t = 0.5 is 0.815 [0.802, 0.828], at t = 0 0.764, at t = 1 0.860."),
        (lambda: frame_of().tba().report(by="segment"), "b scores 0.500 below a at t = 0.5; equal groups would show"),
        (lambda: frame_of(y_pred=[1, 0, 1, 0]).tba().report(by="segment"), "No group scores above another at t = 0.5."),
    ],
)  # fmt: skip
def test_findings(ask, words):
    assert words in " ".join(ask().to_frame("summary")["finding"])


def test_groups_that_lack_a_class_are_told_of():
    frame = frame_of(y_true=[1, 0, 1, 1], y_pred=[1, 0, 0, 1])
    found = frame.tba().report(by="segment")
    finding = found.to_frame("summary")["finding"]
    assert "1 group without rows of some class" in finding.iloc[-1]
    assert "is undefined, 1 undefined of 2 groups" in finding.iloc[-2]
    assert "no rows of 0" in repr(found)
    assert found.to_frame("undefined")["reason"].unique().tolist() == ["no rows of 0"]


def test_pictures_are_as_high_as_their_rows():
    door = INCOME.tba(y_pred=["logit", "balanced", "forest"])
    page = door.report(by=["sex", "age_group"]).to_html()
    drawings = [tag for tag in re.findall("<svg [^>]*>", page) if 'aria-label="Slices' in tag]
    heights = [int(re.search(' height="([0-9]+)"', tag)[1]) for tag in drawings]
    assert heights == [round((20 * 0.27 + 1.6) * 96)] * 3  # 20 slices of each model


def test_nothing_warns_but_the_count():
    frame = frame_of(y_true=[1, 0, 1, 1], y_pred=[1, 0, 0, 1])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        repr(frame.tba().report(by="segment").to_html())
    assert [str(warning.message) for warning in said] == []


def test_data_names_what_was_left_out_and_weighed():
    frame = pd.DataFrame(
        {"y_true": [*"aabb"], "y_pred": ["a", "b", None, "b"], "w": [1.0, 2.0, 3.0, 0.5]}
    )
    facts = frame.tba(missing="drop", sample_weight="w").report().to_frame("data")["value"]
    assert facts.to_dict() == {
        "rows": "3",
        "weight": "3.5",
        "rows left out": "1 (y_pred: 1)",
        "classes": "2, those that occur",
    }


def test_text_is_for_a_terminal(demo):
    lines = repr(demo).splitlines()
    assert lines[0] == "Tempered balanced accuracy of logit, balanced, forest"
    assert max(map(len, lines)) <= 120
    assert lines[-3] == ".to_html(path)  .to_markdown(path)  .to_frame(section), sections:"


def test_long_tables_are_cut_in_a_terminal():
    frame = pd.DataFrame(
        {"y_true": [0, 1] * 50, "y_pred": [0, 1] * 50, "group": np.arange(100) // 2}
    )
    found = frame.tba().report(by="group")
    assert "and 38 more: .to_frame('groups')" in repr(found).splitlines()


def test_the_title_is_the_users():
    assert repr(WIDE.report(title="Mine\n\x1b[31m")).splitlines()[0] == r"Mine\n\x1b[31m"


# Markdown


def test_markdown_has_a_table_for_each_section(demo):
    text = demo.to_markdown()
    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert len(tables) == text.count("\n| ---")
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_markdown_shows_hostile_names_as_text(hostile):
    text = hostile.to_markdown()
    assert "<" not in text.replace("&lt;", "")
    assert re.search(r"(?<!\\)[$*`]", text) is None
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("x\\_1\\$ \\|") == line.count("x\\_1")


# the page


def test_the_page_allows_only_what_it_holds(page):
    elements = Elements(page)
    policy = next(meta["content"] for meta in elements.of("meta") if "http-equiv" in meta)
    for tag in ("script", "style"):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        assert len(text) == 1
        digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["demo", "hostile"])
def test_the_page_has_no_styles_of_elements_and_fetches_nothing(request, name):
    elements = Elements(request.getfixturevalue(name).to_html())
    for tag, attributes in elements.found:
        assert "style" not in attributes, tag
        assert not any(key.startswith("on") for key in attributes), tag
        for key in ("src", "href", "xlink:href", "action"):
            target = attributes.get(key, "#")
            assert target.startswith(("#", "data:image/png;base64,")), tag
    assert {"link", "iframe", "object", "embed", "img", "form"}.isdisjoint(
        tag for tag, _ in elements.found
    )


@pytest.mark.parametrize("name", ["demo", "hostile"])
def test_ids_are_unique_and_what_is_referred_to_is_there(request, name):
    elements = Elements(request.getfixturevalue(name).to_html())
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [a["href"] for _, a in elements.found if "href" in a]
    used = [link[1:] for link in links if link.startswith("#")]
    used += re.findall(r"url\(#([^)]+)\)", str(elements.found))
    assert used
    assert set(used) <= set(ids)


def test_hostile_names_are_text_of_the_page(hostile):
    elements = Elements(hostile.to_html())
    shown = {text for texts in elements.texts.values() for text in texts}
    assert {*NAMES, TITLE} <= shown
    assert len(elements.of("script")) == 2


def test_the_page_embeds_numbers_alone(hostile):
    text = re.findall(r'id="counts">(.*?)</script>', hostile.to_html(), flags=re.DOTALL)[0]
    assert re.fullmatch(r'[\d\[\]{}:,. "a-z]+', text)


@pytest.mark.parametrize("t", [1.0, 0.5, 0.0, -1.0])
@pytest.mark.parametrize("prevalence", ["own", "pooled"])
def test_scores_follow_from_what_the_page_embeds(page, t, prevalence):
    text = re.findall(r'id="counts">(.*?)</script>', page, flags=re.DOTALL)[0]
    tables = json.loads(text)["tables"]
    expected = [WIDE.score(t=[t])[t]] + [
        INCOME.tba(y_pred=model).score(by="sex", t=t, prevalence=prevalence) for model in MODELS
    ]
    for table, scores in zip(tables, expected, strict=True):
        support, hits = np.array(table["support"], float), np.array(table["hits"], float)
        shared = prevalence == "pooled" and table["pooled"]
        power = (support.sum(axis=0, keepdims=True) if shared else support) ** t
        found = (power / power.sum(axis=1, keepdims=True) * hits / support).sum(axis=1)
        assert found.tolist() == pytest.approx(scores.tolist(), abs=1e-12)


def test_the_demo_is_small(page):
    assert len(page.encode()) < 400_000


def test_the_notebook_shows_tables_and_pictures_and_runs_nothing(demo, hostile):
    for found in (demo, hostile):
        elements = Elements(found._repr_html_())
        tags = {tag for tag, _ in elements.found}
        assert {"table", "svg"} <= tags
        assert {"script", "style", "input", "button", "img"}.isdisjoint(tags)
        assert not any("style" in attributes for _, attributes in elements.found)


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_its_packages_a_notebook_shows_text(demo, monkeypatch, missing):
    known = {"jinja2": object(), "matplotlib": object(), missing: None}
    monkeypatch.setattr("pandas_tba.reports.report.find_spec", known.get)
    assert demo._repr_html_() is None


@pytest.mark.parametrize("missing", [["jinja2"], ["jinja2", "matplotlib"]])
def test_without_jinja2_a_page_says_how_to_install_it(demo, monkeypatch, missing):
    for name in missing:
        monkeypatch.setitem(__import__("sys").modules, name, None)
    text = (
        "A page needs jinja2, which is not installed. Install it: pip install 'pandas-tba[report]'"
    )
    with pytest.raises(ImportError, match=re.escape(text)):
        demo.to_html()
    assert demo.to_markdown().startswith("# Tempered")


# files


@pytest.mark.parametrize("write", ["to_html", "to_markdown"])
def test_a_file_holds_what_is_returned(demo, page, tmp_path, write):
    path = tmp_path / "báo cáo"
    path.write_text("old", encoding="utf-8")
    assert getattr(demo, write)(str(path)) is None
    expected = page if write == "to_html" else demo.to_markdown()
    assert path.read_text(encoding="utf-8") == expected
    assert [*tmp_path.iterdir()] == [path]


def test_a_failure_leaves_no_file_and_the_old_one(demo, tmp_path, monkeypatch):
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        demo.to_markdown(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_link_stays_one(demo, tmp_path):
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    link.symlink_to(real)
    demo.to_markdown(link)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == demo.to_markdown()


@pytest.mark.parametrize("write", [Report.to_html, Report.to_markdown])
@pytest.mark.parametrize(
    ("path", "error", "text"),
    [
        (b"x", tba.KindError, "`path` must be text or a pathlib.Path; got b'x'. Without it the text is returned."),
        (3, tba.KindError, "`path` must be text or a pathlib.Path; got 3. Without it the text is returned."),
        ("a\0", tba.InputError, "`path` must name a file; got 'a\\x00'."),
        ("", IsADirectoryError, ""),
        (".", IsADirectoryError, "."),
        ("nowhere/x.html", FileNotFoundError, "nowhere/x.html"),
        ("x" * 999, OSError, "x" * 300),
    ],
)  # fmt: skip
def test_a_path_that_is_none_is_named_as_it_was_given(demo, tmp_path, monkeypatch, write, path, error, text):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        write(demo, path)
    assert text == getattr(caught.value, "filename", str(caught.value))
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_stays_one(demo, tmp_path):
    path = tmp_path / "pipe.md"
    os.mkfifo(path)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(path.read_text, encoding="utf-8")
        demo.to_markdown(path)
        assert read.result(timeout=10) == demo.to_markdown()
    assert path.is_fifo()


# faults and edges


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda: report(INCOME), tba.KindError, "`counts` must be ConfusionCounts; got DataFrame."),
        (lambda: report(tba.count(INCOME, y_pred="logit"), pairs=3), tba.KindError, "`pairs` must be PairedCounts; got int. Count them: tba.count_pairs(df, y_true='y', y_pred=['a', 'b'])."),
        (lambda: WIDE.report(t="x"), tba.InputError, "`t` must be a number"),
        (lambda: WIDE.report(t=[]), tba.InputError, "`t` is an empty list; give at least one number."),
        (lambda: WIDE.report(by="sx"), tba.ColumnError, "Did you mean 'sex'?"),
        (lambda: WIDE.report(prevalence="mine"), tba.InputError, "`prevalence` must be one of 'own', 'pooled'; got 'mine'."),
        (lambda: WIDE.report().to_frame("gap"), tba.InputError, "`section` must be one of"),
    ],
)  # fmt: skip
def test_faults_are_named(ask, error, text):
    with pytest.raises(error, match=re.escape(text)):
        ask()


def edge(**asked):
    frame = pd.DataFrame(
        {
            "y_true": [1, 1, 1, 0, 0, 1, 1, 0],
            "y_pred": [1, 0, 1, 0, 1, 1, 1, 0],
            "group": pd.Categorical([*"aaaabbbb"], categories=[*"abc"]),
            "w": np.linspace(0.5, 2, 8),
        }
    )
    names = ("labels", "sample_weight", "pos_label")
    bound = {name: asked.pop(name) for name in names if name in asked}
    return frame.tba(**bound).report(**asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"t": [math.inf, -math.inf, 3]},
        {"t": 0.333, "by": "group"},
        {"by": "group", "observed": False},
        {"by": "group", "sample_weight": "w"},
        {"labels": [0, 1, 2], "by": "group"},
        {"labels": [0, 1, 2], "prevalence": {0: 1, 1: 1, 2: 2}},
        {"pos_label": 1, "by": ["group", "w"]},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_edges_have_all_outputs(asked):
    found = edge(**asked)
    assert isinstance(found, Report)
    page = found.to_html()
    assert page.rstrip().endswith("</html>")
    assert " style=" not in page
    assert found.to_markdown().startswith("# Tempered balanced accuracy\n")
    assert "nan" not in repr(found)


def test_labels_that_are_words_of_tables_are_labels():
    labels = ["score", "low", "high", "n"]
    frame = pd.DataFrame({"y_true": labels, "y_pred": labels, "w": [0.5, 1.5, 2.0, 1.0]})
    found = frame.tba(sample_weight="w").report()
    lines = repr(found).splitlines()
    header = lines[lines.index("Confusion") + 3]
    assert header.split() == ["y_true", "high", "low", "n", "score"]
    assert lines[lines.index("Confusion") + 4].split() == ["high", "2.000", *["0.000"] * 3]


@pytest.mark.parametrize(("t", "text"), [(math.inf, "inf"), (-math.inf, "-inf"), (1e308, "inf")])
def test_models_are_compared_at_an_infinite_t(t, text):
    found = WIDE.report(t=t)
    assert f" at t = {text}" in found.to_frame("summary")["finding"][1]
    assert f"t = {text}" in found.to_html()


@pytest.mark.parametrize("title", [3, b"x", pd.NA, ["a"], np.array([1, 2])])
def test_a_title_is_text(title):
    with pytest.raises(tba.InputError) as caught:
        WIDE.report(title=title)
    assert str(caught.value) == f"`title` must be text; got {title!r}."


def test_a_lone_surrogate_is_shown_by_its_code():
    # 1 makes the key object: a column of text cannot hold a lone surrogate where PyArrow stores it
    frame = pd.DataFrame({"y_true": [1, 0, 1, 0], "y_pred": [1, 0, 0, 0]}).assign(
        key=pd.Series(["\ud800", "\ud800", 1, 1], dtype=object)
    )
    found = frame.tba.report(by="key", title="a\udfff")
    for text in (found.to_html(), found.to_markdown(), repr(found)):
        text.encode()
        assert "ud800" in text
        assert "udfff" in text
