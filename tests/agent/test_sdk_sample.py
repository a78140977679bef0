"""A sample Agent on a2a-sdk judges requests as strictly as AgentServer; its Tasks can be followed in every state."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.samples import RunningSample, running_sample
from tests.agent.served import message_of
from tests.support.waiting import PATIENCE_SECONDS

TEXT = [{"kind": "text", "text": "no object"}]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSample]:
    with running_sample("action-items", tmp_path_factory.mktemp("sample")) as running:
        yield running


def ask(sample: RunningSample, method: str, params: object) -> tuple[str, dict[str, Any]]:
    """The media type and the first response of the answer."""
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    signed = sample.router.request(body, capability=sample.card.skills[0].id)
    headers = {name.decode(): value.decode() for name, value in signed.headers}
    request = urllib.request.Request(sample.endpoint, signed.body, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        text = answer.read().decode()
        first = next(line for line in text.splitlines() if line)
        return answer.headers.get_content_type(), json.loads(first.removeprefix("data: "))


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("message/send", message_of([]), -32602),
        ("message/stream", message_of([]), -32602),
        ("message/send", message_of([{"type": "unknown", "text": "a part without a kind"}]), -32602),
        ("message/send", message_of([{"kind": "video", "video": 1}]), -32602),
        ("message/send", message_of(TEXT) | {"configuration": {"historyLength": -1}}, -32602),
        ("tasks/get", {"id": "none", "historyLength": -1}, -32602),
        ("tasks/none", {}, -32601),
        ("tasks/get", {"id": "none"}, -32001),
    ],
)
def test_a_request_that_breaks_the_rules_is_refused_before_the_sdk_reads_it(
    sample: RunningSample, method: str, params: object, code: int
) -> None:
    media_type, answer = ask(sample, method, params)
    assert (media_type, answer["id"], answer["error"]["code"]) == ("application/json", 7, code)


def test_a_task_keeps_the_message_that_opened_it(sample: RunningSample) -> None:
    _, opened = ask(sample, "message/send", message_of(TEXT))
    _, read = ask(sample, "tasks/get", {"id": opened["result"]["id"], "historyLength": 1})
    assert read["result"]["history"][0]["parts"] == TEXT


def test_a_task_that_waits_for_its_caller_can_be_followed_again(sample: RunningSample) -> None:
    _, opened = ask(sample, "message/send", message_of(TEXT))
    assert opened["result"]["status"]["state"] == "input-required"
    media_type, event = ask(sample, "tasks/resubscribe", {"id": opened["result"]["id"]})
    assert media_type == "text/event-stream"
    assert event["result"]["status"]["state"] == "input-required"


def test_a_task_that_is_gone_cannot_be_followed(sample: RunningSample) -> None:
    assert ask(sample, "tasks/resubscribe", {"id": "none"})[1]["error"]["code"] == -32001
