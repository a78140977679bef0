"""Bundles: what others need to check an Invocation offline, and what the check finds."""

import asyncio
import base64
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aop.base.canonical import canonical
from aop.cli.shell import verify_bundle
from aop.cli.shell.verify_bundle import FAULTS, verify
from aop.client.bundles import whole_bundle
from aop.contracts.documents import document
from aop.contracts.ledger_tree import BundledPart, LedgerBundlePage, LedgerHead
from aop.control_plane.dispatch import bundles
from aop.control_plane.gateway.access import MAX_BUNDLES
from aop.ledger.tree import reader
from tests.support.agent import a_message, data, rpc_error
from tests.support.errors import require_error
from tests.support.loop import SPACE, Platform
from tests.support.mutations import mutations
from tests.support.nested import running_parent
from tests.support.units import Reply
from tests.support.waiting import becomes_true, patience

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.second_ring]
ROOT = Path(__file__).resolve().parents[2]
VERIFIER = Path(verify_bundle.__file__)


async def ask(platform: Platform, path: str, token: str | None = None) -> Reply:
    return await platform.gateway.get(f"/v1/workspaces/{SPACE}{path}/bundle", token=token or platform.token)


async def bundle_of(platform: Platform, path: str) -> Any:
    """As soon as all of it is in the tree."""

    async def is_there() -> bool:
        reply = await ask(platform, path)
        if reply.status != 200:
            require_error(reply, 409, "CONFLICT", "4", "not_numbered_yet")
        return reply.status == 200

    await becomes_true(is_there)
    reply = await ask(platform, path)
    assert document("ledger-bundle/1").violations(reply.json) == ()
    return reply.json


async def a_call(platform: Platform) -> str:
    platform.agent.script(a_message(data(1)))
    reply = await platform.invoke()
    assert reply.status == 200, reply.body
    return str(reply.json["invocationId"])


async def a_trace(platform: Platform) -> str:
    async with running_parent(platform) as parent:
        assert (await parent.call()).status == 200
        assert (await parent.call()).status == 200
    await platform.ended(parent.invocation_id)
    return str((await platform.detail(parent.invocation_id))["invocation"]["traceId"])


def _lacks_a_child(changed: Any, trace: Any) -> bool:
    calls = changed.get("invocations")
    left = (
        isinstance(calls, list) and 0 < len(calls) < len(trace["invocations"]) and calls[0] == trace["invocations"][0]
    )
    return left and all(call in trace["invocations"] for call in calls)


def kept(bundle: Any) -> tuple[int, str]:
    return bundle["head"]["size"], bundle["head"]["root"]


@pytest.mark.rows("TREE-01")
async def test_a_bundle_has_the_events_what_permitted_the_call_and_the_card(platform: Platform) -> None:
    invocation = await a_call(platform)
    bundle = await bundle_of(platform, f"/invocations/{invocation}")
    (call,) = bundle["invocations"]
    events = (await platform.detail(invocation))["events"]
    assert [leaf["leaf"] for leaf in call["leaves"]] == events
    assert base64.b64decode(call["card"]) == canonical(platform.card)
    assert call["authorization"]["release"]["releaseId"] == platform.release.release_id
    assert call["authorization"]["release"]["publishedAt"] == platform.release.published_at
    said = verify(bundle)
    assert "only inner agreement was checked" in said[-1]
    assert "the head is the one that you named" in verify(bundle, kept(bundle))[-1]


@pytest.mark.rows("TREE-01")
async def test_each_of_10000_random_changes_is_found(platform: Platform) -> None:
    """With a head that was kept, also a changed head. That a child of a Trace was left out cannot be found."""
    one = await bundle_of(platform, f"/invocations/{await a_call(platform)}")
    trace = await bundle_of(platform, f"/traces/{await a_trace(platform)}")
    assert len(trace["invocations"]) == 3
    verify(trace, kept(trace))
    chance = random.Random(24)
    for changed in mutations(one, 7_000, chance):
        with pytest.raises(FAULTS):
            verify(changed, kept(one))
    for number, changed in enumerate(mutations(trace, 3_000, chance)):
        if _lacks_a_child(changed, trace):
            continue
        with pytest.raises(FAULTS):
            verify(changed, kept(trace))
        if number % 100 == 0:
            await asyncio.sleep(0)


@pytest.mark.rows("TREE-01")
async def test_without_a_head_every_change_but_one_of_the_head_is_found(platform: Platform) -> None:
    bundle = await bundle_of(platform, f"/invocations/{await a_call(platform)}")
    for changed in mutations(bundle, 1_000, random.Random(1), without=("head",)):
        with pytest.raises(FAULTS):
            verify(changed)


