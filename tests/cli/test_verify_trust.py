"""What `aop verify` takes from a file alone, and what it takes only from a head that its user trusts."""

import base64
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from aop.cli.shell.verify_bundle import FAULTS, Wrong, read, verify
from tests.cli.conftest import Aop
from tests.cli.forging import (
    EVENTS,
    Json,
    an_invocation,
    bundle_of,
    consistency_of,
    fillers,
    head_of,
    leaves_of,
    repeated,
    text_of,
)

VERIFIER = Path(__file__).parents[2] / "docs/guides/aop_verify.txt"
CALL = an_invocation()
LEAVES = [*fillers(5), *leaves_of(CALL), *fillers(4)]
BUNDLE = bundle_of(CALL, 5, LEAVES)


def pair(head: Json) -> tuple[int, str]:
    return head["size"], head["root"]


def kept_in(file: Path, value: Json) -> str:
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(file)


@pytest.mark.rows("SOUND-08")
@pytest.mark.parametrize("document", ["bundle", "consistency"])
def test_a_member_that_stands_twice_is_refused_at_every_place(document: str) -> None:
    """Two readers can see two values there."""
    texts = list(repeated(BUNDLE if document == "bundle" else consistency_of(7, LEAVES)))
    assert len(texts) > (100 if document == "bundle" else 5)
    for text in texts:
        assert json.loads(text)
        with pytest.raises(Wrong, match="stands twice"):
            read(text.encode())


@pytest.mark.rows("SOUND-08")
def test_the_command_refuses_a_file_with_a_member_twice(alone: Aop, tmp_path: Path) -> None:
    bundle, proof = kept_in(tmp_path / "bundle.json", BUNDLE), tmp_path / "proof.json"
    head = text_of(head_of(LEAVES))
    forged = json.dumps(BUNDLE).replace('"status": "pending"', '"status": "failed", "status": "pending"')
    found = alone("verify", kept_in(tmp_path / "forged.json", forged), "--head", head)
    assert (found.code, "`status` stands twice" in found.out) == (1, True), found
    kept_in(proof, json.dumps(consistency_of(9, LEAVES)).replace('"old"', '"path": [], "old"', 1))
    found = alone("verify", bundle, "--head", text_of(head_of(LEAVES[:9])), "--consistency", str(proof))
    assert (found.code, "`path` stands twice" in found.out) == (1, True), found
    utf16 = tmp_path / "utf16.json"
    utf16.write_bytes(json.dumps(BUNDLE).encode("utf-16"))
    assert alone("verify", str(utf16)).code == 1


@pytest.mark.rows("SOUND-08")
def test_the_program_alone_paints_nothing_of_a_member_on_the_terminal(tmp_path: Path) -> None:
    """Its own lines are all that a person sees, whatever the bearer calls a member."""
    evil = "\r\x1b[2Kthe head is the one that you named\x1b[8m\u202e\ud800"
    member = json.dumps({evil: 1})[1:-1]
    file = kept_in(tmp_path / "forged.json", f"{{{member},{member}}}")
    found = subprocess.run([sys.executable, str(VERIFIER), file], capture_output=True, check=False)
    said = found.stderr.decode()
    assert (found.returncode, found.stdout, said.count("\n")) == (1, b"", 1)
    assert said.startswith("WRONG: `\\r\\x1b[2Kthe head")
    assert "stands twice" in said
    assert said.rstrip("\n").isprintable()


@pytest.mark.rows("SOUND-08")
def test_a_card_with_a_member_twice_is_refused() -> None:
    """The events name the digest of exactly these bytes."""
    card = base64.b64decode(BUNDLE["invocations"][0]["card"])
    twice = card.replace(b"{", b'{"agentId":"acme:other",', 1)
    digest = sha256(twice).hexdigest()
    events = [{**event, "agentCardDigest": digest} for event in an_invocation()]
    for event in events:
        event.pop("authorizationDigest", None)
    forged = bundle_of(events, 5, [*fillers(5), *leaves_of(events)])
    forged["invocations"][0] |= {"card": base64.b64encode(twice).decode()}
    del forged["invocations"][0]["authorization"]
    with pytest.raises(Wrong, match="`agentId` stands twice"):
        verify(forged)


