"""One Card has one digest, however its text was written."""

import hashlib
import json
from pathlib import Path

import pytest
import rfc8785

from aop.base import json as strict_json
from aop.base.canonical import canonical
from aop.contracts.documents import document
from tests.support.contracts import CONTRACTS

VECTORS = sorted((CONTRACTS / "agent-card" / "0.2" / "canonical").glob("*.json"))


def test_there_are_vectors() -> None:
    assert len(VECTORS) >= 4


@pytest.mark.rows("CAT-15")
@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_texts_of_one_card_have_one_canonical_form_and_digest(path: Path) -> None:
    vector = json.loads(path.read_bytes())
    assert len(set(vector["texts"])) == len(vector["texts"]) >= 2
    for text in vector["texts"]:
        card = strict_json.parse(text.encode())
        assert document("agent-card/0.2").violations(card) == ()
        assert canonical(card) == vector["canonical"].encode()
        assert rfc8785.dumps(json.loads(text)) == vector["canonical"].encode()
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest() == vector["digest"]
