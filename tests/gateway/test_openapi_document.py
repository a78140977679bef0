"""`GET /openapi.json`: the document of the Gateway, for anyone."""

import hashlib

import pytest

from aop.base import assets
from tests.support.errors import require_error
from tests.support.units import RunningUnit

DOCUMENT = (assets.folder("contracts") / "openapi" / "bundled" / "gateway.v1.json").read_bytes()
ETAG = f'"{hashlib.sha256(DOCUMENT).hexdigest()}"'
ORIGIN = (b"origin", b"https://console.example")


@pytest.mark.rows("DOOR-07")
async def test_anyone_reads_the_document_and_keeps_it(gateway: RunningUnit) -> None:
    for token in (None, "of nobody"):
        reply = await gateway.ask("GET", "/openapi.json", token=token)
        assert (reply.status, reply.body) == (200, DOCUMENT)
        assert reply.header("content-type") == "application/json"
        assert (reply.header("etag"), reply.header("cache-control")) == (ETAG, "no-cache")
    head = await gateway.ask("HEAD", "/openapi.json")
    assert (head.status, head.body, head.header("content-length")) == (200, b"", str(len(DOCUMENT)))
    for held in (ETAG, f"W/{ETAG}", f'"other", {ETAG}', "*"):
        kept = await gateway.ask("GET", "/openapi.json", headers=[(b"if-none-match", held.encode())])
        assert (kept.status, kept.body, kept.header("etag")) == (304, b"", ETAG)
    changed = await gateway.ask("GET", "/openapi.json", headers=[(b"if-none-match", b'"other"')])
    assert (changed.status, changed.body) == (200, DOCUMENT)


@pytest.mark.rows("DOOR-07")
async def test_it_takes_no_parameter_and_a_configured_origin_may_read_it(gateway: RunningUnit) -> None:
    require_error(await gateway.get("/openapi.json?pretty=true"), 400, "VALIDATION_ERROR", "2")
    assert (await gateway.ask("POST", "/openapi.json")).status == 405
    granted = await gateway.ask("GET", "/openapi.json", headers=[ORIGIN])
    assert granted.header("access-control-allow-origin") == "https://console.example"
    preflight = (b"access-control-request-method", b"GET")
    assert (await gateway.ask("OPTIONS", "/openapi.json", headers=[ORIGIN, preflight])).status == 204
    other = await gateway.ask("GET", "/openapi.json", headers=[(b"origin", b"https://other.example")])
    assert (other.status, other.header("access-control-allow-origin")) == (200, None)