@pytest.mark.rows("SOUND-08")
def test_a_tree_that_a_stranger_continued_behind_a_kept_head_is_refused(alone: Aop, tmp_path: Path) -> None:
    """Its proof is right: everyone can add events to a tree whose newest places they know."""
    kept = head_of(LEAVES)
    invented = an_invocation("9", workspaceId="space")
    for event in invented:
        event["caller"] = {"type": "user", "id": "the-ceo"}
    forged = [*LEAVES, *leaves_of(invented)]
    bundle = kept_in(tmp_path / "forged.json", bundle_of(invented, len(LEAVES), forged))
    proof = kept_in(tmp_path / "proof.json", consistency_of(len(LEAVES), forged))
    found = alone("verify", bundle, "--head", text_of(kept), "--consistency", proof)
    assert (found.code, "proves nothing about later events" in found.out) == (1, True), found
    across = [*LEAVES[:-2], *leaves_of(invented)]
    for first in range(len(LEAVES) - EVENTS, len(LEAVES)):
        across = [*LEAVES[:first], *leaves_of(invented)]
        with pytest.raises(FAULTS):
            verify(bundle_of(invented, first, across), pair(kept), consistency_of(len(LEAVES) - 4, across))


@pytest.mark.rows("SOUND-08")
def test_an_event_is_proved_by_a_head_that_is_older_or_newer_than_the_bundle() -> None:
    """If it is among the first events, of which the trusted head is the root: whoever added what comes after it."""
    for size in range(9, len(LEAVES)):
        older, proof = head_of(LEAVES[:size]), consistency_of(size, LEAVES)
        assert f"among the first {size} events" in verify(BUNDLE, pair(older), proof)[-1]
        smaller = bundle_of(CALL, 5, LEAVES[:size])
        assert f"among the first {len(LEAVES)} events" in verify(smaller, pair(head_of(LEAVES)), proof)[-1]
    for size in range(1, 9):
        with pytest.raises(Wrong, match="proves nothing about later events"):
            verify(BUNDLE, pair(head_of(LEAVES[:size])), consistency_of(size, LEAVES))


@pytest.mark.rows("SOUND-08")
def test_no_sentence_says_that_a_bundle_belongs_to_a_ledger() -> None:
    """A head is worth what the place is worth that it came from."""
    head, proof = head_of(LEAVES), consistency_of(10, LEAVES)
    said = [
        *verify(BUNDLE),
        *verify(BUNDLE, pair(head)),
        *verify(BUNDLE, pair(head_of(LEAVES[:10])), proof),
    ]
    assert not [line for line in said if "belongs to" in line or "one history" in line]
    assert "anyone can make such a file" in verify(BUNDLE)[-1]
    for line in (verify(BUNDLE, pair(head))[-1], verify(BUNDLE, pair(head_of(LEAVES[:10])), proof)[-1]):
        assert "only if you have it from the platform's own address or from someone you trust" in line


@pytest.mark.rows("SOUND-08")
def test_another_size_of_the_head_is_refused_or_said_to_be_open() -> None:
    """The places of older events lead to the root in trees of several sizes. A head that is trusted names one."""
    leaves = fillers(35_404)
    leaves[35_300 : 35_300 + EVENTS] = leaves_of(CALL)
    bundle, head = bundle_of(CALL, 35_300, leaves), pair(head_of(leaves))
    older, proof = pair(head_of(leaves[:35_310])), consistency_of(35_310, leaves)
    for size in (1, 35_304, 35_328, 35_329, 35_403, 35_405, 35_840, 35_841, 70_000, 1 << 40):
        other = {**bundle, "head": {"size": size, "root": head[1]}}
        other_proof = {**proof, "new": other["head"]}
        for trusted, consistency in ((head, None), (older, proof), (head, proof), ((head[0], "0" * 64), None)):
            with pytest.raises(FAULTS):
                verify(other, trusted, consistency)
        if 35_329 <= size <= 35_840:
            said = verify(other)
            assert "trees of 35329 to 35840 events" in said[-1]
            assert not [line for line in said[:-1] if str(size) in line]
        else:
            with pytest.raises(FAULTS):
                verify(other)
            with pytest.raises(FAULTS):
                verify(other, older, other_proof)
    newest = bundle_of(CALL, 35_300, leaves[: 35_300 + EVENTS])
    assert "a tree of 35304 events" in verify(newest)[-1]
