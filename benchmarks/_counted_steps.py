"""The numbered steps of an Invocation, as the line-end marks (`# 3`) in the two files that name them say."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import CodeType

_FILES = ("control_plane/gateway/invocations.py", "router/api/invocations.py")
_MARK = re.compile(r"  # (\d(?:, \d)*)$")

EDGE = "edge"
"""Before and after the steps: connection, head and routing of the request, delivery of the answer, metrics, log."""
_STEPS_OF_MODULES = {
    "aop.net.server": EDGE,
    "aop.control_plane.gateway.access": "1",
    "aop.serving.edge.bearer": "1",
    "aop.serving.edge.admission": "2",
}
"""What the edge calls, or the loop, without a mark in one of the two files."""
_PEERS = "aop.net.http"
PEER_STEPS = {"gateway": "6, 7", "router": "7"}
"""Where bytes that arrive from the other unit or the Agent belong to."""
STEPS_OF_COMMITS = {"loop ledger acceptances": "6", "loop ledger endings": "6", "loop ledger facts": "8"}
"""The long-lived tasks that work for Invocations: those of the group commits."""


def step_of_module(module: str, peer_step: str) -> str | None:
    if module.startswith(_PEERS):
        return peer_step
    return next((step for prefix, step in _STEPS_OF_MODULES.items() if module.startswith(prefix)), None)


@cache
def marked_lines(code: CodeType) -> Mapping[int, str] | None:
    """The step of each line of a function that has marks, else None. Lines before its first mark belong to that one."""
    if not code.co_filename.endswith(_FILES):
        return None
    own = {line for _, _, line in code.co_lines() if line is not None}
    first, last = code.co_firstlineno, max(own, default=0)
    text = Path(code.co_filename).read_text().splitlines()
    marks = {line: mark[1] for line in range(first, last + 1) if line in own and (mark := _MARK.search(text[line - 1]))}
    if not marks:
        return None
    steps, step = {}, next(iter(marks.values()))
    for line in range(first, last + 1):
        step = steps[line] = marks.get(line, step)
    return steps
