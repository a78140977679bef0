"""Text that would take over a terminal, planted in every member of a Card that may hold text."""

import re
from typing import Any

from aop.contracts.text import cleaned

Json = Any

# Writes the clipboard, hides what follows, moves the cursor, erases, by ESC and by C1; turns and hides letters.
ESCAPES = "\x1b]52;c;UFdORUQ=\x07\x1b[8m\x1b[2J\x1b[1;1H\x9b31m\x7f\x08\r"
TURNS = "\u202egro\u202c\u2066\u2069\u200e\u200f\u061c"
UNSEEN = "\u200b\u200d\u2060\ufeff\u00ad\u3164\u2028\u2029\U000e0041\ufff9\ue000"
EVIL = f"{ESCAPES}{TURNS}{UNSEEN}"
FORGED_LINE = "\nowner  AOP samples (aop)"
# What the commands themselves send to a terminal: colours, and the spinner's cursor and line.
_OWN = re.compile(r"\x1b\[(?:0|1|2|3|4|9)?(?:;?[0-9]{1,3})*m|\x1b\[\?25[lh]|\x1b\[[12][AK]|\r+\n|\r")


def hostile(card: Json, text: str = EVIL) -> Json:
    """The Card with the text behind every text for people in it, and in names and values of its schemas."""
    changed = dict(card)
    changed["name"] = f"Name{text}"[:120]
    changed["description"] = f"What it does{text}{FORGED_LINE}"
    changed["owner"] = {**card["owner"], "displayName": f"Owner{text}"[:120]}
    changed["permissions"] = [{**one, "description": f"Meaning{text}"} for one in card["permissions"]]
    changed["skills"] = [_skill(one, text) for one in card["skills"]]
    return changed


def hidden_in(screen: str) -> list[str]:
    """The characters of others that reached a reader, the commands' own control sequences left out."""
    conceals = re.findall(r"\x1b\[8m|\x1b\[[0-9;]*[HJ]", screen)
    plain = _OWN.sub("", screen)
    return conceals + [sign for sign in plain if cleaned(sign) != sign]


def _skill(skill: Json, text: str) -> Json:
    properties = {name: {**one, "description": f"Member{text}"} for name, one in _properties(skill)}
    schema = {**skill["inputSchema"], "properties": properties, "title": f"Title{text}"}
    schema["examples"] = [{"name": f"Ada{text}"}]
    return {
        **skill,
        "name": f"Skill{text}"[:120],
        "description": f"Does{text}",
        "inputSchema": schema,
        "outputSchema": {**skill["outputSchema"], "description": f"Gives{text}"},
    }


def _properties(skill: Json) -> list[tuple[str, Json]]:
    return list(skill["inputSchema"]["properties"].items())
