"""`aop bundle`, `aop verify` and the commands of the tree: a call is checked offline, and a rewrite is told."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Aop, Ended, Stack
from tests.cli.test_invoke import SUMMARIZE, TEXT
from tests.support.waiting import PATIENCE_SECONDS, becomes_true


def bundled(aop: Aop, tmp_path: Path) -> Path:
    """Of a call that was made just now, as soon as it is in the tree."""
    invocation, file = aop(*SUMMARIZE, TEXT, "--stream", "--json").lines[0]["invocationId"], tmp_path / "bundle.json"

    async def is_there() -> bool:
        return (await asyncio.to_thread(aop, "bundle", invocation, "-o", str(file))).code == 0

    asyncio.run(becomes_true(is_there, seconds=PATIENCE_SECONDS))
    return file


def head_in(bundle: Path) -> str:
    head = json.loads(bundle.read_bytes())["head"]
    return f"{head['size']}:{head['root']}"


@pytest.mark.second_ring
@pytest.mark.rows("TREE-01")
def test_a_bundle_is_saved_and_checked_offline(aop: Aop, tmp_path: Path) -> None:
    file = bundled(aop, tmp_path)
    assert "only inner agreement" in aop("verify", str(file)).out
    bundle = json.loads(file.read_bytes())
    head = f"{bundle['head']['size']}:{bundle['head']['root']}"
    assert aop("verify", str(file), "--head", head, "--json").json["valid"] is True
    assert aop("verify", str(file), "--head", "nothing").code == 2
    bundle["invocations"][0]["leaves"][0]["leaf"]["capability"] = "another"
    file.write_text(json.dumps(bundle))
    wrong = aop("verify", str(file))
    assert (wrong.code, "WRONG" in wrong.out) == (1, True)
    assert aop("bundle", "inv_unknown", "--json").error["code"] == "NOT_FOUND"
    assert aop("bundle", bundle["invocations"][0]["leaves"][0]["leaf"]["traceId"]).code == 0


@pytest.mark.rows("TREE-02")
def test_heads_are_kept_and_proofs_connect_them(aop: Aop, stack: Stack, tmp_path: Path) -> None:
    data, heads = ("--data", str(stack.platform.data)), tmp_path / "heads.txt"
    file = bundled(aop, tmp_path)
    first = file.rename(tmp_path / "first.json")
    older = aop("ledger", "head", *data).out.strip()
    assert "the first head is kept" in aop("ledger", "watch", str(heads), *data).out
    newer, proof = bundled(aop, tmp_path), tmp_path / "proof.json"
    assert "continues" in aop("ledger", "watch", str(heads), "--rows", *data).out

    def proved(old: str, new: str, bundle: Path, trusted: str) -> Ended:
        proof.write_text(aop("ledger", "consistency", old, new, "--json", *data).out)
        return aop("verify", str(bundle), "--head", trusted, "--consistency", str(proof))

    covered = proved(head_in(first), head_in(newer), first, head_in(newer))
    assert (covered.code, "the events are among the first" in covered.out) == (0, True), covered
    later = proved(older, head_in(newer), newer, older)
    assert (later.code, "proves nothing about later events" in later.out) == (1, True), later
    alone = aop("verify", str(newer), "--consistency", str(proof))
    assert (alone.code, "needs a head that you trust" in alone.out) == (1, True), alone
    assert aop("ledger", "consistency", older, *data).code == 0
    size, _, root = older.partition(":")
    changed = aop("ledger", "consistency", f"{size}:{root[::-1]}", *data)
    assert (changed.code, "HISTORY WAS CHANGED" in changed.out) == (1, True)
    heads.write_text(f"2026-01-01T00:00:00Z {size}:{root[::-1]}\n")
    assert aop("ledger", "watch", str(heads), *data).code == 1
    invocation = json.loads(first.read_bytes())["invocationId"]
    assert len(json.loads(aop("ledger", "prove", invocation, *data).out)["invocations"]) == 1
    assert aop("ledger", "prove", "inv_unknown", *data).code == 1
