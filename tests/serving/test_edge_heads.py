"""A head that can be read in two ways is refused with body and trace; what only looks odd is served."""

import asyncio
import json

import pytest

from aop.contracts.documents import document
from tests.support.units import RunningUnit


async def answer_to(unit: RunningUnit, head: str) -> tuple[int, dict[str, str], bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", unit.port)
    try:
        writer.write(head.replace("\n", "\r\n").encode())
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        headers = dict(line.split(": ", 1) for line in lines)
        return int(first.split()[1]), headers, await reader.readexactly(int(headers["content-length"]))
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("head", "rule"),
    [
        ("GET /livez HTTP/1.1\nHost: a\nAuthorization_: x\nX_Platform_Trace_Id: 1\n\n", "header_name"),
        ("GET /livez HTTP/1.1\nHost: a\nContent_Length: 1\n\n", "header_name"),
        ("GET http://b/livez HTTP/1.1\nHost: a\n\n", "host"),
    ],
)
async def test_what_can_be_read_in_two_ways_is_refused_with_body_and_trace(
    unit: RunningUnit, head: str, rule: str
) -> None:
    status, headers, body = await answer_to(unit, head)
    error = json.loads(body)
    assert (status, error["code"], error["violations"]) == (400, "VALIDATION_ERROR", [{"pointer": "", "rule": rule}])
    assert document("platform-error/2").violations(error) == ()
    assert headers["x-platform-trace-id"] == error["traceId"]
    assert headers["connection"] == "close"


@pytest.mark.parametrize(
    "head",
    ["GET /livez HTTP/1.1\nHost: a\nX_Request_Id: 1\n\n", "GET http://a:8080/livez HTTP/1.1\nHost: A:8080\n\n"],
)
async def test_other_underscores_and_the_absolute_form_change_nothing(unit: RunningUnit, head: str) -> None:
    assert (await answer_to(unit, head))[0] == 200
