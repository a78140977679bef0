"""Trees of our own over made-up events, and bundles of them: what somebody who forges a bundle could write."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from aop.base.canonical import canonical
from tests.ledger import reference_tree
from tests.support.vectors import cases

Json = Any
EVENTS = 4


def an_invocation(id_digit: str = "4", **changes: str) -> list[Json]:
    """The four events of an Invocation of the vectors, under another id."""
    call = cases("ledger-bundle")[0]["bundle"]["invocations"][0]
    text = json.dumps([leaf["leaf"] for leaf in call["leaves"]])
    events = json.loads(text.replace("inv_" + "4" * 32, "inv_" + id_digit * 32))
    return [{**event, **changes} for event in events]


def leaves_of(events: Sequence[Json]) -> list[bytes]:
    return [canonical(event) for event in events]


def fillers(count: int) -> list[bytes]:
    """Leaves of other Invocations, of which nothing is shown."""
    return [b"other %d" % number for number in range(count)]


def head_of(leaves: Sequence[bytes]) -> Json:
    return {"size": len(leaves), "root": reference_tree.tree_hash(leaves).hex()}


def text_of(head: Json) -> str:
    return f"{head['size']}:{head['root']}"


def bundle_of(events: Sequence[Json], first: int, leaves: Sequence[bytes]) -> Json:
    """These events stand in the tree from number `first` on."""
    shown = cases("ledger-bundle")[0]["bundle"]["invocations"][0]
    proved = [
        {"number": number, "leaf": event, "path": [each.hex() for each in reference_tree.path(number, leaves)]}
        for number, event in enumerate(events, first)
    ]
    return {
        "schemaVersion": "1",
        "invocationId": events[0]["invocationId"],
        "head": head_of(leaves),
        "invocations": [{"authorization": shown["authorization"], "card": shown["card"], "leaves": proved}],
    }


def consistency_of(old: int, leaves: Sequence[bytes]) -> Json:
    path = [each.hex() for each in reference_tree.consistency(old, leaves)]
    return {"old": head_of(leaves[:old]), "new": head_of(leaves), "path": path}


def repeated(value: Json) -> Iterator[str]:
    """The text of the value, once for each member of each object in it, with this member written twice.

    The invented value stands first, so that a reader that takes the last of two sees nothing of it.
    """
    if isinstance(value, dict):
        members = [f"{json.dumps(name)}:{json.dumps(item)}" for name, item in value.items()]
        for number, (name, item) in enumerate(value.items()):
            yield "{" + ",".join([f'{json.dumps(name)}:"invented"', *members]) + "}"
            for text in repeated(item):
                changed = f"{json.dumps(name)}:{text}"
                yield "{" + ",".join([*members[:number], changed, *members[number + 1 :]]) + "}"
    elif isinstance(value, list):
        items = [json.dumps(item) for item in value]
        for number, item in enumerate(value):
            for text in repeated(item):
                yield "[" + ",".join([*items[:number], text, *items[number + 1 :]]) + "]"
