"""Control Plane and Router on real sockets around the sample Agents, which run as the programs they are."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.contracts.documents import document
from aop.contracts.invocation import StreamEvent
from aop.contracts.publication import Release
from aop.contracts.result_stream import ResultStreamReader
from aop.control_plane.app import build as build_control_plane
from aop.control_plane.gateway.tokens import issue_token
from aop.control_plane.settings import read_control_plane_settings
from aop.local.state import DatabaseUrls
from aop.net.http import HttpClient, Target
from aop.net.server import listening_socket
from aop.net.sse import COMMENT, FrameReader
from aop.router.app import build as build_router
from aop.router.settings import read_router_settings
from tests.agent.samples import SAMPLES, RunningSample, running_sample
from tests.support.cards import Card
from tests.support.catalog import Catalog, opened_catalog
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, control_plane_environment, router_environment
from tests.support.units import Reply, RunningUnit, running
from tests.support.waiting import PATIENCE_SECONDS, becomes_true
from tests.support.workspaces import Owner
from tools.agent_env import AGENTS

SPACE = "space"
_INVOCATIONS = f"/v1/workspaces/{SPACE}/invocations"


@dataclass(frozen=True)
class SamplePlatform:
    gateway: RunningUnit
    owner: Owner
    releases: Mapping[str, Release]
    installations: Mapping[str, str]

    async def invoke(self, agent_id: str, capability: str, skill_input: object) -> Reply:
        return await self.gateway.ask(
            "POST", _INVOCATIONS, _body(agent_id, capability, skill_input), token=self.owner.token
        )

    async def stream(self, agent_id: str, capability: str, skill_input: object) -> AsyncGenerator[StreamEvent, None]:
        """The events of an exact stream; closing the iterator is leaving as a caller."""
        client, reader, events = (
            HttpClient(idle_seconds=0, connect_seconds=PATIENCE_SECONDS),
            FrameReader(1_048_576),
            ResultStreamReader(),
        )
        headers = [
            (b"authorization", f"Bearer {self.owner.token}".encode()),
            (b"content-type", b"application/json"),
            (b"accept", b"text/event-stream"),
        ]
        body = json.dumps(_body(agent_id, capability, skill_input, stream=True)).encode()
        target, deadline = Target("http", "127.0.0.1", self.gateway.port, "127.0.0.1"), _late()
        try:
            async with client.stream(
                target, "POST", _INVOCATIONS, headers=headers, body=body, deadline=deadline, max_body=2**24
            ) as answer:
                assert answer.status == 200
                async for piece in answer:
                    for frame in reader.feed(piece):
                        if frame != COMMENT:
                            yield events.read(frame.removeprefix(b"data: ").removesuffix(b"\n\n"))
        finally:
            await client.close()

    async def newest(self) -> list[dict[str, Any]]:
        reply = await self.gateway.get(f"{_INVOCATIONS}?limit=5", token=self.owner.token)
        assert reply.status == 200, reply.body
        records: list[dict[str, Any]] = reply.json["items"]
        return records

    async def trace(self, trace_id: str) -> list[dict[str, Any]]:
        """Its records, parents before children, all of one root Task."""
        reply = await self.gateway.get(f"/v1/workspaces/{SPACE}/traces/{trace_id}", token=self.owner.token)
        assert reply.status == 200, reply.body
        assert document("trace/2").violations(reply.json) == ()
        records: list[dict[str, Any]] = reply.json["invocations"]
        seen: set[str | None] = set()
        for record in records:
            assert record.get("parentInvocationId") in (seen or {None})
            seen.add(record["invocationId"])
        assert {(record["traceId"], record["rootTaskId"]) for record in records} == {
            (trace_id, records[0]["rootTaskId"])
        }
        return records


@contextmanager
def running_samples(folder: Path, router_url: str) -> Iterator[dict[str, RunningSample]]:
    """All of them at once, as their start is slow."""
    with ExitStack() as stack, ThreadPoolExecutor() as starting:

        def start(name: str) -> RunningSample:
            (folder / name).mkdir()
            return stack.enter_context(running_sample(name, folder / name, PLATFORM_AGENT_ROUTER_URL=router_url))

        yield dict(zip(SAMPLES, starting.map(start, SAMPLES), strict=True))


@asynccontextmanager
async def running_sample_platform(
    stores: DatabaseUrls, listener: socket.socket, samples: Mapping[str, RunningSample]
) -> AsyncIterator[SamplePlatform]:
    """On the Router's own listening socket, whose address the samples know already."""
    allowed = json.dumps([f"127.0.0.1:{sample.port}" for sample in samples.values()])
    token = (await issue_token(stores.control_plane, "alice")).token.reveal()
    ours = control_plane_environment(
        PLATFORM_DATABASE_URL=stores.control_plane,
        PLATFORM_ROUTER_INTERNAL_ORIGIN=origin_of(listener),
        PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed,
    )
    async with (
        opened_catalog(stores) as catalog,
        running(lambda: build_control_plane(read_control_plane_settings(ours))) as gateway,
    ):
        theirs = router_environment(
            PLATFORM_ROUTER_DATABASE_URL=stores.router,
            PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN=gateway.origin,
            PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON=allowed,
        )
        async with running(lambda: build_router(read_router_settings(theirs)), listener) as router:
            platform = await _peopled(Owner(gateway, token), catalog, samples)
            await _knows(router, platform.releases.values())
            yield platform


async def _peopled(owner: Owner, catalog: Catalog, samples: Mapping[str, RunningSample]) -> SamplePlatform:
    await owner.workspace(SPACE)
    releases, installations = {}, {}
    for sample in samples.values():
        card = filled_in(sample)
        await catalog.register(card)
        releases[card["agentId"]] = await catalog.release(card)
        accepted = [permission["id"] for permission in card["permissions"]]
        installation = await owner.install(card["agentId"], accepted=accepted)
        installations[card["agentId"]] = installation["installationId"]
    return SamplePlatform(owner.gateway, owner, releases, installations)


def filled_in(sample: RunningSample) -> Card:
    """The Card as its publisher completes it."""
    card: Card = json.loads((AGENTS / sample.name / "card.json").read_bytes())
    card["owner"]["id"] = "alice"
    card["protocol"]["endpoint"] = sample.endpoint
    return card


def router_listener() -> socket.socket:
    return listening_socket("127.0.0.1", 0)


def origin_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def _knows(router: RunningUnit, releases: Iterable[Release]) -> None:
    wanted = {release.release_id for release in releases}

    async def is_known() -> bool:
        status = await router.get("/internal/v1/topology/status", token=CONTROL_PLANE_TO_ROUTER)
        return wanted <= {item["releaseId"] for item in status.json["observations"] if item["state"] == "published"}

    await becomes_true(is_known)


def _body(agent_id: str, capability: str, skill_input: object, *, stream: bool = False) -> dict[str, Any]:
    return {"agentId": agent_id, "capability": capability, "input": skill_input, "stream": stream}


def _late() -> float:
    return asyncio.get_running_loop().time() + PATIENCE_SECONDS