@pytest.mark.rows("TREE-01")
async def test_the_verifier_is_one_short_file_that_needs_the_standard_library_alone(
    platform: Platform, tmp_path: Path
) -> None:
    bundle = await bundle_of(platform, f"/invocations/{await a_call(platform)}")
    await asyncio.to_thread(verify_alone, bundle, tmp_path)


def verify_alone(bundle: Any, tmp_path: Path) -> None:
    assert len(VERIFIER.read_text("utf-8").splitlines()) <= 240
    assert (ROOT / "docs/guides/aop_verify.txt").read_bytes() == VERIFIER.read_bytes()
    alone, file = tmp_path / "aop_verify.py", tmp_path / "bundle.json"
    alone.write_bytes(VERIFIER.read_bytes())
    file.write_text(json.dumps(bundle))
    command = [sys.executable, "-I", "-S", str(alone), str(file)]
    size, root = kept(bundle)
    right = subprocess.run([*command, "--head", f"{size}:{root}"], capture_output=True, text=True, check=False)
    assert (right.returncode, right.stderr) == (0, "")
    wrong = subprocess.run([*command, "--head", f"{size}:{'0' * 64}"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "history was changed" in wrong.stderr


async def test_a_call_that_runs_or_failed_or_is_unknown(platform: Platform, bob: str) -> None:
    async with running_parent(platform) as parent:
        path = f"/invocations/{parent.invocation_id}"
        require_error(await ask(platform, path), 409, "CONFLICT", "4", "not_numbered_yet")
    platform.agent.script(rpc_error(-32000, "no"))
    failed = (await platform.invoke()).json["invocationId"]
    bundle = await bundle_of(platform, f"/invocations/{failed}")
    error = bundle["invocations"][0]["leaves"][-1]["leaf"]["error"]
    assert (error["code"], error["reason"], "message" in error) == ("AGENT_EXECUTION_FAILED", "rpc_error", False)
    verify(bundle, kept(bundle))
    unknown = await ask(platform, f"/invocations/inv_{'0' * 32}")
    require_error(unknown, 404, "NOT_FOUND", "4", "invocation_unknown")
    require_error(await ask(platform, f"/traces/{'1' * 32}"), 404, "NOT_FOUND", "4", "trace_unknown")
    require_error(await ask(platform, f"/invocations/{failed}", bob), 403, "FORBIDDEN", "4", "not_caller")


async def test_the_cards_of_all_invocations_together_have_a_limit(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each Invocation has its Card in the bundle, also when it is the same."""
    trace = await a_trace(platform)
    calls = (await bundle_of(platform, f"/traces/{trace}"))["invocations"]
    monkeypatch.setattr(bundles, "MAX_CARD_CHARACTERS", sum(len(call["card"]) for call in calls) - 1)
    require_error(await ask(platform, f"/traces/{trace}"), 413, "PAYLOAD_TOO_LARGE", "4")


async def test_more_bundles_at_once_than_the_gateway_holds_are_refused(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may have tens of megabytes. Other requests go on."""
    invocation = await a_call(platform)
    await bundle_of(platform, f"/invocations/{invocation}")
    made, begun, release = bundles.Bundles.whole, list[str](), asyncio.Event()

    async def held(self: bundles.Bundles, workspace_id: str, of: bundles.Bundled, name: str) -> Any:
        begun.append(name)
        await release.wait()
        return await made(self, workspace_id, of, name)

    async def all_have_begun() -> bool:
        return len(begun) == MAX_BUNDLES

    monkeypatch.setattr(bundles.Bundles, "whole", held)
    running = [asyncio.create_task(ask(platform, f"/invocations/{invocation}")) for _ in range(MAX_BUNDLES)]
    await becomes_true(all_have_begun)
    require_error(await ask(platform, f"/invocations/{invocation}"), 503, "OVERLOADED", "4")
    await platform.detail(invocation)
    release.set()
    assert [reply.status for reply in await asyncio.gather(*running)] == [200] * MAX_BUNDLES
    assert (await ask(platform, f"/invocations/{invocation}")).status == 200


async def test_a_bundle_stays_whole_after_the_agent_was_uninstalled(platform: Platform) -> None:
    card, _, installation = await platform.installed()
    platform.agent.script(a_message(data(1)))
    reply = await platform.invoke(agentId=card["agentId"])
    assert (await platform.owner.ask("DELETE", f"/{SPACE}/installations/{installation}")).status == 200
    bundle = await bundle_of(platform, f"/invocations/{reply.json['invocationId']}")
    assert bundle["invocations"][0]["authorization"]["installation"]["installationId"] == installation
    verify(bundle, kept(bundle))


async def pages_of(platform: Platform, path: str) -> list[Any]:
    found, query = list[Any](), ""
    while True:
        target = f"/v1/workspaces/{SPACE}{path}/bundle/pages{query}"
        reply = await platform.gateway.get(target, token=platform.token)
        assert reply.status == 200, reply.body
        assert document("ledger-bundle-page/1").violations(reply.json) == ()
        found.append(reply.json)
        if "nextCursor" not in reply.json:
            return found
        query = f"?cursor={reply.json['nextCursor']}"


@pytest.mark.rows("TREE-01")
@pytest.mark.parametrize(("leaves", "invocations"), [(1, 10), (2, 2), (5, 10), (3_000, 1), (3_000, 10)])
async def test_a_bundle_of_any_size_comes_in_parts_that_make_one_bundle(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, leaves: int, invocations: int
) -> None:
    """All under the head of the first part, whatever is added to the tree meanwhile: what the verifier reads is one."""
    call = f"/invocations/{await a_call(platform)}"
    trace = f"/traces/{await a_trace(platform)}"
    for path in (call, trace):
        whole = await bundle_of(platform, path)
        monkeypatch.setattr(reader, "MAX_LEAVES", leaves)
        monkeypatch.setattr(reader, "MAX_INVOCATIONS_IN_PAGE", invocations)
        pages = await pages_of(platform, path)
        parts = [each for page in pages for each in page["invocations"]]
        read = LedgerBundlePage(
            head=msgspec.convert(pages[0]["head"], LedgerHead),
            invocations=tuple(msgspec.json.decode(json.dumps(part), type=BundledPart) for part in parts),
        )
        bundle = json.loads(msgspec.json.encode(whole_bundle(path.rpartition("/")[2], read)))
        verify(bundle, (bundle["head"]["size"], bundle["head"]["root"]))
        assert {page["head"]["root"] for page in pages} == {bundle["head"]["root"]}
        assert max(sum(len(each["leaves"]) for each in page["invocations"]) for page in pages) <= leaves
        for part, right in zip(bundle["invocations"], whole["invocations"], strict=True):
            assert (part["card"], part["authorization"]) == (right["card"], right["authorization"])
            assert [leaf["leaf"] for leaf in part["leaves"]] == [leaf["leaf"] for leaf in right["leaves"]]
        monkeypatch.undo()


async def test_parts_of_a_bundle_are_refused_as_a_bundle_is(platform: Platform, bob: str) -> None:
    async def pages(path: str, token: str = platform.token) -> Reply:
        return await platform.gateway.get(f"/v1/workspaces/{SPACE}{path}", token=token)

    async with running_parent(platform) as parent:
        path = f"/invocations/{parent.invocation_id}/bundle/pages"
        require_error(await pages(path), 409, "CONFLICT", "4", "not_numbered_yet")
    invocation = await a_call(platform)
    unknown = await pages(f"/invocations/inv_{'0' * 32}/bundle/pages")
    require_error(unknown, 404, "NOT_FOUND", "4", "invocation_unknown")
    require_error(await pages(f"/traces/{'1' * 32}/bundle/pages"), 404, "NOT_FOUND", "4", "trace_unknown")
    require_error(await pages(f"/invocations/{invocation}/bundle/pages", bob), 403, "FORBIDDEN", "4", "not_caller")
    made_up = await pages(f"/invocations/{invocation}/bundle/pages?cursor=x")
    assert (made_up.status, made_up.json["violations"][0]["pointer"]) == (400, "/cursor")


@pytest.mark.rows("TREE-01")
async def test_the_command_puts_a_bundle_that_is_too_large_for_one_answer_together(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace, file = await a_trace(platform), tmp_path / "bundle.json"
    whole = await bundle_of(platform, f"/traces/{trace}")
    monkeypatch.setattr(reader, "MAX_LEAVES", 5)
    require_error(await ask(platform, f"/traces/{trace}"), 413, "PAYLOAD_TOO_LARGE", "4")
    environment = {"AOP_GATEWAY": platform.gateway.origin, "AOP_TOKEN": platform.token, "AOP_WORKSPACE": SPACE}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aop", "bundle", trace, "-o", str(file)),
        env={**environment, "PATH": os.defpath, "HOME": str(tmp_path)},
    )
    async with patience():
        assert await process.wait() == 0
    bundle = json.loads(file.read_bytes())
    assert document("ledger-bundle/1").violations(bundle) == ()
    verify(bundle)
    assert [len(call["leaves"]) for call in bundle["invocations"]] == [
        len(call["leaves"]) for call in whole["invocations"]
    ]
