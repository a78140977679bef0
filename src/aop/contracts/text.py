"""Texts that others wrote: as they may be shown, as JSON that is safe to show, and what in a name misleads."""

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

from aop.base import assets

MARK = "\ufffd"
SKELETON_LENGTH = 256
"""Compatibility forms grow by normalisation; no ordinary name is so long, and an index entry stays small."""

_LAYOUT = "\n\t"


def cleaned(text: str, *, lines: bool = True) -> str:
    """The text with a mark for each character that would move a cursor, reorder or hide something.

    With `lines` false also for line feeds and tabs: a name that holds them could draw lines that look like ours.
    Joiners are marked as well, though some scripts and emoji use them: between other letters they are invisible, and an
    imitated name is worse than an emoji that falls apart.
    """
    if text.isascii() and text.isprintable():
        return text
    return _hidden().sub(lambda found: found[0] if lines and found[0] in _LAYOUT else MARK, text)


def escaped(text: str) -> str:
    """JSON text with the same value, those characters spelled as escapes. Between values they were only blanks."""
    return text if text.isascii() and text.isprintable() else _hidden().sub(_escape, text)


def mixes_scripts(name: str) -> bool:
    """Whether letters of scripts that are confused with one another stand in one word."""
    if name.isascii():
        return False
    breaks, scripts = _word_breaks(), _scripts()
    return any(sum(script.search(word) is not None for script in scripts) > 1 for word in breaks.split(name))


def skeleton(text: str) -> str:
    """What remains of a text when characters that look alike are one: two texts of one skeleton are taken for each
    other. The table holds the common look-alikes, not all that Unicode knows."""
    table, sequences = _confusables()
    visible = _hidden().sub("", unicodedata.normalize("NFKC", text))
    plain = visible.translate(table).casefold().translate(table)
    for sequence, single in sequences.items():
        plain = plain.replace(sequence, single)
    return plain[:SKELETON_LENGTH]


def _escape(found: re.Match[str]) -> str:
    if found[0] in _LAYOUT:
        return found[0]
    if found[0] < " ":
        return " "
    return json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f"


@cache
def _characters() -> Any:
    return json.loads((assets.folder("contracts") / "text" / "characters.json").read_bytes())


@cache
def _hidden() -> re.Pattern[str]:
    found = _characters()
    emoji = found["emojiSelectors"]
    ranges = _ranges((one["from"], one["to"]) for one in found["hidden"])
    return re.compile(f"[{ranges}]|(?<![{_ranges(emoji['after'])}])[{_ranges([(emoji['from'], emoji['to'])])}]")


@cache
def _word_breaks() -> re.Pattern[str]:
    return re.compile(f"[{_ranges(_characters()['wordBreaks'])}]+")


@cache
def _scripts() -> list[re.Pattern[str]]:
    return [re.compile(f"[{_ranges(ranges)}]") for ranges in _characters()["scripts"].values()]


@cache
def _confusables() -> tuple[dict[int, str], dict[str, str]]:
    found = _characters()
    selectors = found["emojiSelectors"]
    table = dict.fromkeys(range(int(selectors["from"], 16), int(selectors["to"], 16) + 1), "")
    table |= {ord(sign): plain for plain, signs in found["lookAlikes"].items() for sign in signs}
    return table, found["lookAlikeSequences"]


def _ranges(pairs: Iterable[Iterable[str]]) -> str:
    return "".join("\\U{:0>8}-\\U{:0>8}".format(*pair) for pair in pairs)
