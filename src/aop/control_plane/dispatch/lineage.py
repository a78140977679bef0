"""Metadata reads of the Ledger through the Router: of a Workspace or a Release, checked before they are passed on."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from aop.base import json
from aop.contracts.documents import Document, document
from aop.contracts.errors import (
    Conflict,
    DependencyFailed,
    ErrorCode,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    Reason,
    Refusal,
    Violation,
)
from aop.contracts.figures import Window
from aop.contracts.ledger_tree import LedgerProof, LedgerProofPage
from aop.contracts.reach import ReleaseCalls
from aop.control_plane.dispatch.proof_answers import read_proof, read_proof_page
from aop.control_plane.dispatch.router_client import RouterClient, RouterUnavailable, workspace_path
from aop.net.http import Answer

_CURSOR = Violation("/cursor", "cursor")
_MANY_KINDS = Violation("/since", "too_many_kinds")
"""More kinds of calls are in the window than one answer counts; a shorter one may have fewer."""
_AFTER = Violation("/after", "position")
_PARENT = "parentInvocationId"
_NOT_EXPECTED = "the Router's metadata answer does not follow the contract"


class LineageReads:
    def __init__(self, router: RouterClient) -> None:
        self._router = router

    async def detail(self, workspace_id: str, invocation_id: str) -> bytes:
        path = workspace_path(workspace_id, "invocations", invocation_id)
        body, value = await self._read(path, document("invocation-detail/2").is_valid)
        record = value["invocation"]
        if (record["workspaceId"], record["invocationId"]) != (workspace_id, invocation_id):
            raise DependencyFailed("the Router answered with another Invocation")
        return body

    async def trace(self, workspace_id: str, trace_id: str, query: Mapping[str, str]) -> bytes:
        path = _with(workspace_path(workspace_id, "traces", trace_id), query)
        body, value = await self._read(path, document("trace/2").is_valid)
        records = value["invocations"]
        if value["traceId"] != trace_id or any(record["workspaceId"] != workspace_id for record in records):
            raise DependencyFailed("the Router answered with another Trace")
        return body

    async def page(self, workspace_id: str, query: Mapping[str, str]) -> bytes:
        is_page = partial(_is_page, document("invocation-record/2"))
        body, value = await self._read(_with(workspace_path(workspace_id, "invocations"), query), is_page)
        if any(record["workspaceId"] != workspace_id for record in value["items"]):
            raise DependencyFailed("the Router answered with another Workspace")
        return body

    async def traces(self, workspace_id: str, query: Mapping[str, str]) -> bytes:
        is_page = partial(_is_page, document("trace-item/1"))
        body, value = await self._read(_with(workspace_path(workspace_id, "traces"), query), is_page)
        for item in value["items"]:
            root = item["root"]
            if (root["workspaceId"], root["traceId"]) != (workspace_id, item["traceId"]) or _PARENT in root:
                raise DependencyFailed("the Router answered with another Workspace, or without the root of a Trace")
        return body

    async def proof(self, workspace_id: str, of: str, name: str) -> LedgerProof:
        answer = await self._answer(workspace_path(workspace_id, of, name, "proof"))
        if answer.status != 200:
            raise _refusal(answer.status, _strict(answer))
        _require_json(answer)
        return await read_proof(answer.body)

    async def proof_page(self, workspace_id: str, of: str, name: str, query: Mapping[str, str]) -> LedgerProofPage:
        answer = await self._answer(_with(workspace_path(workspace_id, of, name, "proof", "pages"), query))
        if answer.status != 200:
            raise _refusal(answer.status, _strict(answer), _CURSOR)
        _require_json(answer)
        return await read_proof_page(answer.body)

    async def events(self, workspace_id: str, query: Mapping[str, str], limit: int) -> bytes:
        """The Router has a feed for every Workspace, so that an answer other than a page is its failure, apart from one
        that says that the events were archived."""
        path = _with(workspace_path(workspace_id, "events"), query)
        try:
            body, value = await self._read(path, document("event-page/1").is_valid, _AFTER)
        except NotFound as missing:
            if missing.reason is Reason.ARCHIVED:
                raise
            raise DependencyFailed("the Router did not read the events") from None
        items = value["items"]
        if len(items) > limit or any(not _is_of(workspace_id, item) for item in items):
            raise DependencyFailed("the Router answered with other events")
        return body

    async def figures(self, workspace_id: str, window: Window) -> bytes:
        """The Router counts for every Workspace, so that an answer other than figures is its failure."""
        path = f"{workspace_path(workspace_id, 'figures')}?{urlencode(window.query)}"
        try:
            body, value = await self._read(path, document("figures/1").is_valid, _MANY_KINDS)
        except NotFound:
            raise DependencyFailed("the Router did not count the calls") from None
        asked = {"workspaceId": workspace_id, **window.query, "step": window.step}
        if any(value[name] != given for name, given in asked.items()) or len(value["buckets"]) != window.buckets:
            raise DependencyFailed("the Router answered with other figures")
        return body

    async def calls_of(self, release_id: str) -> ReleaseCalls:
        """The Router counts for every id, so that an answer other than counts is its failure."""
        path = f"/internal/v1/releases/{quote(release_id, safe='')}/reach"
        try:
            body, value = await self._read(path, document("release-reach/1#calls").is_valid)
        except (NotFound, InvalidRequest):
            raise DependencyFailed("the Router did not count the calls") from None
        if value["releaseId"] != release_id:
            raise DependencyFailed("the Router answered with another Release")
        return msgspec.json.decode(body, type=ReleaseCalls)

    async def _read(
        self, path: str, is_expected: Callable[[Any], bool], refused: Violation = _CURSOR
    ) -> tuple[bytes, Any]:
        """One violation is the caller's, because only the Router can find it."""
        answer = await self._answer(path)
        value = _strict(answer)
        if answer.status != 200:
            raise _refusal(answer.status, value, refused)
        if not is_expected(value):
            raise DependencyFailed(_NOT_EXPECTED)
        return answer.body, value

    async def _answer(self, path: str) -> Answer:
        try:
            return await self._router.read(path)
        except RouterUnavailable as failure:
            raise DependencyFailed(f"read: {failure}", reason=Reason.ROUTER_UNREACHABLE) from failure


