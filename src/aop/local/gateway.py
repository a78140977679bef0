"""Calls the public API as any caller does, and turns what goes wrong into one message with a way out."""

import asyncio
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from aop.agent.addresses import target_of
from aop.base.http import Answer, HttpClient, HttpError
from aop.base.origin import parse_origin
from aop.base.secret import Secret
from aop.contracts.errors import ErrorCode
from aop.contracts.platform_error import InvocationError
from aop.local.problems import StepFailed

T = TypeVar("T")

_SECONDS = 30.0
_MAX_ANSWER_BYTES = 16 * 1024 * 1024
_PAGE = "100"

_HINTS = {
    ErrorCode.FORBIDDEN: "it belongs to another principal; use another data folder or database, or --no-agents",
    ErrorCode.UNAUTHENTICATED: "the access token was not accepted; does PLATFORM_OIDC_… replace access tokens?",
    ErrorCode.DISALLOWED_NETWORK: "its address is not on the allow-list; add it with --allow HOST:PORT",
    ErrorCode.ENDPOINT_UNAVAILABLE: "the Agent did not answer at its address; its log file says why",
    ErrorCode.WRONG_PROOF: "another program answers at the Agent's address; stop it and start again",
    ErrorCode.CHALLENGE_EXPIRED: "the machine's clock may have jumped; start again",
    ErrorCode.VALIDATION_ERROR: "correct card.json and start again",
}
_USUAL_HINT = "the log files of the units say why; start again, or leave the Agents out with --no-agents"


class Refused(StepFailed):
    """The Gateway answered with a Platform Error."""

    def __init__(self, step: str, status: int, error: InvocationError) -> None:
        where = "".join(f"; {item.pointer or '(body)'}: {item.rule}" for item in error.violations or ())
        hint = _HINTS.get(error.code, _USUAL_HINT)
        super().__init__(
            f"{step} was refused: {status} {error.code}, {error.message}{where} Trace {error.trace_id}.\n  {hint}"
        )
        self.code = error.code


class _Page(msgspec.Struct, frozen=True, rename="camel"):
    """One page of a list, or of an Agent Overview, whose items are called versions."""

    items: tuple[msgspec.Raw, ...] = ()
    versions: tuple[msgspec.Raw, ...] = ()
    next_cursor: str | None = None


class GatewayCalls:
    """Belongs to the loop it is used on; `async with` closes its connections."""

    def __init__(self, origin: str, token: Secret) -> None:
        self._endpoint = parse_origin(origin)
        self._headers = [
            (b"authorization", f"Bearer {token.reveal()}".encode()),
            (b"content-type", b"application/json"),
        ]
        self._client = HttpClient(idle_seconds=10.0, connect_seconds=5.0)

    async def __aenter__(self) -> "GatewayCalls":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def get(self, path: str, kind: type[T], **query: str) -> T:
        return await self._call("GET", f"{path}?{urlencode(query)}" if query else path, None, kind)

    async def post(self, path: str, body: object, kind: type[T]) -> T:
        return await self._call("POST", path, body, kind)

    async def find(self, path: str, kind: type[T], **query: str) -> T | None:
        """None when nothing is known under that address."""
        try:
            return await self.get(path, kind, **query)
        except Refused as refused:
            if refused.code is not ErrorCode.NOT_FOUND:
                raise
            return None

    async def all(self, path: str, kind: type[T], **query: str) -> list[T]:
        """Every item of every page; none where the list itself is not known."""
        asked, found = {"limit": _PAGE, **query}, list[T]()
        while (page := await self.find(path, _Page, **asked)) is not None:
            found += [msgspec.json.decode(item, type=kind) for item in page.items or page.versions]
            if page.next_cursor is None:
                break
            asked["cursor"] = page.next_cursor
        return found

    async def _call(self, method: str, path: str, body: object, kind: type[T]) -> T:
        step = f"{method} {path.partition('?')[0]}"
        answer = await self._answer(step, method, path, b"" if body is None else msgspec.json.encode(body))
        try:
            if answer.status in {200, 201}:
                return msgspec.json.decode(answer.body, type=kind)
            raise Refused(step, answer.status, msgspec.json.decode(answer.body, type=InvocationError))
        except msgspec.DecodeError:
            raise StepFailed(
                f"{step} got {answer.status} with a body the contract does not know; does another program listen there?"
            ) from None

    async def _answer(self, step: str, method: str, path: str, body: bytes) -> Answer:
        try:
            return await self._client.request(
                await target_of(self._endpoint),
                method,
                path,
                headers=self._headers,
                body=body,
                deadline=asyncio.get_running_loop().time() + _SECONDS,
                max_body=_MAX_ANSWER_BYTES,
            )
        except (HttpError, OSError) as problem:
            raise StepFailed(f"{step} got no answer ({problem}); {_USUAL_HINT}") from problem


def path_of(*segments: str) -> str:
    return "/v1/" + "/".join(quote(segment, safe=":") for segment in segments)
