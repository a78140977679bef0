"""Both units on another ASGI server: Invocations, streams and callers who leave, by the tests that hold on ours."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.loop.test_leaving import (  # noqa: F401  run again, on another server
    test_leaving_while_a_task_is_followed_cancels_it_once,
    test_leaving_while_the_first_message_blocks_closes_the_connection_to_the_agent,
)
from tests.loop.test_results import (  # noqa: F401  likewise
    test_a_large_answer_within_the_limit_arrives_whole,
    test_an_invocation_gives_the_business_value_and_three_ids,
    test_input_and_result_keep_their_bytes,
)
from tests.loop.test_stream_cancel import (  # noqa: F401  likewise
    test_leaving_after_the_first_chunk_cancels_the_task_exactly_once,
    test_leaving_in_json_mode_is_noticed_just_as_soon,
    test_leaving_is_noticed_at_every_stage,
)
from tests.loop.test_streams import test_a_stream_goes_through_as_the_vectors_say  # noqa: F401  likewise
from tests.support.loop import Changes, Platform, running_platform
from tests.support.postgres import PostgresForTests

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(postgres: PostgresForTests) -> AsyncIterator[Platform]:
    urls = await postgres.new_platform()
    async with running_platform(urls, Changes(on_uvicorn=True)) as running:
        yield running
    await postgres.drop(urls.migration.rpartition("/")[2])
