"""What a JSON Invocation gives its caller."""

import pytest

from tests.support.loop import Platform

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.rows("INV-01")
async def test_an_invocation_gives_the_business_value_and_three_ids(platform: Platform) -> None:
    reply = await platform.invoke(b'{"a": 1}')
    assert reply.status == 200, reply.body
    print(await platform.detail(reply.json["invocationId"]))
