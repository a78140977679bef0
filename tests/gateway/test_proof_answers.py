"""A proof of the Router is checked leaf by leaf, as strictly as any answer; no other request waits for all of it."""

import asyncio
import json
from typing import Any

import pytest

from aop.base import assets
from aop.contracts.documents import document
from aop.contracts.errors import DependencyFailed
from aop.contracts.ledger_tree import LedgerProof
from aop.control_plane.dispatch.proof_answers import read_proof

LEAVES = 640


def a_proof() -> Any:
    folder = assets.folder("contracts") / "ledger-proof" / "1" / "examples" / "valid"
    return json.loads((folder / "invocation.json").read_bytes())


def written(proof: Any) -> bytes:
    """As the Router writes it."""
    return json.dumps(proof, separators=(",", ":")).encode()


async def turns_during(body: bytes) -> tuple[LedgerProof, int]:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(others())
    try:
        return await read_proof(body), turns
    finally:
        counting.cancel()


@pytest.mark.rows("TREE-01")
async def test_a_proof_is_read_as_the_contract_says() -> None:
    proof = a_proof()
    assert document("ledger-proof/1").is_valid(proof)
    read = await read_proof(written(proof))
    assert (read.head.size, read.head.root) == (proof["head"]["size"], proof["head"]["root"])
    assert [json.loads(bytes(leaf.leaf)) for leaf in read.invocations[0].leaves] == [
        leaf["leaf"] for leaf in proof["invocations"][0]["leaves"]
    ]


@pytest.mark.parametrize("at_once", [True, False])
async def test_other_requests_have_their_turn_while_a_long_proof_is_checked(at_once: bool) -> None:
    """Of one long Invocation, or of many short ones."""
    proof = a_proof()
    leaf = proof["invocations"][0]["leaves"][0]
    proof["invocations"] = [{"leaves": [leaf] * LEAVES}] if at_once else [{"leaves": [leaf] * 4}] * (LEAVES // 4)
    read, turns = await turns_during(written(proof))
    assert sum(len(each.leaves) for each in read.invocations) == LEAVES
    assert turns >= LEAVES // 32


def broken() -> dict[str, bytes]:
    body, proof = written(a_proof()), a_proof()
    leaf = proof["invocations"][0]["leaves"][0]
    return {
        "not JSON": body[:-1],
        "a head twice": body.replace(b'{"head":', b'{"head":{"size":1,"root":"%b"},"head":' % (b"0" * 64), 1),
        "a member more": body[:-1] + b',"more":1}',
        "space between parts": body.replace(b',"invocations"', b', "invocations"', 1),
        "a member of a leaf twice": body.replace(b'"number":', b'"number":0,"number":', 1),
        "a path that is none": written({**proof, "invocations": [{"leaves": [{**leaf, "path": ["x"]}, leaf]}]}),
        "one leaf": written({**proof, "invocations": [{"leaves": [leaf]}]}),
        "no Invocation": written({**proof, "invocations": []}),
        "a head that is none": written({**proof, "head": {"size": -1, "root": "0"}}),
        "bytes that are no text": body.replace(b'"path"', b'"pa\xff\xfeth"', 1),
    }


@pytest.mark.parametrize("fault", broken())
async def test_a_proof_that_does_not_follow_the_contract_is_a_failing_dependency(fault: str) -> None:
    with pytest.raises(DependencyFailed):
        await read_proof(broken()[fault])
