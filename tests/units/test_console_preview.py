"""The preview of a share link: from the public share alone, cleaned and escaped; without a Gateway the plain page."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aop.console.preview import Preview, Previews
from aop.console.settings import read_console_settings
from aop.console.site import ConsoleNotBuilt, read_site
from aop.local.ports import any_free_port
from tests.support.waiting import promptly

pytestmark = pytest.mark.second_ring

_EXAMPLES = Path(__file__).resolve().parents[2] / "contracts" / "public-agent-share"
_PLACES = "".join(
    f"%VITE_PLATFORM_{name}%"
    for name in (
        *("API_BASE_URL", "PUBLIC_AGENT_ORIGIN", "DOOR_ORIGIN"),
        *("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_SCOPE"),
    )
)
_HEAD = '<meta name="description" content="All Agents." />\n<title>Agent Operating Platform</title>'


def _share(**members: str) -> dict[str, Any]:
    """A valid answer of the Gateway, whose newest Release says what it is told."""
    (path,) = _EXAMPLES.glob("*/examples/valid/installable.json")
    share: dict[str, Any] = json.loads(path.read_text("utf-8"))
    share["releases"][0] |= members
    return share


@asynccontextmanager
async def _gateway(answer: bytes | None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Answers every request like this; with nothing for as long as one waits."""
    asked: list[bytes] = []
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        if answer is None:
            await over.wait()
        else:
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        over.set()
        server.close()
        await server.wait_closed()


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}x-platform-trace-id: {'1' * 32}\r\nconnection: close\r\n\r\n".encode() + body


async def _preview(answer: bytes | None, agent: str) -> tuple[Preview | None, list[bytes]]:
    async with _gateway(answer) as (origin, asked):
        previews = Previews(origin, "https://agents.example")
        try:
            return await previews.of(agent), asked
        finally:
            await previews.close()


async def test_a_preview_is_what_the_newest_release_says_asked_as_anybody_may() -> None:
    share = _share(name="A <b>Name</b>\u202e", description="Two\nlines. " + "word " * 100)
    agent = share["publicAgentId"]
    preview, asked = await _preview(_answer(json.dumps(share).encode()), agent)
    assert preview is not None
    assert preview.name == "A <b>Name</b>\ufffd"
    assert preview.description.startswith("Two lines. word")
    assert len(preview.description) <= 202
    assert preview.address == f"https://agents.example/a/{agent}"
    (request,) = asked
    assert request.startswith(f"GET /v1/public/agents/{agent}?limit=1 ".encode())
    assert b"authorization" not in request.lower()


def test_every_value_of_a_preview_is_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    tags = Preview(hostile, hostile, "https://agents.example/a/x").tags()
    assert "<script" not in tags
    assert tags.count("&quot;&gt;&lt;script&gt;") == 4
    for name in ("og:title", "og:description", "og:url", "og:type", "twitter:card"):
        assert name in tags


@pytest.mark.parametrize("fault", ["slow", "refusal", "not JSON", "another Agent", "nothing shared", "too large"])
async def test_whatever_is_wrong_with_the_gateway_there_is_no_preview_and_soon(fault: str) -> None:
    share = _share()
    agent = share["publicAgentId"]
    answers = {
        "slow": None,
        "refusal": _answer(b'{"code":"OVERLOADED"}', "503 Service Unavailable"),
        "not JSON": _answer(b"<html>"),
        "another Agent": _answer(json.dumps({**share, "publicAgentId": "agt_" + "0" * 32}).encode()),
        "nothing shared": _answer(json.dumps({**share, "releases": [], "availability": "not_installable"}).encode()),
        "too large": _answer(json.dumps(_share(description="x" * 2_000_000)).encode()),
    }
    async with promptly(5):
        preview, _ = await _preview(answers[fault], agent)
    assert preview is None


async def test_without_a_gateway_and_while_too_many_ask_there_is_no_preview() -> None:
    previews = Previews(f"http://127.0.0.1:{any_free_port()}", "https://agents.example")
    assert await previews.of("agt_" + "0" * 32) is None
    await previews.close()
    async with _gateway(None) as (origin, asked):
        previews = Previews(origin, "https://agents.example")
        found = await asyncio.gather(*(previews.of("agt_" + "0" * 32) for _ in range(20)))
        await previews.close()
    assert found == [None] * 20
    assert len(asked) <= 8


def test_the_preview_takes_the_place_of_what_every_page_says(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f"<head>{_PLACES}\n{_HEAD}</head>", "utf-8")
    site = read_site(tmp_path, read_console_settings({}))
    page = site.previewed(Preview(r"A \1 Name", "What it does.", "https://agents.example/a/x").tags())
    text = page.content.decode()
    assert r"<title>A \1 Name · Agent Operating Platform</title>" in text
    assert text.count("<title>") == text.count('name="description"') == 1
    assert "All Agents." not in text
    assert page.headers[4:] == site.files["/"].headers[4:] == site.secure
    assert page.etag != site.files["/"].etag


def test_a_page_without_a_place_for_the_preview_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f"<head>{_PLACES}</head>", "utf-8")
    with pytest.raises(ConsoleNotBuilt, match="preview"):
        read_site(tmp_path, read_console_settings({}))
