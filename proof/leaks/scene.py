"""One platform that says everything it can, and callers who put a canary into everything they send."""

import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aop.base.canonical import from_base64url
from aop.contracts.signing import SigningKey
from aop.local.state import DatabaseUrls
from proof.area import Findings, Run
from proof.caller import Leaving, calling, request
from proof.leaks.places import LOGGING, Canaries, Channel, Places
from proof.record import CallResult
from proof.world import PATH, Plan, World, world
from tests.support.agent import credential_of
from tests.support.collector import running_collector
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE

SLOTS = 3


@dataclass
class Scene:
    run: Run
    made: World
    found: Findings
    canaries: Canaries
    places: Places
    results: list[CallResult] = field(default_factory=list)
    provocation: str = ""
    """The one that runs now: all that is sent carries its canaries."""

    def secret(self, channel: Channel) -> str:
        return self.canaries.of(channel, self.provocation)

    def body(self, **members: object) -> bytes:
        content = {"secret": f'é"\\/ {self.secret(Channel.INPUT)}'}
        return self.made.first.request(json.dumps(content, ensure_ascii=False).encode(), **members)

    def request(self, body: bytes, *, stream: bool = False, path: str = PATH) -> bytes:
        """With a canary in headers of several kinds."""
        secret = self.secret(Channel.HEADER).encode()
        more = b"x-secret: %b\r\ncookie: session=%b\r\nx-platform-trace-id: %b\r\nuser-agent: %b" % ((secret,) * 4)
        whole = request(path, body, self.made.first.token, stream=stream)
        return whole.replace(b"host: test", b"host: test\r\n" + more, 1)

    async def call(self, code: str | None = None, *, stream: bool = False, **members: object) -> CallResult:
        """One call, which must be told this code, if any is given."""
        result = await self.send(self.request(self.body(stream=stream, **members), stream=stream))
        self.found.require(code in {None, result.code}, f"{self.provocation}: {result.code}, not {code}")
        return result

    async def send(self, content: bytes, port: int | None = None) -> CallResult:
        try:
            async with calling(port or self.made.first.gateway.port) as caller:
                await caller.send(content)
                result = await caller.answer()
        except OSError:
            result = CallResult(time.time(), time.time())
        self.took(result)
        return result

    @asynccontextmanager
    async def reading(self, mark: str, way: Leaving = Leaving.FIN) -> AsyncIterator[None]:
        """A caller of a stream who has read as far as the mark, and leaves at the end of the scope."""
        async with calling(self.made.first.gateway.port) as caller:
            await caller.send(self.request(self.body(stream=True), stream=True))
            await caller.until(mark.encode())
            yield
            caller.leave(way)
        self.took(caller.result())

    def took(self, result: CallResult) -> None:
        self.results.append(result)
        self.found.hits[self.provocation] += 1

    def collect(self) -> None:
        """What the platform itself made and gave to the Agent."""
        for number, received in enumerate(self.made.agent.received):
            credential = credential_of(received)
            signed = received.values("authorization")[0].rpartition(".")[2]
            self.canaries.add(Channel.CREDENTIAL, f"signature of credential {number}", signed)
            self.canaries.add(Channel.CREDENTIAL, f"jti {number}", str(credential.claims["jti"]).removeprefix("jti_"))
            for delegation in received.values("x-platform-delegation"):
                signed = delegation.rpartition(".")[2]
                self.canaries.add(Channel.DELEGATION, f"signature of delegation {number}", signed)


@asynccontextmanager
async def opened_scene(run: Run, found: Findings) -> AsyncIterator[Scene]:
    password = f"pw{run.random.getrandbits(96):024x}"
    stores = await run.postgres.new_platform()
    database = stores.migration.rpartition("/")[2]
    logins = [f"leaks_{side}_{database}" for side in ("control_plane", "router")]
    for login, group in zip(logins, ("aop_control_plane", "aop_router"), strict=True):
        await run.postgres.execute(f"CREATE ROLE {login} LOGIN PASSWORD '{password}' IN ROLE {group}")
    own = [_as(login, password, stores.router) for login in logins]
    stores = DatabaseUrls(own[0], own[1], stores.migration)
    server = run.postgres._server
    files = server._cluster.files, server._log_path, server._log_path.stat().st_size
    for name, value in LOGGING.items():
        await run.postgres.execute(f"ALTER DATABASE {database} SET {name} = '{value}'")
    async with running_collector() as collector:
        verbose = collector.settings(PLATFORM_LOG_LEVEL="debug")
        few = {"PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS": str(SLOTS)}
        key = SigningKey.generate()
        signing = {"PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": key.text}
        plan = Plan(proxies=True, control_plane=verbose, router=verbose | few | signing, failpoints=True)
        async with world(stores, run.postgres.url(database), run.folder, plan) as made:
            canaries = Canaries(f"cnry{run.random.getrandbits(64):016x}{os.getpid():08x}")
            _own(canaries, made, password, key)
            yield Scene(run, made, found, canaries, Places(made, collector, *files))
    await run.postgres.drop(database)
    for login in logins:
        await run.postgres.execute(f"DROP ROLE {login}")


def _as(login: str, password: str, url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f"{parts.username}:{parts.password}", f"{login}:{password}")


def _own(canaries: Canaries, made: World, password: str, key: SigningKey) -> None:
    canaries.add(Channel.ACCESS_TOKEN, "access token", made.first.token)
    canaries.add(Channel.SERVICE_TOKEN, "Gateway's service token", CONTROL_PLANE_TO_ROUTER)
    canaries.add(Channel.SERVICE_TOKEN, "Router's service token", ROUTER_TO_CONTROL_PLANE)
    canaries.add(Channel.DATABASE_PASSWORD, "database password", password)
    canaries.add(Channel.SIGNING_KEY, "signing key", key.text)
    canaries.add(Channel.SIGNING_KEY, "seed of the signing key", from_base64url(key.text)[:32].hex())
