"""Names of OpenTelemetry's semantic conventions that stand beside ours, so that common tools find Agents and calls."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from aop.telemetry.spans import Attribute

VERSION: Final = "1.44.0"
"""Of the conventions; those of Agents and of A2A are in development, so a later version may rename them."""


class Convention(NamedTuple):
    name: str
    beside: str
    """Our attribute: where it is, so is this one."""
    value: Callable[[Attribute], Attribute]
    """Made from the value of ours."""


def _same(value: Attribute) -> Attribute:
    return value


WHO: Final = (
    Convention("gen_ai.agent.id", "aop.agent.id", _same),
    Convention("gen_ai.agent.name", "aop.agent.name", _same),
    Convention("gen_ai.agent.version", "aop.agent.version", _same),
)
"""On every span that says which Agent is called."""
CALL: Final = (
    Convention("gen_ai.operation.name", "aop.agent.id", lambda _: "invoke_agent"),
    Convention("a2a.method.name", "aop.stream", lambda stream: "SendStreamingMessage" if stream else "SendMessage"),
    Convention("a2a.protocol.version", "aop.stream", lambda _: "0.3.0"),
)
"""Only on the span of the request to the Agent: one Invocation counts as one invoke_agent."""


def named_by(conventions: Sequence[Convention], attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {one.name: one.value(attributes[one.beside]) for one in conventions if one.beside in attributes}
