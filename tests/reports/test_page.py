"""The page of a report in a real browser: offline, by keyboard, with hostile names."""

import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hostile import NAMES, TITLE, hostile_report

import pandas_tba as tba
from pandas_tba.reports.views import DASH

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs the browser chromium")

MODELS = ["logit", "balanced", "forest"]
KEYS = {  # a page key moves by a tenth of the slider
    1.0: ["End"],
    0.5: ["End", *["PageDown"] * 2, *["ArrowLeft"] * 10],
    0.0: ["Home", *["PageUp"] * 5],
    -1.0: ["Home"],
}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    income = tba.load_income()
    reports = {
        "demo": income.tba(y_pred=MODELS).report(by="sex"),
        "long": income.tba(y_pred="forest").report(by=np.arange(4000) % 150),
        "hostile": hostile_report(),
        "absent": absent_frame().tba(labels=["a", "b"]).report(by="group"),
        "given": absent_frame().tba().report(prevalence={"a": 0.9, "b": 0.1}, t=0),
        "labels": absent_frame().replace({"a": "long label " * 30}).tba.report(by="group"),
    }
    for name, report in reports.items():
        report.to_html(folder / f"{name}.html")
    return folder


def absent_frame():
    """Three groups, of which one has no row of class b."""
    truth, group = [*"aaabbaabbbaa"], [*"xxxxxyyyyyzz"]
    return pd.DataFrame({"y_true": truth, "y_pred": [*"aabbbaaaabaa"], "group": group})


