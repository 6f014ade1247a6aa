"""A figure of matplotlib -> SVG that a page with a strict content policy can hold inline.

Matplotlib writes a ``style=`` on every element and a global ``<style>``; a policy by hashes refuses
both, and the figure turns black. Here every property becomes an attribute of its own.
"""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FONTS = "DejaVu Sans, Verdana, Arial, sans-serif"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LONG_NUMBER = re.compile(r"(-?\d+\.\d{2})\d+")
_POINTS_TO_PIXELS = 4 / 3
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# the shorthand of matplotlib before 3.10: style, weight, size, families
_FONT = re.compile(r"(?:(italic|oblique)\s+)?(?:small-caps\s+)?(?:(\d00|bold)\s+)?([\d.]+)px\s")


def inline_svg(figure: Figure, *, name: str, label: str) -> ET.Element:
    """The figure as an element without ``style=``; ids start with `name`, `label` is read aloud."""
    root = ET.fromstring(_NO_XML.sub("�", _save_svg(figure)))
    for element in list(root.iter()):
        for child in list(element):
            if _local_name(child.tag) in ("metadata", "style"):
                element.remove(child)
    for element in root.iter():
        _clean_element(element, name)
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib |= {
        "role": "img",
        "aria-label": label,
        "width": f"{float(width) * _POINTS_TO_PIXELS:.0f}",
        "height": f"{float(height) * _POINTS_TO_PIXELS:.0f}",
        "font-family": _FONTS,
        "stroke-linejoin": "round",  # as in the global style
        "stroke-linecap": "butt",
    }
    root.attrib.pop("version", None)
    return root


def add_line(root: ET.Element, figure: Figure, *, at: float) -> None:
    """Add an upright line at x = `at`, and how x is mapped, to the figure of a single axes."""
    axes = figure.axes[0]
    _, _, width, height = (float(number) for number in root.attrib["viewBox"].split())
    box, (low, high) = axes.get_position(), axes.get_xlim()
    step = box.width * width / (high - low)
    start = box.x0 * width - low * step
    root.attrib |= {"data-start": f"{start:.3f}", "data-step": f"{step:.3f}"}
    place = f"{start + at * step:.2f}"
    ends = {"y1": f"{(1 - box.y1) * height:.2f}", "y2": f"{(1 - box.y0) * height:.2f}"}
    stroke = {"stroke": "#000000", "stroke-width": "1"}
    ET.SubElement(root, "line", {"class": "now", "x1": place, "x2": place, **ends, **stroke})


def svg_markup(root: ET.Element) -> str:
    """The element as text for an HTML page."""
    return ET.tostring(root, encoding="unicode")


def _save_svg(figure: Figure) -> str:
    """What matplotlib writes, text as text."""
    import matplotlib

    held = StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "pandas-tba"}  # ids that do not change
    with warnings.catch_warnings(), matplotlib.rc_context(settings):
        # the font of the reader draws the letters, not the one that they are measured with
        warnings.filterwarnings("ignore", message=".*[Gg]lyph")
        figure.savefig(held, format="svg", transparent=True, metadata={"Date": None})
    return held.getvalue()


def _local_name(tag: str) -> str:
    """A tag without its namespace."""
    return tag.rpartition("}")[2]


def _clean_element(element: ET.Element, name: str) -> None:
    """Turn the style of an element into attributes, with ids of this figure."""
    element.tag = _local_name(element.tag)
    attributes = dict(element.attrib)
    attributes |= _style_attributes(attributes.pop("style", ""))
    if _HREF in attributes:
        attributes["href"] = attributes.pop(_HREF)
    if "id" in attributes:
        attributes["id"] = f"{name}-{attributes['id']}"
    for key, value in attributes.items():
        if key == "href" and value.startswith("#"):
            attributes[key] = f"#{name}-{value[1:]}"
        elif value.startswith("url(#"):
            attributes[key] = f"url(#{name}-{value[5:]}"
        elif key == "d":
            attributes[key] = " ".join(_LONG_NUMBER.sub(r"\1", value).split())
        elif key in ("x", "y", "transform"):
            attributes[key] = _LONG_NUMBER.sub(r"\1", value)
    element.attrib = {key: value for key, value in attributes.items() if ":" not in key}
    if element.text is not None and not element.text.strip() and len(element):
        element.text = None
    if element.tail is not None and not element.tail.strip():
        element.tail = None


def _style_attributes(style: str) -> dict[str, str]:
    """Properties of a ``style=`` as attributes; the font's family is the figure's."""
    pairs = (part.partition(":") for part in style.split(";") if part.strip())
    found = {key.strip(): value.strip() for key, _, value in pairs}
    font = _FONT.match(found.pop("font", ""))
    if font:
        posture, weight, size = font.groups()
        found["font-size"] = size
        found |= {"font-weight": weight} if weight else {}
        found |= {"font-style": posture} if posture else {}
    found.pop("font-family", None)
    return {key: value.removesuffix("px") for key, value in found.items()}
