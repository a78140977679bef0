"""The bytes of a leaf are the RFC 8785 form of its event without the error's message, and they are frozen."""

import json
import random
from typing import Any

import msgspec
import pytest

from aop.base.canonical import canonical
from aop.contracts.documents import document
from aop.contracts.lineage import EventType
from aop.ledger.read.documents import event_of, members_of, opening_events
from aop.ledger.rows import EventRow, RecordRow
from aop.ledger.tree.hashing import leaf_hash
from aop.ledger.tree.leaf import InvocationLeaves
from aop.store.rows import to_row
from tests.ledger.leaf_rows import PLACES, event_columns, opening_columns
from tests.support.vectors import cases


def written(leaf: dict[str, Any]) -> bytes:
    """The leaf of this document, made from its row. Its hash, which is made in parts, is that of the whole."""
    leaves = InvocationLeaves(opening_columns(leaf))
    place = PLACES.get(leaf["type"])
    if place is None:
        made, hashed = leaves.of_event(event_columns(leaf)), leaves.hash_of_event(event_columns(leaf))
    else:
        made, hashed = leaves.of_opening()[place], leaves.hashes_of_opening()[place]
    assert hashed == leaf_hash(made)
    return made


@pytest.mark.rows("TREE-05")
def test_the_bytes_of_200_rows_never_change() -> None:
    pinned = cases("ledger-leaf")
    assert len(pinned) == 200
    assert {json.loads(case["leaf"])["type"] for case in pinned} == set(EventType)
    for case in pinned:
        leaf = json.loads(case["leaf"])
        assert document("ledger-leaf/1").violations(leaf) == (), case["name"]
        assert written(leaf) == case["leaf"].encode(), case["name"]
        assert leaf_hash(case["leaf"].encode()).hex() == case["hash"], case["name"]


@pytest.mark.rows("TREE-05")
def test_a_leaf_is_the_canonical_form_of_the_event_that_is_read_without_the_message() -> None:
    """Whatever text a name has, and whatever message stands in the list of codes."""
    chance = random.Random(5)
    names = ['a"b', "back\\slash", "ü\u2028\U0001f600", "line\nfeed\x1f", "\x7f/plain", "</script>"]
    for case in cases("ledger-leaf"):
        leaf = json.loads(case["leaf"])
        leaf["caller"]["id"], leaf["capability"], leaf["workspaceId"] = chance.sample(names, 3)
        columns = opening_columns(leaf)
        # The other columns of a record say nothing in an event.
        record = to_row(RecordRow, [*columns, columns[14], None, None, None, None])
        members = members_of(record.context)
        place = PLACES.get(leaf["type"])
        if place is None:
            sequence, event_id, *others = event_columns(leaf)
            event = event_of(to_row(EventRow, [event_id, sequence, *others]), record.context.lineage, members)
        else:
            event = opening_events(record, members)[place]
        said = msgspec.to_builtins(event)
        message = said.get("error", {}).pop("message", None)
        assert (message is None) == ("error" not in leaf)
        assert written(leaf) == canonical(said) == canonical(leaf)


def test_consecutive_ids_carry_over_their_last_digit() -> None:
    leaf = next(json.loads(case["leaf"]) for case in cases("ledger-leaf") if case["name"].endswith("created"))
    columns = opening_columns(leaf | {"eventId": "evt_" + "0" * 30 + "ff", "type": "created"})
    columns[12] = "started"
    ids = [json.loads(each)["eventId"] for each in InvocationLeaves(columns).of_opening()]
    assert ids == ["evt_" + "0" * 30 + "ff", "evt_" + "0" * 29 + "100", "evt_" + "0" * 29 + "101"]
