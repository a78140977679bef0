"""What an Agent behind the front says is the result, of whichever version and wherever it puts it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from aop.net.sse import EventParser
from tests.front import proto
from tests.front.conftest import Fronted, FrontedRouter
from tests.support import streaming_agent as old
from tests.support.agent import result_of, saying
from tests.support.peers import Behaviour, Received, hold

TASK, CONTEXT = "t-1", "c-1"


class Form:
    """How one version writes what the Agent says: a text, texts of one Message, artifacts and states."""

    def __init__(self, speaks: str) -> None:
        self.speaks = speaks
        self._is_new = speaks == "a2a-1.0"

    def part(self, text: str) -> dict[str, Any]:
        return {"text": text} if self._is_new else {"kind": "text", "text": text}

    def message(self, *texts: str, role: str = "agent") -> dict[str, Any]:
        parts = [self.part(text) for text in texts]
        if self._is_new:
            return {"messageId": "m", "role": f"ROLE_{role.upper()}", "parts": parts}
        return {"kind": "message", "messageId": "m", "role": role, "parts": parts}

    def status(self, state: str, *said: str) -> dict[str, Any]:
        shown = f"TASK_STATE_{state.upper()}" if self._is_new else state
        return {"state": shown, **({"message": self.message(*said)} if said else {})}

    def task(self, state: str, *said: str, **members: Any) -> dict[str, Any]:
        task = {"id": TASK, "contextId": CONTEXT, "status": self.status(state, *said), **members}
        return {"task": task} if self._is_new else {"kind": "task", **task}

    def update(self, state: str, *said: str) -> dict[str, Any]:
        return self._event("status", status=self.status(state, *said))

    def artifact(self, *texts: str, **members: Any) -> dict[str, Any]:
        artifact = {"artifactId": "a", "parts": [self.part(text) for text in texts]}
        return self._event("artifact", artifact=artifact, **members)

    def says(self, *texts: str) -> dict[str, Any]:
        message = {**self.message(*texts), "taskId": TASK, "contextId": CONTEXT}
        return {"message": message} if self._is_new else message

    def _event(self, name: str, **members: Any) -> dict[str, Any]:
        event = {"taskId": TASK, "contextId": CONTEXT, **members}
        return {f"{name}Update": event} if self._is_new else {"kind": f"{name}-update", **event}

    def streamed(self, *results: dict[str, Any]) -> Behaviour:
        return proto.streamed(*results) if self._is_new else old.streamed(*results)

    def answered(self, result: dict[str, Any]) -> Behaviour:
        return proto.answered(result) if self._is_new else result_of(result)


@pytest.fixture(params=["a2a-0.3", "a2a-1.0"])
def form(request: pytest.FixtureRequest) -> Form:
    return Form(request.param)


def streams(form: Form) -> Iterator[tuple[str, Sequence[dict[str, Any]], Sequence[object], object]]:
    """A name, the events, the chunks of a stream, and the result in JSON mode."""
    question, hello = form.message("hello", role="user"), form.message("It is ", "here")
    begun, done = form.task("submitted", history=[question]), form.update("completed")
    working = [form.update("working", "It "), form.update("working", "is ", "here")]
    yield "texts while it works", [begun, *working, done], ["It ", "is ", "here"], "It is here"
    yield "last message", [begun, *working, form.update("completed", "done")], ["done"], "done"
    yield (
        "history",
        [begun, *working, form.task("completed", history=[hello, question])],
        [["It is ", "here"]],
        ("It is here"),
    )
    yield "messages", [begun, form.says("It "), form.says("is"), done], ["It ", "is"], "It is"
    yield "an artifact beside", [begun, *working, form.artifact("x"), done], ["x"], "x"
    words = [form.artifact("It "), *(form.artifact(word, append=True) for word in ("is ", "here", "é\n", "."))]
    whole = form.artifact("It is ", "hereé\n.", append=False, lastChunk=True)
    chunks, text = ["It ", "is ", "here", "é\n", "."], "It is hereé\n."
    yield "an appended artifact", [begun, *words, done], chunks, text
    yield "and once more as a whole", [begun, *words, whole, done], chunks, text
    first = form.artifact("It ", append=True)
    yield "begun by an append", [begun, first, *words[1:], done], chunks, text
    yield "begun by an append, and a whole", [begun, first, *words[1:], whole, done], chunks, text
    yield "twice alike", [begun, words[0], words[0], words[0], done], ["It "], "It "
    for name, events in snapshots(form, [question, hello]):
        found = "It is here" if name.startswith("artifact") else ["It is ", "here"]
        yield name, [*events, done], [found], "It is here"
    parts = [form.part("It ")]
    running = form.task("working", artifacts=[{"artifactId": "a", "parts": parts}])
    yield "appended to an artifact of a snapshot", [running, *words[1:], done], chunks, text
    other = form.task("working", artifacts=[{"artifactId": "b", "parts": [form.part("x")]}])
    appended = [running, other, *words[1:], done]
    yield "appended to an artifact of an earlier snapshot", appended, [*chunks[1:], "x"], text + "x"
    yield (
        "history of a snapshot, and texts",
        [form.task("working", history=[question, hello]), *working, done],
        ["It ", "is ", "here"],
        "It is here",
    )
    yield "a snapshot, and once more as a whole", [running, form.artifact("It is"), done], ["It is"], "It is"
    yield "nothing", [begun, form.update("working"), done], [], None


def snapshots(form: Form, history: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Sequence[dict[str, Any]]]]:
    """What only a snapshot of the running Task says."""
    artifact = {"artifactId": "a", "parts": [form.part("It is here")]}
    yield "artifact of a snapshot", [form.task("working", artifacts=[artifact])]
    yield "artifact of the second snapshot", [form.task("submitted"), form.task("working", artifacts=[artifact])]
    yield "history of a snapshot", [form.task("working", history=history)]


@pytest.mark.rows("SOUND-10")
async def test_the_text_of_a_streaming_agent_is_the_result_wherever_it_stands(
    fronted: Fronted, form: Form, capfd: pytest.CaptureFixture[str]
) -> None:
    async with fronted(hold, form.speaks) as router:
        expected, found = {}, {}
        for name, events, chunks, whole in streams(form):
            router.agent.behaviour = form.streamed(*events)
            expected[name], found[name] = (chunks, "", whole), await _both(router)
    assert found == expected
    assert capfd.readouterr().err.count("agent.begun_by_append") == 1


@pytest.mark.rows("SOUND-10")
async def test_an_artifact_that_comes_again_with_another_text_is_replaced(fronted: Fronted, form: Form) -> None:
    again = [
        form.artifact("one"),
        form.artifact(" two", append=True),
        form.artifact("one three"),
        form.task("completed"),
    ]
    async with fronted(form.streamed(*again), form.speaks) as router:
        assert await _both(router) == (["one", " two"], "artifact_replaced", None)
        assert (await router.reply()).json["reason"] == "artifact_replaced"


@pytest.mark.rows("SOUND-10")
async def test_the_text_of_an_agent_that_does_not_stream_is_the_result_wherever_it_stands(
    fronted: Fronted, form: Form
) -> None:
    history = [form.message("hello", role="user"), form.message("It is ", "here")]
    found = []
    async with fronted(hold, form.speaks, limits={"streaming": False}) as router:
        for answer in (form.task("completed", history=history), form.task("completed", "done", history=history)):
            router.agent.behaviour = form.answered(answer)
            found.append((await router.reply()).json["result"])
        router.agent.behaviour = form.answered(form.task("working"))
        followed = form.task("completed", history=history[-1:])
        router.agent.on_get = form.answered(followed.get("task", followed))
        found.append((await router.reply()).json["result"])
    assert found == ["It is here", "done", "It is here"]
    assert router.agent.received[-1].json["params"] == {"id": TASK, "historyLength": 1}


@pytest.mark.rows("SOUND-10")
async def test_a_stream_that_ends_while_the_agent_works_loses_no_text(fronted: Fronted, form: Form) -> None:
    completed = form.task("completed")
    async with fronted(
        form.streamed(form.task("working"), form.update("working", "It is here")), form.speaks
    ) as router:
        router.agent.on_get = form.answered(completed.get("task", completed))
        assert (await router.reply()).json["result"] == "It is here"


@pytest.mark.rows("SOUND-10")
async def test_more_text_while_it_works_than_the_answer_may_have_counts_only_where_it_is_the_result(
    fronted: Fronted, form: Form
) -> None:
    working = [form.update("working", "x" * 900) for _ in range(20)]
    async with fronted(hold, form.speaks, limits={"maxOutputBytes": 10_000}) as router:
        router.agent.behaviour = form.streamed(*working, form.artifact("short"), form.update("completed"))
        assert (await router.reply()).json["result"] == "short"
        router.agent.behaviour = form.streamed(*working, form.update("completed"))
        assert (await router.reply()).json["code"] == "AGENT_RESPONSE_TOO_LARGE"


OLD_PARTS = [{"kind": "text", "text": "x"}]
MESSAGE = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}
_TWO = [{"text": "x", "data": 1}]
NOT_1_0: dict[str, Any] = {
    "a Message of A2A 0.3": {"kind": "message", "messageId": "m", "role": "agent", "parts": OLD_PARTS},
    "a Task of A2A 0.3": {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}},
    "both at once": {"kind": "message", "messageId": "m", "role": "agent", "parts": OLD_PARTS, "task": 5},
    "a part of A2A 0.3": {"message": {**MESSAGE, "parts": OLD_PARTS}},
    "a role of A2A 0.3": {"message": {**MESSAGE, "role": "agent"}},
    "text and data": {"message": {**MESSAGE, "parts": [{"text": "x", "data": {"n": 1}}]}},
    "text and url": {"message": {**MESSAGE, "parts": [{"text": "x", "url": "https://x.example"}]}},
    "a part of no kind": {"message": {**MESSAGE, "parts": [{"filename": "x"}]}},
    "text and data of a Task": proto.task("COMPLETED", artifacts=[{"artifactId": "a", "parts": _TWO}]),
    "text and data of a status": {
        "task": {"id": "t", "status": {"state": "TASK_STATE_COMPLETED", "message": {**MESSAGE, "parts": _TWO}}}
    },
}


@pytest.mark.rows("SOUND-10")
async def test_an_answer_that_is_not_of_a2a_1_0_is_refused_and_loses_no_part(fronted: Fronted) -> None:
    async with fronted(hold, "a2a-1.0") as router:
        found = {}
        for name, answer in NOT_1_0.items():
            router.agent.behaviour = proto.streamed(answer)
            found[name] = (await _both(router))[:2], (await router.reply()).json.get("reason")
        router.agent.behaviour = proto.streamed({"message": {**MESSAGE, "parts": [{"text": "x", "data": None}]}})
        assert (await router.reply()).json["result"] == "x"
        router.agent.behaviour = saying(b'{"jsonrpc":"2.0","id":"%id%","result":{"a":1,"a":2}}')
        assert (await router.reply()).json["reason"] == "not_json"
    assert found == dict.fromkeys(NOT_1_0, (([], "message_shape"), "message_shape"))


def with_a_member_twice(*results: dict[str, Any]) -> Behaviour:
    """Where a member is named in capitals, the one in small letters stands before it."""

    async def behave(request: Received) -> None:
        await request.send(old.HEAD)
        for result in results:
            await old.send_body(request, old.event_of(request, result).replace(b'"PARTS"', b'"parts"'))
        await request.send(b"0\r\n\r\n")

    return behave


@pytest.mark.rows("SOUND-10")
@pytest.mark.parametrize("append", [False, True])
async def test_a_member_that_is_there_twice_is_refused_and_not_chosen_from(
    fronted: Fronted, form: Form, append: bool
) -> None:
    begun, done, piece = form.task("submitted"), form.update("completed"), form.artifact("first", append=append)
    named = next(event["artifact"] for event in (piece, *piece.values()) if "artifact" in event)
    named["PARTS"] = [form.part("second")]
    async with fronted(with_a_member_twice(begun, piece, done), form.speaks) as router:
        assert await _both(router) == ([], "not_json", None)
        assert (await router.reply()).json["reason"] == "not_json"


async def _both(router: FrontedRouter) -> tuple[list[object], str, object]:
    """The chunks of a stream, the reason for which it failed, and the result in JSON mode."""
    frames = [json.loads(frame) for frame in EventParser(1_048_576).feed((await router.reply(stream=True)).body)]
    chunks = [frame["chunk"] for frame in frames if "chunk" in frame]
    return chunks, frames[-1].get("error", {}).get("reason", ""), (await router.reply()).json.get("result")
