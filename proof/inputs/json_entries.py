"""The JSON corpus at every entry point: request bodies, the input inside one, an Agent's answer, an Agent's stream."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aop.base.json import AGENT_DEPTH, REQUEST_DEPTH, UNIT_DEPTH
from proof.area import Findings
from proof.authorization.rules import OWN, RULES
from proof.authorization.world import World
from tests.base.json_corpus import CORPUS, Case
from tests.base.json_standard import NotStrict, reading
from tests.support.agent import echo, saying
from tests.support.loop import Platform
from tests.support.peers import Behaviour
from tests.support.units import Reply, RunningUnit
from tools.contract_bundle import surfaces

_BLANKS = b" \t\r\n"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_ANSWER = (
    b'{"jsonrpc":"2.0","id":"%id%","result":{"kind":"message","messageId":"m","role":"agent","parts":'
    b'[{"kind":"data","data":'
)
_ANSWER_END = b"}]}}"


@dataclass
class JsonEntries:
    world: World
    found: Findings
    accepted: int = 0
    """Invocations that should be in the Ledger for it."""

    @property
    def platform(self) -> Platform:
        return self.world.platform

    async def as_body(self, cases: Sequence[Case]) -> None:
        """The text is the whole body of every operation that takes one: the broken rule is named, and no other."""
        for unit, method, path, token in self._doors():
            for case in cases:
                reply = await unit.ask(method, path, case.body or b" ", token=token)
                self.found.hits[f"JSON as a body: {'broken' if case.rule else 'good, but another document'}"] += 1
                rules = {item["rule"] for item in reply.json.get("violations", ())}
                right = rules == {case.rule} if case.rule else bool(rules) and not rules & _JSON_RULES
                self._require(reply.status == 400 and right, f"{method} {path}", case, reply)

    async def as_input(self, cases: Sequence[Case]) -> None:
        self.platform.agent.usual = (echo,)
        for case in cases:
            reply = await self.platform.invoke(case.body)
            sent = _strict(self.platform.request(case.body), REQUEST_DEPTH)
            good = isinstance(sent, dict) and isinstance(sent.get("input"), dict)
            self._count("input", good)
            self.accepted += good
            self._require(reply.status == (200 if good else 400), "input", case, reply)
            if good:
                self._require(case.body.strip(_BLANKS) in reply.body, "input comes back byte for byte", case, reply)

    async def as_answer(self, cases: Sequence[Case]) -> None:
        """As the value in a good answer, and as the whole answer."""
        for case in cases:
            whole = _ANSWER + case.body + _ANSWER_END
            reply = await self._invoked(saying(whole))
            expected = _value(whole, b"1")
            self._count("answer", expected is not None)
            self._require(reply.status == (502 if expected is None else 200), "answer", case, reply)
            if expected is not None:
                self._require(reading(reply.body, UNIT_DEPTH)["result"] == expected[0], "the same value", case, reply)
            else:
                self._require(reply.code == "A2A_PROTOCOL_ERROR", "answer", case, reply)
            alone = await self._invoked(saying(case.body))
            self._require((alone.status, alone.code) == (502, "A2A_PROTOCOL_ERROR"), "answer alone", case, alone)

    async def as_event(self, cases: Sequence[Case]) -> None:
        """As the value in the one Message of a stream; what a line end means there is the stream's own matter."""
        for case in cases:
            lines = _LINE_END.split(_ANSWER + case.body + _ANSWER_END)
            body = b"".join(b"data: %b\n" % line for line in lines) + b"\n"
            self.platform.agent.script(saying(body, 200, b"content-type: text/event-stream"))
            expected = _value(b"\n".join(lines), b"1")
            reply = await self.platform.invoke(stream=True, headers=((b"accept", b"text/event-stream"),))
            frames = [frame.removeprefix(b"data: ") for frame in reply.body.split(b"\n\n") if frame not in {b"", b":"}]
            events = [reading(frame, UNIT_DEPTH) for frame in frames]
            self._count("event", expected is not None)
            self.accepted += 1
            seen = [(event["type"], event.get("error", {}).get("code")) for event in events[1:]]
            failed = [("failed", "A2A_PROTOCOL_ERROR")]
            right = failed if expected is None else [("chunk", None), ("completed", None)]
            self._require(seen == right, "event", case, reply)
            if expected is not None and seen == right:
                self._require(events[1]["chunk"] == expected[0], "the same value in an event", case, reply)

    async def _invoked(self, behaviour: Behaviour) -> Reply:
        self.platform.agent.script(behaviour)
        self.accepted += 1
        return await self.platform.invoke()

    def _count(self, entry: str, good: bool) -> None:
        self.found.hits[f"JSON as {entry}: {'good' if good else 'broken'}"] += 1

    def _require(self, holds: bool, entry: str, case: Case, reply: Reply) -> None:
        self.found.require(holds, f"{entry}, {case.name}: {reply.status} {reply.body!r:.300}")

    def _doors(self) -> Iterator[tuple[RunningUnit, str, str, str]]:
        """Every operation that takes a JSON body: its unit, its method and path, and a token that opens it."""
        own = {name: value for (name, relation), value in self.world.named["alice"].items() if relation is OWN}
        for document, rules in RULES.items():
            for operation, rule in rules.items():
                method, path = operation.split(" ")
                if "requestBody" in surfaces()[document]["paths"][path][method.lower()]:
                    yield self.world.unit(document), method, path.format(**own), self.world.token(rule.access)


_JSON_RULES = frozenset(case.rule for case in CORPUS)


def _strict(body: bytes, depth: int) -> Any:
    try:
        return reading(body, depth)
    except NotStrict:
        return None


def _value(whole: bytes, request_id: bytes) -> tuple[Any] | None:
    """What a good answer gives; nothing when the text is no strict JSON."""
    read = _strict(whole.replace(b"%id%", request_id), AGENT_DEPTH)
    return None if read is None else (read["result"]["parts"][0]["data"],)
