"""Long bodies: read outside the event loop, with the same answers, and never for longer than a body may take."""

import json
import os
import signal

import pytest

from aop.cards.checks import IN_LOOP_BYTES
from aop.serving.edge import body as body_module
from tests.cards.test_checks import children_of
from tests.serving.conftest import Workbench
from tests.serving.test_bodies import violations
from tests.support.errors import require_error
from tests.support.units import RunningUnit

BLANKS = b" " * IN_LOOP_BYTES


def long(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass") + BLANKS


@pytest.mark.rows("CAT-11", "SAFE-02")
async def test_a_long_body_is_read_outside_the_loop_and_taken_byte_for_byte(unit: RunningUnit) -> None:
    body = b'{"workspaceId":' + BLANKS + b'"w1"}'
    reply = await unit.post("/echo-long", body)
    assert (reply.status, reply.body) == (200, body)
    assert len(children_of(os.getpid())) == 1


async def test_a_short_body_starts_no_process(unit: RunningUnit) -> None:
    assert (await unit.post("/echo-long", b'{"workspaceId":"w1"}')).status == 200
    assert not children_of(os.getpid())


@pytest.mark.rows("CAT-10")
@pytest.mark.parametrize(
    "text",
    [
        '{"workspaceId":"w1","workspaceId":"w2"}',
        '{"workspaceId":"w1"} {}',
        '{"workspaceId":"\\ud800"}',
        '{"workspaceId":' + "[" * 80 + "]" * 80 + "}",
        '{"workspaceId":01}',
        '{"workspaceId":7}',
        '{"workspaceId":"w1","x":{"y":[]}}',
        "[]",
    ],
    ids=["repeated", "trailing", "surrogate", "deep", "syntax", "type", "unknown member", "array"],
)
async def test_a_long_body_is_refused_with_the_rule_and_place_of_a_short_one(unit: RunningUnit, text: str) -> None:
    short, reply = await unit.post("/echo-long", text.encode()), await unit.post("/echo-long", long(text))
    require_error(reply, 400, "VALIDATION_ERROR", "3")
    assert violations(reply) == violations(short)


@pytest.mark.rows("SAFE-01")
async def test_a_long_body_that_takes_too_much_memory_is_too_large(unit: RunningUnit) -> None:
    body = json.dumps({"workspaceId": [{}] * 200_000}, separators=(",", ":")).encode()
    reply = await unit.post("/echo-long", body)
    require_error(reply, 413, "PAYLOAD_TOO_LARGE", "3", "schema_work")


@pytest.mark.rows("SAFE-02")
async def test_a_long_body_does_not_wait_for_ever_for_a_process_that_stands_still(
    unit: RunningUnit, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"workspaceId":"w1"}' + BLANKS
    assert (await unit.post("/echo-long", body)).status == 200
    (process,) = children_of(os.getpid())
    os.kill(process, signal.SIGSTOP)
    monkeypatch.setattr(body_module, "READING_SECONDS", 0.2)
    require_error(await unit.post("/echo-long", body), 503, "OVERLOADED", "3")
    monkeypatch.setattr(body_module, "READING_SECONDS", 30.0)
    assert (await unit.post("/echo-long", body)).status == 200
