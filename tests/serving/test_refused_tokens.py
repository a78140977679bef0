"""A token that is refused: its bearer is told so, and no record of it holds the token."""

import io
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aop.contracts.errors import Envelope
from aop.serving.edge.application import Application
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request import Request
from aop.serving.edge.request_log import UnitLog
from aop.serving.edge.response import Response
from aop.serving.edge.routing import Route
from aop.serving.unit.health import Readiness
from aop.serving.unit.unit import Unit
from tests.support.errors import require_error
from tests.support.settings import principals
from tests.support.units import RunningUnit, running

VALID, MISTYPED = "the-token-of-a-known-unit-0000", "the-token-of-a-known-unit-0001"


@pytest.fixture
def log() -> io.BytesIO:
    return io.BytesIO()


@pytest_asyncio.fixture
async def unit(log: io.BytesIO) -> AsyncIterator[RunningUnit]:
    known = ServicePrincipals.parse(principals("router", VALID))

    async def nothing(request: Request) -> Response:
        return Response(204)

    async def built() -> Unit:
        record, metrics = UnitLog("bench", "debug", log), UnitMetrics("bench")
        routes = [Route("GET", "/internal", nothing, Envelope.INVOCATION, known.authenticate)]
        return Unit(Application(routes, record, metrics), Readiness({}, record, metrics), (), record, metrics, closed)

    async def closed() -> None:
        pass

    async with running(built) as started:
        yield started


def test_an_entry_that_names_two_tokens_is_refused() -> None:
    """The operator would read one, and the unit would accept the other."""
    twice = principals("router", VALID).replace('{"id"', f'{{"tokenSha256":"{"0" * 64}","id"', 1)
    with pytest.raises(ValueError, match="must be a JSON array"):
        ServicePrincipals.parse(twice)


async def test_a_refused_token_is_in_no_record(unit: RunningUnit, log: io.BytesIO) -> None:
    assert (await unit.get("/internal", token=VALID)).status == 204
    require_error(await unit.get("/internal", token=MISTYPED), 403, "FORBIDDEN", "4")
    written = log.getvalue().decode()
    assert '"caller":"router"' in written
    assert '"code":"FORBIDDEN"' in written
    assert [token for token in (VALID, MISTYPED) if token in written] == []
