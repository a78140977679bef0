"""Reads answers of the door in either version of A2A, and names the methods of both."""

import json
from typing import Any

import pytest

from tests.door.a2a.played import PIECES

SAID = "".join(PIECES)
SEND = {"0.3": "message/send", "1.0": "SendMessage"}
STREAM = {"0.3": "message/stream", "1.0": "SendStreamingMessage"}
GET = {"0.3": "tasks/get", "1.0": "GetTask"}
CANCEL = {"0.3": "tasks/cancel", "1.0": "CancelTask"}
both_versions = pytest.mark.parametrize("version", ["0.3", "1.0"])


def task_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The Task of an answer, or the part of it that an event tells."""
    result = answer["result"]
    found: dict[str, Any] = result.get("task") or result.get("statusUpdate") or result.get("artifactUpdate") or result
    return found


def state_of(answer: dict[str, Any]) -> str:
    return str(task_of(answer)["status"]["state"]).removeprefix("TASK_STATE_").lower()


def values_of(artifacts: list[dict[str, Any]]) -> list[Any]:
    return [part.get("text", part.get("data")) for artifact in artifacts for part in artifact["parts"]]


def events_of(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(frame.removeprefix(b"data: ")) for frame in body.split(b"\n\n") if frame.startswith(b"data: ")]
