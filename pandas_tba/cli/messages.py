"""Texts of the library -> texts for a terminal: of options, and without control characters."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Collection
from typing import Any

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
# what a line of Python repairs in a frame, and what does so on a command line
_REPAIRS = [
    (r", or give missing predictions a label of their own: df\[.*?abstain=\[.*?\](?=\.)", ", or write a label in place of missing predictions and name it: --abstain LABEL"),
    (r", truth and predictions alike: df\['y_true'\] == .*; or ask per_class\(\)\.", ", truth and predictions alike, in the file; or leave --pos-label out."),
    (r": df\['y_true'\] == .*\. With the probability of every class, decide\(\) gives predictions\.", " in the file, or give predictions: --y-pred COLUMN."),
    (r"Ask per_class\(\), or set one class against the rest: df\['y_true'\] == label\.", "Take one of all classes together, as in --metrics accuracy recall_macro."),
    (r", or ask per_class\(\)\.", "."),
    (r"; tba\.METRICS holds all\.", "."),
    (r"Convert one of them, for example with astype;", "Write both of one kind into the file;"),
    (r"Convert it, for example with pd\.to_numeric\.", "Write numbers into the file."),
    (r"Convert it, for example with astype\(str\)\.", "Write it as text into the file."),
    (r"Rename it, as in by=df\[.*\]\.rename\('group'\)\.", "Rename it in the file."),
    (r"Declare both: labels=\[\.\.\., (.*)\]\.", r"Declare both: --labels OTHER \1."),
    (r", with pos_label= where the labels are not 0 and 1\.", ", with --pos-label LABEL where the labels are not 0 and 1."),
    (r"See absent=, smoothing= and bounds\(\); labels= fixes the classes\.", "Name the classes with --labels."),
]  # fmt: skip
_CALL = re.compile(r"df\.tba(\(\w+=(?:[^()'\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*\))")
# what stands in quotes is the user's own; else a name in back quotes, or in front of "="
_NAME = re.compile(
    r"(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)\"(?:[^\"\\]|\\.)*\"|`(\w+)`|\b(\w+)=(?:\[\.\.\.\]|\.\.\.)?"
)


def printable(text: str) -> str:
    """The text with control characters as escapes: a terminal would obey them."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def with_options(text: str, options: Collection[str]) -> str:
    """A message about arguments of functions as one about the options that stand for them."""

    def named(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        name = "weight" if name == "sample_weight" else name
        if name not in options:
            return found[0]
        has_value = found[2] and found.string[found.end() :][:1] not in ("", " ", ",", ".", ")")
        return f"--{name.replace('_', '-')}{' ' if has_value else ''}"

    for pattern, repair in _REPAIRS:
        text = re.sub(pattern, repair, text)
    return _NAME.sub(named, _CALL.sub(_as_options, text))


def _as_options(call: re.Match[str]) -> str:
    """The arguments of a call of ``df.tba`` as options that can be pasted into a shell."""
    parsed: Any = ast.parse(f"f{call[1]}", mode="eval").body
    words = []
    for argument in parsed.keywords:
        value = ast.literal_eval(argument.value)
        values = value if isinstance(value, list) else [value]
        words += [f"--{argument.arg.replace('_', '-')}", *(shlex.quote(str(one)) for one in values)]
    return " ".join(words)
