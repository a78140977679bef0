"""Checks a bundle of the Ledger offline, with the standard library of Python 3.11 and nothing else.

    python3 aop_verify.py BUNDLE [--head SIZE:ROOT] [--consistency FILE]

It checks that the parts of a bundle agree, which anyone can arrange. With a head from the platform's own address or
from someone you trust, it also checks that the events are in the Ledger of that head, and finds every change of them.
"""

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

ENDED = ("succeeded", "failed", "canceled", "timed_out")
REPEATED = (  # by all events of an Invocation
    *("invocationId", "rootTaskId", "traceId", "parentInvocationId", "caller", "workspaceId", "targetAgentId"),
    *("agentCardVersion", "agentReleaseId", "agentCardDigest", "capability", "schemaVersion"),
)
TRUST = "only if you have it from the platform's own address or from someone you trust"
CHANGED = "history was changed: the heads do not continue each other"


class Wrong(ValueError):
    """The bundle is not what it says it is."""


FAULTS = (Wrong, ValueError, LookupError, TypeError, RecursionError)


def read(raw: bytes) -> Any:
    """A JSON text in which no member stands twice: two readers could see two values."""
    return json.loads(raw.decode("utf-8"), object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict[str, Any]()
    for name, value in pairs:
        _require(name not in members, f"`{name}` stands twice in one object")
        members[name] = value
    return members


def verify(bundle: Any, head: tuple[int, str] | None = None, consistency: Any = None) -> list[str]:
    """What was checked, in sentences. Raises one of FAULTS at the first thing that is not right."""
    about = "traceId" if "traceId" in _is(dict, bundle, "the bundle") else "invocationId"
    _members(bundle, "the bundle", {"schemaVersion", about, "head", "invocations"})
    _require(bundle["schemaVersion"] == "1", "this program reads bundles of version 1")
    own, calls = _head(bundle["head"]), _is(list, bundle["invocations"], "invocations")
    events = [_invocation(call, *own) for call in calls]
    _require(bool(calls) and all(chain[0][about] == bundle[about] for chain in events), f"this is of another {about}")
    _related(calls, events, about)
    permitted = sum("authorizationDigest" in chain[0] for chain in events)
    return [
        f"{sum(map(len, events))} events of {len(events)} Invocation(s) lead to the root of the bundle's head",
        "each Invocation has all its events, from its creation to its end, and the Card that they name",
        f"{permitted} of {len(events)} name what permitted the call: this Installation and this Release are unchanged",
        _compared(own, [leaf["number"] for call in calls for leaf in call["leaves"]], head, consistency),
    ]


def _compared(own: tuple[int, str], numbers: list[int], named: tuple[int, str] | None, consistency: Any) -> str:
    if named is None:
        _require(consistency is None, "a consistency proof needs a head that you trust: --head")
        return (
            "only inner agreement was checked, and anyone can make such a file. The places of the events fit "
            f"{_sizes(numbers, own[0])}. Compare the head with one that you trust: {own[0]}:{own[1]}"
        )
    if consistency is None:
        _require(own[0] == named[0], "the bundle has a head of another size; --consistency connects the two")
        _require(own == named, CHANGED)
        return f"the head is the one that you named: the events are in the Ledger of this head {TRUST}"
    _members(consistency, "the consistency proof", {"old", "new", "path"})
    old, new = _head(consistency["old"]), _head(consistency["new"])
    _require(sorted((old, new)) == sorted((own, named)), CHANGED)
    _grew(old, new, _hashes(consistency["path"]))
    # Everyone can add events to a tree: only those that the named head covers are bound by it.
    later = (
        f"event {max(numbers)} is later than your head of {named[0]} events, and the proof of whoever has the bundle"
    )
    _require(max(numbers) < named[0], f"{later} proves nothing about later events: name a newer head")
    return f"the events are among the first {named[0]} events, those of your head: they are in its Ledger {TRUST}"


def _sizes(numbers: list[int], size: int) -> str:
    """All sizes of trees in which paths of this form lead from these places to a root."""
    turns = [(number ^ (size - 1)).bit_length() for number in numbers]
    starts = [number >> turn << turn for number, turn in zip(numbers, turns, strict=True)]
    least = max(start + (1 << turn >> 1) for start, turn in zip(starts, turns, strict=True)) + 1
    most = min(start + (1 << turn) for start, turn in zip(starts, turns, strict=True))
    return f"a tree of {size} events" if least == most else f"trees of {least} to {most} events"


def _invocation(call: Any, size: int, root: str) -> list[Any]:
    """The events of one Invocation, each proved to be in the tree, and what belongs to them."""
    leaves = _is(list, _is(dict, call, "an Invocation").get("leaves"), "leaves")
    for leaf in leaves:
        _members(leaf, "a leaf", {"number", "leaf", "path"})
        number, start = _is(int, leaf["number"], "a number"), _sha(b"\x00" + _canonical(leaf["leaf"]))
        _require(0 <= number < size, "a leaf stands outside the tree")
        _require(_up(number, size, start, _hashes(leaf["path"])) == root, f"event {number} is not in the tree")
    chain, numbers = [_is(dict, leaf["leaf"], "a leaf") for leaf in leaves], [leaf["number"] for leaf in leaves]
    _require(numbers == sorted(set(numbers)), "the events do not follow each other")
    _require([event.get("sequence") for event in chain] == list(range(len(chain))), "an event is missing")
    _require(bool(chain) and chain[-1].get("status") in ENDED, "the last event is missing")
    first, digest = chain[0], chain[0].get("authorizationDigest")
    _require(
        all(event.get(name) == first.get(name) for event in chain for name in REPEATED), "an event is of another call"
    )
    _members(call, "an Invocation", {"leaves", "card", *({"authorization"} if digest is not None else ())})
    _card(call["card"], first)
    if digest is not None:
        _require(_sha(_canonical(call["authorization"])).hex() == digest, "what permitted the call was changed")
        permitted = call["authorization"]["installation"], call["authorization"]["release"]
        named = permitted[0]["installedVersion"], permitted[0]["installedReleaseId"], permitted[1]["releaseId"]
        right = named == (first["agentCardVersion"], first["agentReleaseId"], first["agentReleaseId"])
        _require(right and permitted[1]["cardDigest"] == first["agentCardDigest"], "another Release was permitted")
    return chain


def _card(text: Any, first: Any) -> None:
    raw = base64.b64decode(text, validate=True)
    spelt = base64.b64encode(raw).decode() == text
    _require(spelt and _sha(raw).hex() == first["agentCardDigest"], "the Card is another one")
    card = read(raw)
    _require(
        (card["agentId"], card["version"]) == (first["targetAgentId"], first["agentCardVersion"]),
        "the Card is of another Agent",
    )


def _related(calls: list[Any], events: list[list[Any]], about: str) -> None:
    """One Invocation, or one root and each parent before its children. A child that was left out cannot be missed."""
    opened = {event[0]["invocationId"]: call["leaves"][0]["number"] for call, event in zip(calls, events, strict=True)}
    _require(len(opened) == len(events) and [*opened.values()] == sorted(opened.values()), "the order is another one")
    if about == "invocationId":
        return
    parents = [(opened[chain[0]["invocationId"]], chain[0].get("parentInvocationId")) for chain in events]
    found = all(parent is None or opened.get(parent, number) < number for number, parent in parents)
    _require(found and [parent for _, parent in parents].count(None) == 1, "the parent of an Invocation is missing")


def _up(number: int, size: int, node: bytes, path: list[bytes]) -> str:
    """The root that a leaf and its path lead to (RFC 9162, section 2.1.3.2)."""
    last = size - 1
    for beside in path:
        _require(last > 0, "a path is too long")
        if number & 1 or number == last:
            node = _sha(b"\x01" + beside + node)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            node = _sha(b"\x01" + node + beside)
        number, last = number >> 1, last >> 1
    _require(last == 0, "a path is too short")
    return node.hex()


def _grew(old: tuple[int, str], new: tuple[int, str], path: list[bytes]) -> None:
    """That the new tree begins with the old one (RFC 9162, section 2.1.4.2)."""
    _require(0 < old[0] < new[0] or (old == new and not path), CHANGED)
    if old == new:
        return
    older, *others = path if old[0] & (old[0] - 1) else [bytes.fromhex(old[1]), *path]
    newer, number, last = older, old[0] - 1, new[0] - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    for beside in others:
        _require(last > 0, CHANGED)
        if number & 1 or number == last:
            older, newer = _sha(b"\x01" + beside + older), _sha(b"\x01" + beside + newer)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            newer = _sha(b"\x01" + newer + beside)
        number, last = number >> 1, last >> 1
    _require((older.hex(), newer.hex(), last) == (old[1], new[1], 0), CHANGED)


def _sha(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


def _canonical(value: Any) -> bytes:
    """RFC 8785, for values whose member names are ASCII and whose numbers are whole."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _head(value: Any) -> tuple[int, str]:
    _members(value, "a head", {"size", "root"})
    return _is(int, value["size"], "a size"), _hashes([value["root"]])[0].hex()


def _hashes(value: Any) -> list[bytes]:
    hashes = [bytes.fromhex(text) for text in _is(list, value, "a path")]
    _require([each.hex() for each in hashes] == value and {len(each) for each in hashes} <= {32}, "a hash is no hash")
    return hashes


def _is(kind: type, value: Any, name: str) -> Any:
    _require(type(value) is kind, f"{name} is not what belongs there")
    return value


def _members(value: Any, name: str, expected: set[str]) -> None:
    _require(set(_is(dict, value, name)) == expected, f"{name} has other members than {', '.join(sorted(expected))}")


def _require(right: bool, otherwise: str) -> None:
    if not right:
        raise Wrong(otherwise)


def head_of(text: str) -> tuple[int, str]:
    return int(text.partition(":")[0]), bytes.fromhex(text.partition(":")[2]).hex()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--head", type=head_of, help="a head that you trust, as SIZE:ROOT")
    parser.add_argument("--consistency", type=Path, help="the proof that connects your head with that of the bundle")
    given = parser.parse_args()
    try:
        proof = None if given.consistency is None else read(given.consistency.read_bytes())
        print("\n".join(verify(read(given.bundle.read_bytes()), given.head, proof)))  # noqa: T201
    except FAULTS as wrong:
        # The names of members are in it, and those are the bearer's own: nothing of them may paint over the terminal.
        sys.exit("WRONG: " + "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in str(wrong)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
