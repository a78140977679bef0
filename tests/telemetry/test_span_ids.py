"""Span ids that both sides compute for themselves: always the same, and of the form W3C Trace Context wants."""

import re

from aop.telemetry.spans import agent_span_id


def test_the_span_of_an_agent_is_known_from_its_invocation_alone() -> None:
    one, other = agent_span_id("inv_1"), agent_span_id("inv_2")
    assert one == agent_span_id("inv_1") != other
    assert re.fullmatch("[0-9a-f]{16}", one)
