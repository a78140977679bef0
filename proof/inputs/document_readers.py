"""Readers of JSON documents as the fuzzer drives them, each with what it is compared with: answers and Cards."""

import json
import random
from typing import Any

import msgspec
import rfc8785

from aop.a2a.answers import STREAM_KINDS, AgentFault, Result, read_result
from aop.a2a.judge import artifacts_of, last_message_of, value_of, value_of_message
from aop.a2a.repetition import Repetition
from aop.a2a.v0_3 import ArtifactUpdate, Message, Part, PartKind, Task
from aop.base import json as strict_json
from aop.cards.reading import ReadCard, read_card
from aop.contracts.documents import document
from aop.contracts.errors import InvalidRequest
from proof.inputs.mutation import JSON_TOKENS, JsonMutator, Reader, require
from tests.base.json_standard import NotStrict, reading
from tests.support.cards import a_card, a_skill
from tests.support.vectors import cases

REQUEST_ID = "1"
_EMPTY = Part(kind=PartKind.DATA, data=msgspec.Raw(b"null"))


def _answers() -> list[Any]:
    sent = [exchange["answer"].get("body") for case in cases("a2a-send") for exchange in case["exchanges"]]
    streamed = [result for case in cases("a2a-stream") for result in case["results"]]
    wrapped = [{"jsonrpc": "2.0", "id": REQUEST_ID, "result": result} for result in streamed]
    return [answer for answer in (*sent, *wrapped) if answer]


def _repeating() -> bytes:
    artifact = {"artifactId": "a", "parts": [{"kind": "data", "data": {"n": [1, "x"]}}]}
    update = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "artifact": artifact, "append": True}
    return json.dumps({"jsonrpc": "2.0", "id": REQUEST_ID, "result": update}).encode()


def _use(result: Result) -> None:
    """Takes every value out of it that may become part of a result."""
    if isinstance(result, Message):
        value_of_message(result)
    elif isinstance(result, ArtifactUpdate):
        value_of(result.artifact.parts)
    else:
        message = last_message_of(result.status, result.history if isinstance(result, Task) else msgspec.UNSET)
        if message is not None:
            value_of_message(message)
        for artifact in artifacts_of(result) if isinstance(result, Task) else ():
            value_of(artifact.parts or (_EMPTY,))


class Answers(Reader):
    """JSON-RPC answers against the standard library and the profile's own schema; the short cut against the long."""

    name, corpus, tokens = "JSON-RPC reader", (_repeating(),), JSON_TOKENS

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self._answers = JsonMutator(chance, _answers())
        self._repetition = Repetition(REQUEST_ID)
        self._repetition.learn(self.corpus[0], read_result(self.corpus[0], REQUEST_ID, STREAM_KINDS))

    def invent(self) -> bytes:
        return self._near.near() if self._chance.random() < 0.3 else self._answers.near()

    def attempt(self, sample: bytes) -> bool:
        self._require_same_together(sample)
        try:
            result = read_result(sample, REQUEST_ID, STREAM_KINDS)
            _use(result)
        except AgentFault as fault:
            require(not self._is_sound(sample), f"{fault.code} for a sound answer")
            require(self._repetition.value(sample) is None, "taken as a repetition of what is refused")
            return False
        require(self._is_sound(sample), "an answer that the profile refuses")
        self._require_same(sample, result)
        return True

    def _require_same_together(self, sample: bytes) -> None:
        """Events that came together are read as one by one."""
        events, read = [self.corpus[0], sample, self.corpus[0]], list[object]()
        for run in self._repetition.runs(events):
            read += [run] if isinstance(run, bytes) else zip(*run, strict=True)
        alone = [self._repetition.value(event) or event for event in events]
        require(read == alone, "events that came together are read in another way than one by one")

    def _require_same(self, sample: bytes, result: Result) -> None:
        """What is read as a repetition of the event before is what the full reading gives."""
        repeated = self._repetition.value(sample)
        if repeated is not None:
            value = value_of(result.artifact.parts) if isinstance(result, ArtifactUpdate) else b""
            require(repeated == (value, strict_json.parse(value)), "a repetition of another value")

    def _is_sound(self, body: bytes) -> bool:
        try:
            reading(body, strict_json.AGENT_DEPTH)
            value = strict_json.parse(body, strict_json.AGENT_DEPTH)
        except NotStrict:
            return False
        if not document("a2a-profile/0.2#response").is_valid(value):
            return False
        assert isinstance(value, dict)
        result: Any = value.get("result")
        if value["id"] != REQUEST_ID or not document("a2a-profile/0.2#streamResult").is_valid(result):
            return False
        # The last Message is judged where it becomes the result, which it does in all that is tried here.
        said = result.get("status", {}).get("message")
        if said is None and result["kind"] == "task":
            try:
                said = _last_of_agent(result.get("history"))
            except TypeError:
                return False
        return said is None or document("a2a-profile/0.2#message").is_valid(said)


def _last_of_agent(history: Any) -> Any:
    """TypeError when it is no list, or something behind that Message is no object with a role."""
    if not isinstance(history, list | None):
        raise TypeError
    for said in reversed(history or []):
        if not isinstance(said, dict) or not isinstance(role := said.get("role", ""), str):
            raise TypeError
        if role == "agent":
            return said
    return None


_SCHEMAS: tuple[Any, ...] = (
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]},
    {"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
    {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"enum": [1, 2.5, "x"]}], "patternProperties": {"^x": True}},
)


class Cards(Reader):
    """Agent Cards through schema and rules; the canonical bytes of an accepted one against an independent RFC 8785."""

    name = "Card validator"

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        skills = [a_skill(f"skill-{n}", inputSchema=schema, outputSchema=schema) for n, schema in enumerate(_SCHEMAS)]
        self._cards = JsonMutator(
            chance, [a_card(), *(a_card(skills=[skill]) for skill in skills), a_card(skills=skills)]
        )

    def invent(self) -> bytes:
        return self._cards.near()

    def attempt(self, sample: bytes) -> bool:
        try:
            read = _registered(sample)
        except (strict_json.JsonRefused, InvalidRequest):
            return False
        value = json.loads(sample)
        reading(sample, strict_json.REQUEST_DEPTH)
        require(read.document == rfc8785.dumps(value), "other canonical bytes")
        require(_registered(read.document).digest == read.digest, "another digest for the canonical bytes")
        return True


def _registered(raw: bytes) -> ReadCard:
    """As the Gateway reads the body of a registration."""
    value = strict_json.parse(raw)
    violations = document("agent-card/0.2").violations(value)
    if violations:
        raise InvalidRequest(*violations)
    return read_card(raw, value)
