"""What is read of a message after its envelope, where less of the stack of Python 3.11 is left."""

from collections.abc import Callable

import msgspec
import pytest

from aop.door.mcp.calls import skill_input
from aop.door.mcp.messages import Fault, McpMessage, ProtocolFault, read_params
from aop.door.mcp.tools import SkillTool

_DEEP = msgspec.Raw(b'{"other":%b%b}' % (b"[" * 2_000, b"]" * 2_000))
_TOOL = SkillTool(("acme:agent", "skill"), "rel_1", streaming=False, wrapped=True, described=b"}")


@pytest.mark.rows("SOUND-04")
@pytest.mark.parametrize(
    "read",
    [lambda: read_params(McpMessage("2.0", "ping", 1, _DEEP)), lambda: skill_input(_TOOL, _DEEP)],
    ids=["parameters", "arguments"],
)
def test_what_is_nested_deeper_than_can_be_read_is_wrong_parameters(read: Callable[[], object]) -> None:
    with pytest.raises(ProtocolFault) as refused:
        read()
    assert refused.value.fault is Fault.PARAMS
