"""How Sphinx builds the documentation. The built pages fetch nothing from the network."""

import re

import matplotlib.font_manager  # noqa: F401  (its first import may log; let no page show that)
import sphinx_autosummary_accessors
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

import pandas_tba

project = "pandas-tba"
author = "pandas-tba developers"
project_copyright = f"2026, {author}"
version = release = pandas_tba.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_autosummary_accessors",  # gives the methods of an accessor the names that users call
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_templates", "scripts", "explanation/coverage-table.md"]

# Pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "force"
nb_execution_in_temp = True  # files that a page writes do not stay
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_render_markdown_format = "myst"  # tables and formulas in what a cell makes
nb_output_stderr = "warn"  # what a cell warns of fails the build

# Reference
autodoc_typehints = "none"  # numpydoc prints the types of the docstrings
templates_path = ["_templates", sphinx_autosummary_accessors.templates_path]
numpydoc_show_class_members = False
numpydoc_validation_checks = {"PR02", "PR03", "PR10"}  # documented parameters are those there are
nitpicky = True
nitpick_ignore_regex = [
    # The manuals of Python and of these projects are not at hand when the pages are built.
    (r"py:.*", r"(numpy|sklearn|fairlearn|scipy|matplotlib|pandera|pyarrow)\..*"),
    (r"py:.*", r"pandas\.(?!DataFrame\.tba).*"),
    (r"py:.*", r"bool|dict|float|int|list|None|object|str|tuple"),
    (r"py:.*", r"KeyError|TypeError|ValueError|UserWarning"),
    # Attributes stand on the page of their class and have none of their own.
    (r"py:obj", r"labels|is_class|declared|groups|model|pos_label|is_weighted|sections"),
]

# Classes that functions make: nobody calls them, so their pages show no signature.
MADE_BY_FUNCTIONS = {"Check", "ConfusionCounts", "PairedCounts", "Report", "TbaAccessor", "TbaPlot"}

# Looks
html_theme = "pydata_sphinx_theme"
html_title = project
html_show_sourcelink = False
html_sidebars = {"*": []}  # only the pages of a section have a section to navigate
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Formulas become MathML, which browsers draw themselves: no script to load.
html_math_renderer = "mathml"


def inline_formula(translator, node):
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed_formula(translator, node):
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append(mathml(node, as_block=True))
    translator.body.append("</div>")
    raise nodes.SkipNode


def mathml(node, *, as_block):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("%s: %s", node.astext(), error, location=node)
        return ""


def without_signature(app, what, name, obj, options, signature, returned):
    return ("", None) if what == "class" and obj.__name__ in MADE_BY_FUNCTIONS else None


def with_links(app, what, name, obj, options, lines):
    """Link what a docstring says to see; `help` shows the plain name."""
    lines[:] = [
        re.sub(r"\bsee `pandas_tba\.(\w+)`", r"see :obj:`~pandas_tba.\1`", line) for line in lines
    ]


def setup(app):
    app.connect("autodoc-process-signature", without_signature)
    app.connect("autodoc-process-docstring", with_links)
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
