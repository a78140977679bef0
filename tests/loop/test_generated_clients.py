"""What others make of `/openapi.json` of a running Gateway: clients that call it, and calls that must fit it."""

import re
from pathlib import Path
from typing import Any

import pytest

from interop import openapi
from tests.support.agent import a_message, data
from tests.support.loop import CAPABILITY, SPACE, Platform
from tests.support.streaming_agent import a_whole_stream, streamed
from tools.contracts import operations_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.rows("DOOR-07")]


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    openapi.prepare(print)


def arguments(platform: Platform) -> list[str]:
    return [platform.gateway.origin, SPACE, platform.card["agentId"], CAPABILITY]


def scripted(platform: Platform) -> list[list[Any]]:
    """One call and one stream of the Agent, and what each client tells of them and of what it asks besides."""
    platform.agent.script(a_message(data({"n": 1.5})))
    platform.agent.script(streamed(*a_whole_stream(2)))
    return [
        ["installed", [[platform.card["name"], len(platform.card["skills"])]]],
        ["result", {"n": 1.5}],
        ["refused", [403, "CAPABILITY_NOT_ALLOWED", "skill_unknown"]],
        ["accepted", None],
        ["chunk", 0],
        ["chunk", 1],
        ["completed", None],
    ]


@pytest.mark.long
async def test_a_python_client_has_every_operation_and_calls(platform: Platform, tmp_path: Path) -> None:
    folder, document = tmp_path / "gateway_client", f"{platform.gateway.origin}/openapi.json"
    made = await openapi.make_python_client(document, folder)
    described = (await platform.gateway.get("/openapi.json")).json
    names = [operation["operationId"] for _, _, operation in operations_of(described)]
    assert made == sorted(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names)
    expected = scripted(platform)
    assert await openapi.use_python_client(folder, arguments(platform), platform.token) == expected


@pytest.mark.long
async def test_the_published_types_are_those_of_the_document_and_a_typed_client_calls(
    platform: Platform, tmp_path: Path
) -> None:
    made = tmp_path / "gateway.d.ts"
    await openapi.make_types(f"{platform.gateway.origin}/openapi.json", made)
    await openapi.make_types(str(openapi.DOCUMENT), openapi.TYPES)
    assert openapi.TYPES.read_text("utf-8") == made.read_text("utf-8")
    expected = scripted(platform)
    assert await openapi.use_types(arguments(platform), platform.token) == expected


@pytest.mark.long
async def test_no_answer_to_a_generated_call_is_outside_the_document(platform: Platform) -> None:
    """Two calls of each operation; `./dev prove inputs` makes many."""
    report = await openapi.compare(platform.gateway.origin, platform.token, "--max-examples", "2")
    operations = len(list(operations_of((await platform.gateway.get("/openapi.json")).json)))
    tested = re.search(r"Tested: ([0-9]+)", report)
    # The document itself is not one of the operations that schemathesis tests, and signing out would end all others.
    assert tested is not None
    assert int(tested[1]) == operations - 2
