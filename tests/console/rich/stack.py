"""The real stack filled with the data of a large company in some seconds: published, installed, called, recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.console.recorded import record
from tests.console.rich.invocations import Recording, Traces
from tests.console.rich.published import Published, publish_all, stop_some
from tests.console.rich.workspaces import LARGE, make_workspaces
from tests.console.stack import Json, Stack, running_stack

NOTES = {"notes": "Budget\nAlice will send the budget by Friday.\nACTION: Bob to book a room for the workshop."}
TEXT = {"text": "Ships wait in the harbour. Ships leave. Tea is hot. The captain reads the newspaper."}


@dataclass(frozen=True)
class Rich:
    stack: Stack
    published: Published
    traces: Traces
    real: Json
    """The answer of a call that was really made, and made two others."""

    def share_path(self, agent_id: str) -> str:
        overview = self.stack.caller.get(f"/v1/agents/{agent_id}").json
        return str(overview["publicUrl"]).removeprefix(self.stack.console)


@contextmanager
def running_rich_stack(folder: Path) -> Iterator[Rich]:
    with running_stack(folder) as stack:
        yield filled(stack)


def filled(stack: Stack) -> Rich:
    published = publish_all(stack)
    make_workspaces(stack, published)
    stop_some(stack, published)
    recording = Recording(published)
    traces = recording.all()
    record(stack, recording.calls)
    return Rich(stack, published, traces, _called(stack))


def _called(stack: Stack) -> Json:
    """Calls that are cheap are real ones: they succeed, call others, stream, and fail at an Agent that is no Agent."""
    for capability in ("summarize", "rank-sentences"):
        stack.invoke(LARGE, "aop:summarizer", capability, TEXT)
    body = {"agentId": "aop:summarizer", "capability": "read-aloud", "input": TEXT, "stream": True}
    assert stack.caller.post(f"/v1/workspaces/{LARGE}/invocations", body).events[-1]["type"] == "completed"
    failed = stack.invoke(LARGE, "acme:sentiment", "judge-sentiment", "Good morning")
    assert failed["code"] == "AGENT_UNAVAILABLE", failed
    return stack.invoke(LARGE, "aop:meeting-brief", "brief-meeting", NOTES)