def _refusal(status: int, value: Any, refused: Violation | None = None) -> Refusal:
    if status == 404:
        return NotFound("nothing recorded", reason=_reason(value, ErrorCode.NOT_FOUND))
    if status == 409 and _reason(value, ErrorCode.CONFLICT) is Reason.NOT_NUMBERED_YET:
        return Conflict("not in the tree yet", reason=Reason.NOT_NUMBERED_YET)
    if status == 413:
        return PayloadTooLarge("the proof")
    if status == 503:
        return DependencyFailed("the Router failed", reason=_reason(value, ErrorCode.DEPENDENCY_ERROR))
    if status == 400 and refused is not None and _is_only(refused, value):
        return InvalidRequest(refused)
    return DependencyFailed(_NOT_EXPECTED)


def _require_json(answer: Answer) -> None:
    media_types = answer.headers_named(b"content-type")
    if len(media_types) != 1 or media_types[0].partition(b";")[0].strip().lower() != b"application/json":
        raise DependencyFailed("the Router's metadata answer is not JSON")


def _strict(answer: Answer) -> Any:
    _require_json(answer)
    try:
        return json.parse(answer.body, json.UNIT_DEPTH)
    except json.JsonRefused:
        raise DependencyFailed("the Router's metadata answer is not strict JSON") from None


def _reason(value: Any, code: ErrorCode) -> Reason | None:
    """What the Router says with this code, if it answered with a Platform Error of it."""
    if not document("platform-error/4").is_valid(value) or value["code"] != code or "reason" not in value:
        return None
    return Reason(value["reason"])


def _is_only(violation: Violation, value: Any) -> bool:
    found = value.get("violations") if isinstance(value, dict) else None
    return found == [{"pointer": violation.pointer, "rule": violation.rule}]


def _is_page(item: Document, value: Any) -> bool:
    if not isinstance(value, dict) or not {"items"} <= value.keys() <= {"items", "nextCursor"}:
        return False
    items, cursor = value["items"], value.get("nextCursor", "")
    return isinstance(items, list) and isinstance(cursor, str) and all(map(item.is_valid, items))


def _is_of(workspace_id: str, item: Any) -> bool:
    """Whether a CloudEvent says of its data what the data say."""
    data = item["data"]
    said = (item["id"], item["type"], item["subject"], item["time"])
    facts = (data["eventId"], f"aop.invocation.{data['type']}", data["invocationId"], data["occurredAt"])
    return data["workspaceId"] == workspace_id and item["source"].endswith(f"/{workspace_id}") and said == facts


def _with(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