class Visit:
    """A page that is open, and all that the browser said about it."""

    def __init__(self, browser, file, **options):
        self.context = browser.new_context(offline=True, **options)
        self.page = self.context.new_page()
        self.said, self.requests = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(Path(file).as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def press(self, *keys):
        self.page.focus("#t")
        for key in keys:
            self.page.keyboard.press(key)

    def ranked(self, table=0):
        """Rank, name and score of each row of a ranked table, as shown when all are written."""
        self.page.wait_for_selector("[aria-busy=true]", state="detached")
        rows = self.page.locator("table.ranked").nth(table).locator("tbody tr")
        return rows.evaluate_all(
            """rows => rows.map(row => [row.querySelector(".rank").textContent,
            row.querySelector("th").textContent, row.querySelector(".score").dataset.number])"""
        )

    def column(self, section, at):
        cells = self.page.locator(f"#{section} tbody tr > :nth-child({at + 1})")
        return cells.all_text_contents()


@pytest.mark.parametrize("name", ["demo", "hostile", "absent", "given", "long"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_offline_without_a_fault(browser, files, name, scheme):
    file = files / f"{name}.html"
    with Visit(browser, file, color_scheme=scheme) as visit:
        visit.press("Home", "End", "ArrowLeft")
        assert visit.said == []
        assert visit.requests == [file.as_uri()]


@pytest.mark.parametrize("t", KEYS)
def test_the_slider_computes_what_python_does(browser, files, t):
    income = tba.load_income()
    with Visit(browser, files / "demo.html") as visit:
        visit.press(*KEYS[t])
        assert visit.page.input_value("#t") == f"{t:g}"
        of_models = income.tba(y_pred=MODELS).score(t=[t])[t]
        assert_ranked(visit.ranked(0), of_models)
        for at, model in enumerate(MODELS):
            assert_ranked(visit.ranked(1 + at), income.tba(y_pred=model).score(t=t, by="sex"))
        visit.page.check("input[value=pooled]")
        for at, model in enumerate(MODELS):
            common = income.tba(y_pred=model).score(t=t, by="sex", prevalence="pooled")
            assert_ranked(visit.ranked(1 + at), common)


def assert_ranked(shown, scores):
    expected = scores.sort_values(ascending=False, kind="stable")
    assert [name for _, name, _ in shown] == [str(name) for name in expected.index]
    assert [rank for rank, _, _ in shown] == [str(at + 1) for at in range(len(scores))]
    assert [float(score) for *_, score in shown] == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize(
    ("t", "is_defined"), [(1.0, True), (0.5, True), (0.0, False), (-1.0, False)]
)
def test_a_group_without_a_class_has_no_rank(browser, files, t, is_defined):
    with Visit(browser, files / "absent.html") as visit:
        visit.press(*KEYS[t])
        rank, name, score = visit.ranked()[-1]
        assert (rank, name) == (DASH, "z")
        assert math.isnan(float(score)) is not is_defined
        visit.page.check("input[value=pooled]")
        assert math.isnan(float(visit.ranked()[-1][2]))


@pytest.mark.parametrize("t", KEYS)
def test_the_slider_takes_given_shares(browser, files, t):
    given = {"a": 0.9, "b": 0.1}
    with Visit(browser, files / "given.html") as visit:
        visit.press(*KEYS[t])
        expected = absent_frame().tba.score(t=t, prevalence=given)
        assert float(visit.ranked()[0][2]) == pytest.approx(expected, abs=1e-9)


def test_the_line_moves_with_t(browser, files):
    with Visit(browser, files / "demo.html") as visit:
        places = []
        for key in ("Home", "End"):
            visit.press(key)
            line = visit.page.locator("line.now").first
            box, ticks = line.bounding_box(), visit.page.locator("#explore svg").first
            label = "\N{MINUS SIGN}1" if key == "Home" else "1"
            tick = ticks.locator("text", has_text=label).first.bounding_box()
            places.append(box["x"])
            if key == "Home":
                assert box["x"] == pytest.approx(tick["x"] + tick["width"] / 2, abs=2)
        assert places[1] > places[0] + 100


@pytest.mark.parametrize("name", ["demo", "hostile", "labels", "long"])
def test_the_line_crosses_no_name_of_a_line(browser, files, name):
    with Visit(browser, files / f"{name}.html") as visit:
        drawings = visit.page.locator("svg[data-step]")
        assert drawings.count() > 0
        for drawing in drawings.all():
            names = drawing.locator("g[id*=legend] text")
            ends = drawing.locator("line.now").bounding_box()
            assert names.count() > 2
            assert all(box.bounding_box()["y"] > ends["y"] + ends["height"] for box in names.all())


def test_two_models_swap_where_crossings_says(browser, files):
    found = tba.load_income().tba(y_pred=MODELS).crossings()["t_star"]
    t_star = found[("logit", "forest", 0)]
    with Visit(browser, files / "demo.html") as visit:
        orders = []
        for t in (np.floor(t_star * 100) / 100, np.ceil(t_star * 100) / 100):
            visit.press("End", *["ArrowLeft"] * round((1 - t) * 100))
            names = [name for _, name, _ in visit.ranked() if name != "balanced"]
            orders.append(names)
        assert orders == [["logit", "forest"], ["forest", "logit"]]


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_headers_sort_their_table(browser, files, how):
    with Visit(browser, files / "demo.html") as visit:
        header = visit.page.locator("#per_class thead th").nth(4)
        button = header.locator("button")
        for order in ("ascending", "descending"):
            button.click() if how == "click" else button.press("Enter")
            assert header.get_attribute("aria-sort") == order
            recalls = [float(text) for text in visit.column("per_class", 4)]
            assert recalls == sorted(recalls, reverse=order == "descending")


def test_hostile_names_are_text(browser, files):
    with Visit(browser, files / "hostile.html") as visit:
        visit.press("Home", "End")
        assert visit.page.title() == TITLE
        assert visit.page.inner_text("h1") == TITLE
        names = {name for _, name, _ in visit.ranked(1)}
        assert names == set(NAMES)
        assert {name for _, name, _ in visit.ranked(0)} == {NAMES[0], NAMES[3]}
        assert visit.page.locator("img").count() == 0
        assert visit.page.locator("script").count() == 2
        assert visit.said == []


@pytest.mark.parametrize("name", ["demo", "hostile", "long"])
def test_it_is_all_there_without_javascript(browser, files, name):
    with Visit(browser, files / f"{name}.html", java_script_enabled=False) as visit:
        assert visit.page.locator(".controls").is_hidden()
        assert visit.page.locator("table.ranked").first.is_visible()
        assert visit.page.locator("figure svg").first.is_visible()
        assert visit.page.locator("button").count() == 0


@pytest.mark.parametrize("name", ["demo", "hostile", "long"])
@pytest.mark.parametrize("width", [400, 1280])
def test_only_tables_scroll_sideways(browser, files, name, width):
    with Visit(browser, files / f"{name}.html", viewport={"width": width, "height": 900}) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width


def test_long_labels_over_columns_are_broken_into_lines(browser, files):
    with Visit(browser, files / "labels.html") as visit:
        headers = visit.page.locator("#confusion thead th")
        assert headers.count() == 3
        assert sum(header.bounding_box()["width"] for header in headers.all()) < 1280


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_keep_the_colours_that_they_were_given_for(browser, files, scheme):
    with Visit(browser, files / "demo.html", color_scheme=scheme) as visit:
        matrix = visit.page.locator("#confusion figure svg")
        style = "svg => [getComputedStyle(svg).filter, getComputedStyle(svg).backgroundColor]"
        see_through, white = "rgba(0, 0, 0, 0)", "rgb(255, 255, 255)"
        assert matrix.evaluate(style) == ["none", white if scheme == "dark" else see_through]


@pytest.mark.parametrize("name", ["demo", "long"])
def test_pictures_fit_a_printed_page(browser, files, name):
    with Visit(browser, files / f"{name}.html") as visit:
        visit.page.emulate_media(media="print")
        heights = [
            drawing.bounding_box()["height"] for drawing in visit.page.locator("figure svg").all()
        ]
        assert 100 < max(heights) <= 24 * 96 / 2.54 + 1


@pytest.mark.parametrize("name", ["demo", "hostile", "absent", "long"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, files, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    with Visit(browser, files / f"{name}.html", color_scheme=scheme) as visit:
        found = axe.Axe().run(visit.page)
        assert [fault["id"] for fault in found.response["violations"]] == []


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A thousand groups of ten classes; each seventh has a name of several lines."""
    random = np.random.default_rng(0)
    every = np.arange(10_000)  # no group lacks a class
    truth = np.concatenate([every % 10, random.integers(0, 10, 50_000)])
    group = np.concatenate([every // 10, random.integers(0, 1000, 50_000)])
    wrong = random.random(len(truth)) < 0.3
    names = [f"g{at}" if at % 7 else f"{'long name ' * (at % 30)}{at}" for at in range(1000)]
    frame = pd.DataFrame(
        {
            "y_true": truth,
            "y_pred": np.where(wrong, random.integers(0, 10, len(truth)), truth),
            "group": np.array(names)[group],
        }
    )
    file = tmp_path_factory.mktemp("pages") / "thousand.html"
    frame.tba.report(by="group").to_html(file)
    return frame, file


def test_a_step_of_the_slider_is_quick_for_a_thousand_groups(browser, thousand):
    with Visit(browser, thousand[1]) as visit:
        took = visit.page.evaluate(
            """() => { const slider = document.getElementById("t"); const times = [];
            for (let step = 0; step < 15; step += 1) { const start = performance.now();
            slider.value = -1 + step / 7; slider.dispatchEvent(new Event("input"));
            document.body.getBoundingClientRect(); times.push(performance.now() - start); }
            return times.sort((a, b) => a - b)[7]; }"""
        )
        assert took < 100  # milliseconds of script, style and layout; 12 on a quiet machine
        assert visit.said == []


def test_a_long_table_is_ranked_and_sorted_as_a_short_one(browser, thousand):
    frame, file = thousand
    scores = frame.tba.score(t=[-1.0, 1.0], by="group")
    n_rows = frame["group"].value_counts()
    with Visit(browser, file) as visit:
        for t, key in ((-1.0, "Home"), (1.0, "End")):
            visit.press(key)
            ranks, names, shown = zip(*visit.ranked(), strict=True)
            assert ranks == tuple(str(at + 1) for at in range(1000))
            assert [float(score) for score in shown] == pytest.approx(
                scores[t].sort_values(ascending=False).tolist(), abs=1e-9
            )
            assert [float(score) for score in shown] == pytest.approx(
                scores.loc[list(names), t].tolist(), abs=1e-9
            )
            assert visit.column("explore", 2) == [str(n_rows[name]) for name in names]
            visit.page.locator("table.ranked thead button").nth(1).click()
            assert [name for _, name, _ in visit.ranked()] == sorted(names)


MOVE = """const slider = document.getElementById("t"); slider.value = -1;
slider.dispatchEvent(new Event("input"));
const rows = [...document.querySelectorAll("table.ranked tbody tr")];
const texts = (rows) => rows.map((row) => row.textContent);"""


@pytest.mark.parametrize("scrolled", [0, 20_000, 1_000_000])
def test_of_a_long_table_rows_in_sight_change_at_once(browser, thousand, scrolled):
    with Visit(browser, thousand[1]) as visit:
        at_once, later = visit.page.evaluate(
            f"""async () => {{ const box = document.querySelector(".explored .wide");
            box.scrollTop = {scrolled}; {MOVE}
            const {{ top, bottom }} = box.getBoundingClientRect();
            const inSight = rows.filter((row) => row.getBoundingClientRect().bottom > top
                && row.getBoundingClientRect().top < bottom);
            const atOnce = texts(inSight);
            while (document.querySelector("[aria-busy=true]")) await new Promise(requestAnimationFrame);
            return [atOnce, texts(inSight)]; }}"""
        )
        assert at_once == later
        assert 5 < len(later) < 40


@pytest.mark.parametrize(
    "then",
    [
        "window.dispatchEvent(new Event('beforeprint'));",
        "document.querySelectorAll('table.ranked thead button')[2].click();",
    ],
    ids=["print", "sort"],
)
def test_of_a_long_table_all_rows_have_changed_before(browser, thousand, then):
    with Visit(browser, thousand[1]) as visit:
        has_some, has_all = visit.page.evaluate(
            f"""() => {{ {MOVE} const isBusy = () => document.querySelector("[aria-busy=true]") !== null;
            const wasBusy = isBusy(); {then} return [wasBusy, !isBusy()]; }}"""
        )
        assert (has_some, has_all) == (True, True)
        scores = {name: float(score) for _, name, score in visit.ranked()}
        assert scores == pytest.approx(thousand[0].tba.score(t=-1, by="group").to_dict(), abs=1e-9)
