"""Heads that can be read in two ways: names with `_`, and targets that name another authority than Host."""

import ast
import json
from pathlib import Path

import pytest

from aop.net.asgi import Receive, Scope, Send
from aop.net.headers import imitates_ours, is_ours
from aop.net.own_server import own_server
from tests.net.http_wire import echo, replying, serving

START = b"GET / HTTP/1.1\r\nhost: a\r\n"


async def test_a_header_name_with_an_underscore_is_dropped() -> None:
    async with serving(echo) as server:
        status, _, body = await (await server.connect(START + b"X_Request_Id: 1\r\nx-a: 2\r\n\r\n")).answer()
        assert (status, json.loads(body)["headers"]) == (200, [["host", "a"], ["x-a", "2"]])


@pytest.mark.parametrize(
    ("head", "ambiguity"),
    [
        (b"GET / HTTP/1.1\r\nhost: a\r\ncontent_length: 5\r\n\r\n", "header_name"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nTransfer_Encoding: chunked\r\n\r\n", "header_name"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nX_Platform-Trace_Id: 1\r\n\r\n", "header_name"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nif_none-match: 1\r\n\r\n", "header_name"),
        (b"GET http://b/ HTTP/1.1\r\nhost: a\r\n\r\n", "host"),
        (b"GET http://a:81/ HTTP/1.1\r\nhost: a\r\n\r\n", "host"),
        (b"GET http://u@a/ HTTP/1.1\r\nhost: a\r\n\r\n", "host"),
        (b"GET http://a/ HTTP/1.0\r\n\r\n", "host"),
        (b"GET http://A:8080/ HTTP/1.1\r\nhost: a:8080\r\n\r\n", None),
    ],
)
async def test_the_application_is_told_what_could_be_read_in_two_ways(head: bytes, ambiguity: str | None) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert not any(b"_" in name for name, _ in scope["headers"])
        await replying(200, [], json.dumps(own_server(scope).ambiguity).encode())(scope, receive, send)

    async with serving(app) as server:
        client = await server.connect(head)
        status, _, body = await client.answer()
        assert (status, json.loads(body)) == (200, ambiguity)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"http://a/x/y?z=1", "/x/y", "z=1"),
        (b"HTTP://A", "/", ""),
        (b"https://a?z=http://b/", "/", "z=http://b/"),
        (b"http://a//b", "//b", ""),
    ],
)
async def test_the_absolute_form_is_served_like_the_origin_form(target: bytes, path: str, query: str) -> None:
    async with serving(echo) as server:
        _, _, body = await (await server.connect(b"GET " + target + b" HTTP/1.1\r\nhost: a\r\n\r\n")).answer()
        seen = json.loads(body)
        assert (seen["raw_path"], seen["query"]) == (path, query)


def test_every_request_header_that_the_platform_reads_is_in_the_list() -> None:
    """Looks at the calls that read one by its name, and at the constants named like one."""
    read: set[bytes] = set()
    for file in (Path(__file__).parents[2] / "src/aop").rglob("*.py"):
        text = file.read_text()
        if file.parts[-2] in {"agent", "http"} or not ("single_header" in text or "header_values" in text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                first = node.args[0]
                if node.func.attr in {"single_header", "header_values"} and isinstance(first, ast.Constant):
                    assert isinstance(first.value, bytes)
                    read.add(first.value)
    assert {b"authorization", b"content-type", b"accept", b"if-none-match"} <= read
    assert [name for name in read if not is_ours(name)] == []
    assert all(imitates_ours(name.replace(b"-", b"_")) for name in read)
