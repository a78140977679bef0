"""The reference platform: two hops made of our own server, client and group commit, with next to no duties.

It decodes, makes an id, commits twice, signs once, and passes on. It does not authorize, check, log or count. So the
ratio of the product to it says what duties and layers cost, on any machine and on any interpreter.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from uuid import uuid4

import msgspec
import uvloop

from aop.base.canonical import to_base64url
from aop.base.loops import Loops
from aop.contracts.signing import SigningKey
from aop.ledger.write.group_commit import GroupCommit, Statements
from aop.local.postgres import EmbeddedPostgres
from aop.net.asgi import Receive, Scope, Send
from aop.net.http import HttpClient, Target
from aop.net.own_server import own_server
from aop.net.server import HttpServer, listening_socket
from aop.serving.unit.unit import tune_gc
from aop.store.database import Connection, connect
from benchmarks.measure import peer_process

_JSON = ((b"content-type", b"application/json"),)
_TABLE = "CREATE TABLE reference (id uuid, fact jsonb); CREATE INDEX reference_id ON reference (id)"
_INSERT = "INSERT INTO public.reference SELECT * FROM unnest($1::uuid[], $2::jsonb[])"
_ROW = {f"member{number}": f"a fact of about forty bytes, {number}" for number in range(8)}
_HEADER = to_base64url(b'{"alg":"EdDSA","typ":"platform-router+jwt","kid":"reference"}')
_SECONDS = 30.0
_MAX_BODY = 1 << 20

Entry = tuple[str, str]
Handle = Callable[[bytes], Awaitable[bytes]]


@dataclass(frozen=True)
class Reference:
    gateway_pid: int
    router_pid: int
    store_pid: int
    gateway: Target


@asynccontextmanager
async def reference_platform(agent: Target) -> AsyncIterator[Reference]:
    """On a server of its own: what PostgreSQL still does for the product in the background is not the reference's."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with EmbeddedPostgres(home / "postgres", home / "postgres.log") as server:
            url = server.url(database="postgres")
            connection = await connect(url, application="benchmark")
            await connection.execute("SET search_path = public; " + _TABLE)
            await connection.close()
            with (
                peer_process(partial(_router_peer, url, agent)) as (router_pid, router_port),
                peer_process(partial(_gateway_peer, _local(router_port))) as (gateway_pid, gateway_port),
            ):
                yield Reference(gateway_pid, router_pid, server.pid, _local(gateway_port))


def _local(port: int) -> Target:
    return Target("http", "127.0.0.1", port, "127.0.0.1")


class _Call(msgspec.Struct):
    input: msgspec.Raw
    id: str = ""


class _AgentAnswer(msgspec.Struct):
    result: msgspec.Raw


class _Claims(msgspec.Struct):
    iss: str
    aud: str
    jti: str
    invocation: str


_encode = msgspec.json.Encoder().encode
_decode_call = msgspec.json.Decoder(_Call).decode
_decode_answer = msgspec.json.Decoder(_AgentAnswer).decode


def _gateway_peer(router: Target, report: Pipe) -> None:
    async def built() -> Handle:
        ask = _asker(router, "/", _JSON)

        async def handle(body: bytes) -> bytes:
            return await ask(_encode(_Call(_decode_call(body).input, uuid4().hex)), None)

        return handle

    _run(built, report)


def _router_peer(url: str, agent: Target, report: Pipe) -> None:
    async def built() -> Handle:
        ask, key = _asker(agent, "/a2a", _JSON), SigningKey.generate()
        accept, end = _group_commit(url, "accept"), _group_commit(url, "end")

        async def handle(body: bytes) -> bytes:
            call = _decode_call(body)
            await accept.write((call.id, _encode({**_ROW, "id": call.id}).decode()))
            part = {"kind": "data", "data": call.input}
            message = {"kind": "message", "messageId": call.id, "role": "user", "parts": [part]}
            request = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
            answer = _decode_answer(await ask(_encode(request), _credential(key, call.id)))
            await end.write((call.id, _encode({**_ROW, "ended": call.id}).decode()))
            return _encode({"invocationId": call.id, "result": answer.result})

        return handle

    _run(built, report)


def _credential(key: SigningKey, invocation: str) -> bytes:
    claims = _Claims("reference", "http://agent", uuid4().hex, invocation)
    signed = f"{_HEADER}.{to_base64url(_encode(claims))}".encode()
    return b"Bearer " + signed + b"." + to_base64url(key.sign(signed)).encode()


def _group_commit(url: str, name: str) -> GroupCommit[Entry, bool]:
    async def write(connection: Connection, entries: Sequence[Entry]) -> Sequence[bool]:
        await connection.execute(_INSERT, [entry[0] for entry in entries], [entry[1] for entry in entries])
        return [True] * len(entries)

    def connected() -> Awaitable[Connection]:
        return connect(url, application="reference")

    commit = GroupCommit(Statements(write, write), connected, _SECONDS, lambda: None)
    commit.start(Loops(lambda _: lambda _: None), name)
    return commit


def _asker(target: Target, path: str, headers: tuple[tuple[bytes, bytes], ...]) -> Callable[..., Awaitable[bytes]]:
    client, loop = HttpClient(idle_seconds=30, connect_seconds=5), asyncio.get_running_loop()

    async def ask(body: bytes, credential: bytes | None) -> bytes:
        sent = headers if credential is None else (*headers, (b"authorization", credential))
        deadline = loop.time() + _SECONDS
        answer = await client.request(
            target, "POST", path, headers=sent, body=body, deadline=deadline, max_body=_MAX_BODY
        )
        assert answer.status == 200, answer.body
        return answer.body

    return ask


def _run(built: Callable[[], Awaitable[Handle]], report: Pipe) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    async def serve() -> None:
        handle = await built()

        async def application(scope: Scope, receive: Receive, _: Send) -> None:
            body = own_server(scope).whole_body()
            if body is None:
                body = (await receive())["body"]
            await own_server(scope).answer(200, _JSON, await handle(body))

        listener = listening_socket("127.0.0.1", 0)
        await HttpServer(application).start([listener])
        tune_gc()
        report.send(listener.getsockname()[1])
        await asyncio.Event().wait()

    uvloop.run(serve())
