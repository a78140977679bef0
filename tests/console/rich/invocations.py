"""5,000 Invocations of one Workspace, 12 of 100 failing: Traces of 993, of 15 with recursion, of 30 Agents."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.console.lineage_states import child
from tests.console.recorded import Call, ago
from tests.console.rich.published import Published
from tests.console.rich.workspaces import CALLERS, INSTALLED, LARGE, installed_version

COUNT, LONG_TRACE, SHARE_OF_FAILURES = 5_000, 993, 0.12
_UNAVAILABLE, _EXECUTION, _PROTOCOL = "AGENT_UNAVAILABLE", "AGENT_EXECUTION_FAILED", "A2A_PROTOCOL_ERROR"
_MILLISECOND = timedelta(milliseconds=1)
_HOURS = timedelta(hours=3)
"""So long, what has no terminal is running."""
# Outcome, code, reason and opening; frequent ones more than once.
_FAILURES: tuple[tuple[str, str, str | None, str], ...] = (
    *[("failed", _UNAVAILABLE, "connect_failed", "started")] * 4,
    *[("failed", _UNAVAILABLE, "http_server_error", "started")] * 3,
    ("failed", _UNAVAILABLE, "tls_failed", "started"),
    ("failed", _UNAVAILABLE, "name_not_resolved", "started"),
    *[("failed", _EXECUTION, "task_failed", "started")] * 4,
    ("failed", _EXECUTION, "input_required", "started"),
    *[("failed", _PROTOCOL, "output_schema", "started")] * 2,
    ("failed", _PROTOCOL, "not_json", "started"),
    ("failed", "AGENT_RESPONSE_TOO_LARGE", "body_size", "started"),
    ("failed", "ROUTE_NOT_FOUND", "streaming_not_declared", "routing"),
    ("failed", "DEPENDENCY_ERROR", "router_restarted", "started"),
    ("failed", "INTERNAL_ERROR", None, "started"),
    *[("timed_out", "TIMEOUT", None, "started")] * 2,
    ("timed_out", "TIMEOUT", None, "created"),
    ("canceled", "CANCELED", None, "started"),
)


@dataclass(frozen=True)
class Traces:
    """The roots of Traces that have a page worth looking at."""

    long: Call
    recursive: Call
    many_agents: Call
    running: Call
    interrupted: Call
    canceled: Call


class Recording:
    """Invents calls of the installed Agents, the same ones at each run but for their times and ids."""

    def __init__(self, published: Published) -> None:
        self.calls: list[Call] = []
        self._published = published
        self._random = random.Random(20)

    def all(self) -> Traces:
        traces = Traces(
            long=self._long(),
            recursive=self._recursive(),
            many_agents=self._many_agents(),
            running=self._add(self._root(ago(seconds=20), "acme:contract-reader", outcome=None, deadline=_HOURS)),
            interrupted=self._add(self._root(ago(hours=2), "acme:translator", outcome=None)),
            canceled=self._canceled(),
        )
        self._add(child(traces.running, 200, 90, outcome=None, deadline=_HOURS, **self._target("acme:sentiment")))
        while len(self.calls) < COUNT:
            self._usual()
        return traces

    def _long(self) -> Call:
        """Each call makes up to ten others, of three Agents that depend on its own."""
        root = self._add(self._root(ago(minutes=12), "acme:tree-walker", latency=timedelta(seconds=20)))
        calls = [root]
        for place in range(1, LONG_TRACE):
            parent = calls[(place - 1) // 10]
            room = parent.latency / _MILLISECOND
            nearest = 3 * INSTALLED.index(parent.agent_id) + 1 + place % 3
            agent_id = INSTALLED[nearest % len(INSTALLED)]
            calls.append(self._called(parent, agent_id, room * (place % 10) / 11, room / 13))
        return root

    def _recursive(self) -> Call:
        """15 calls of 4 Agents: each level calls its own Agent again and two others, one of which fails at times."""
        root = parent = self._add(self._root(ago(minutes=8), "acme:tree-walker", latency=timedelta(seconds=4)))
        room = 4000.0
        for level in range(3):
            room *= 0.8
            self._add(child(parent, 20, room / 4, **self._target("acme:translator")))
            failing = self._failed("failed", _EXECUTION, "task_failed") if level else {}
            back = self._add(child(parent, 30, room / 3, **self._target("acme:sentiment")))
            self._add(child(back, 5, room / 9, **self._target("acme:tree-walker")))
            self._add(child(parent, room / 2, room / 4, **self._target("globex:statistics"), **failing))
            if level < 2:
                parent = self._add(child(parent, 60, room, **self._target("acme:tree-walker")))
        return root

    def _many_agents(self) -> Call:
        """30 Agents that call each other in five layers, some calls within a layer."""
        root = self._add(self._root(ago(minutes=6), "acme:tree-walker", latency=timedelta(seconds=9)))
        names = [offer for offer in self._published.offers if offer != "acme:tree-walker"][:29]
        layers, before = [names[place : place + 6] for place in range(0, 29, 6)], [root]
        for depth, layer in enumerate(layers):
            made = []
            for place, agent_id in enumerate(layer):
                parent = before[place % len(before)]
                failing = self._failed(*_FAILURES[place][:3]) if (depth + place) % 7 == 6 else {}
                target = self._target(agent_id)
                made.append(self._add(child(parent, 100 + 60 * place, 6000 / 2**depth, **target, **failing)))
            self._add(child(made[0], 60, 40, **self._target(layer[-1])))
            before = made
        return root

    def _canceled(self) -> Call:
        """Ended by its caller, and so was what it had called."""
        ended: dict[str, Any] = self._failed("canceled", "CANCELED", None)
        root = self._add(self._root(ago(minutes=3), "acme:contract-reader", latency=timedelta(seconds=2), **ended))
        self._add(child(root, 100, 1900, **self._target("acme:translator"), **ended))
        return root

    def _usual(self) -> None:
        """One Trace of one to six calls within the last day, more often of late."""
        dice = self._random
        at = ago(minutes=2 + 1400 * dice.random() ** 2)
        took = timedelta(milliseconds=round(dice.lognormvariate(5, 1)) + 2)
        root = self._add(self._root(at, dice.choice(INSTALLED), latency=took, **self._outcome()))
        for place in range(min(dice.choice((0, 0, 0, 1, 2, 5)), COUNT - len(self.calls))):
            if root.opening == "started":
                self._called(root, dice.choice(INSTALLED), 1 + place, took / _MILLISECOND / 2)

    def _root(self, at: datetime, agent_id: str, **members: Any) -> Call:
        caller = self._random.choice(("local", "local", "local", *CALLERS[:1]))
        return Call(LARGE, at, caller_id=caller, **self._target(agent_id), **members)

    def _called(self, parent: Call, agent_id: str, started: float, took: float) -> Call:
        outcome = self._outcome(openings=("started",))
        return self._add(child(parent, started, max(1, took), **self._target(agent_id), **outcome))

    def _target(self, agent_id: str) -> dict[str, Any]:
        skills = self._published.offers[agent_id].card["skills"]
        pin = self._published.pin(agent_id, installed_version(self._published, agent_id))
        return {"agent_id": agent_id, "capability": self._random.choice(skills)["id"], "pin": pin}

    def _outcome(self, openings: tuple[str, ...] = ("started", "routing", "created")) -> dict[str, Any]:
        if self._random.random() >= SHARE_OF_FAILURES:
            return {}
        outcome, code, reason, opening = self._random.choice([one for one in _FAILURES if one[3] in openings])
        return {**self._failed(outcome, code, reason), "opening": opening}

    def _failed(self, outcome: str, code: str, reason: str | None) -> dict[str, Any]:
        return {"outcome": outcome, "error_code": code, "reason": reason}

    def _add(self, call: Call) -> Call:
        self.calls.append(call)
        return call
