"""JSON bodies: media type, size, strict JSON and schema, in the order of the contract."""

import asyncio
import json

import pytest

from aop.serving.edge import body as body_module
from tests.base.json_corpus import CORPUS
from tests.serving.conftest import LIMIT
from tests.support.errors import require_error
from tests.support.units import Reply, RunningUnit
from tests.support.waiting import patience

GOOD = b'{"workspaceId":"w1"}'


def violations(reply: Reply) -> list[tuple[str, str]]:
    return [(item["pointer"], item["rule"]) for item in reply.json["violations"]]


@pytest.mark.rows("CAT-10")
@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;q=x", "application/json ;a=b"],
)
async def test_json_with_any_parameter_is_taken(unit: RunningUnit, content_type: str) -> None:
    reply = await unit.post("/echo", GOOD, headers=[(b"content-type", content_type.encode())])
    assert (reply.status, reply.body) == (200, GOOD)


@pytest.mark.rows("CAT-10")
@pytest.mark.parametrize("content_type", ["text/plain", "application/jsonx", "application/problem+json", "json", ","])
async def test_another_media_type_is_refused(unit: RunningUnit, content_type: str) -> None:
    reply = await unit.post("/echo", GOOD, headers=[(b"content-type", content_type.encode())])
    require_error(reply, 400, "VALIDATION_ERROR", "3")
    assert violations(reply) == [("", "content_type")]


async def test_an_encoded_body_is_refused(unit: RunningUnit) -> None:
    reply = await unit.post("/echo", GOOD, headers=[(b"content-encoding", b"gzip")])
    assert violations(reply) == [("", "content_type")]
    assert (await unit.post("/echo", GOOD, headers=[(b"content-encoding", b"identity")])).status == 200


@pytest.mark.rows("CAT-11")
async def test_a_body_one_byte_over_the_limit_is_refused_and_one_at_the_limit_is_not(unit: RunningUnit) -> None:
    fitting = b'{"workspaceId":"w1"' + b" " * (LIMIT - len(GOOD)) + b"}"
    assert len(fitting) == LIMIT
    assert (await unit.post("/echo", fitting)).status == 200
    require_error(await unit.post("/echo", fitting + b" "), 413, "PAYLOAD_TOO_LARGE", "3", "body_size")
    require_error(await unit.post("/echo", b"x" * 5_000_000), 413, "PAYLOAD_TOO_LARGE", "3", "body_size")


@pytest.mark.rows("CAT-11")
async def test_an_undeclared_length_is_counted_while_it_arrives(unit: RunningUnit) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", unit.port)
    writer.write(
        b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    for _ in range(3):
        writer.write(b"400\r\n" + b" " * 1024 + b"\r\n")
    answer = await reader.read(300)
    assert answer.startswith(b"HTTP/1.1 413 ")
    writer.close()


@pytest.mark.rows("CAT-11")
async def test_a_body_that_stalls_is_refused_and_the_connection_closed(
    unit: RunningUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_module, "RECEIPT_SECONDS", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", unit.port)
    writer.write(b"POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{")
    async with patience():
        answer = await reader.read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["violations"] == [{"pointer": "", "rule": "body_timeout"}]
    writer.close()


@pytest.mark.rows("CAT-10")
async def test_every_case_of_the_json_corpus_is_judged_at_the_edge_as_by_the_parser(unit: RunningUnit) -> None:
    for case in CORPUS:
        name, text, rule = case.name, case.body, case.rule
        if not text or len(text) > LIMIT:
            continue
        reply = await unit.post("/echo", text)
        if rule is None:
            assert reply.status == 200 or all(found not in _JSON_RULES for _, found in violations(reply)), name
        else:
            assert [found for _, found in violations(reply)] == [rule], name


_JSON_RULES = {"json_syntax", "duplicate_member", "trailing_data", "surrogate", "depth"}


async def test_violations_point_at_places_and_never_hold_a_value(unit: RunningUnit) -> None:
    cases = {
        b"{}": [("/workspaceId", "required")],
        b'{"workspaceId":7}': [("/workspaceId", "type")],
        b'{"workspaceId":"a b"}': [("/workspaceId", "pattern")],
        b'{"workspaceId":"w","canaryName":1}': [("", "additional_member")],
        b'{"workspaceId":"w","workspaceId":"w"}': [("", "duplicate_member")],
        b"[]": [("", "type")],
    }
    for body, expected in cases.items():
        reply = await unit.post("/echo", body)
        require_error(reply, 400, "VALIDATION_ERROR", "3")
        assert violations(reply) == expected, body
        assert b"canary" not in reply.body
