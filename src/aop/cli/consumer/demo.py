"""`aop demo`: what the platform does, on the sample Agents: a result word by word, and Agents that call Agents."""

import msgspec

from aop.cli.consumer.invoke import FollowedInvocation
from aop.cli.consumer.invoke_input import Work, work_of
from aop.cli.consumer.trace import show_trace
from aop.cli.shell.installed import find_installation
from aop.cli.shell.output import styled
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.local.console_link import trace_link

_STREAMED, _NESTED = ("aop:summarizer", "summarize"), ("aop:meeting-brief", "digest-meetings")
_PACE_MS = 150


async def demo(platform: InWorkspace) -> None:
    """Two calls of the sample Agents: in one the words arrive one by one, in the other an Agent asks further Agents,
    which you see as a tree. Each has a link to its page in the Console, where there is one.

    With --json the output is the stream and then the Trace of the nested call.

    Example: aop demo
    """
    for agent, _ in (_STREAMED, _NESTED):
        if await find_installation(platform, agent) is None:
            raise CommandProblem(
                f"the sample Agent {agent} is not installed in the Workspace {platform.workspace_id}",
                code="no_samples",
                recovery="start the platform with its sample Agents: `aop up --samples`, or `./dev up` in a checkout",
            )
    out = platform.out
    out.show(styled(("1. A stream: ", "bold"), f"{' '.join(_STREAMED)}, each word when the Agent has it"), "")
    trace_id = await _streamed(platform)
    _show_link(platform, trace_id)
    out.show("", styled(("2. Agents call Agents: ", "bold"), f"{' '.join(_NESTED)}"), "")
    work = await work_of(platform, *_NESTED, None, example=True, as_text=False)
    call = platform.client.invoke(platform.workspace_id, _NESTED[0], work.capability, work.input)
    nested = await platform.waiting(f"{_NESTED[0]} is working", call)
    await show_trace(platform, nested.trace_id)
    _show_link(platform, nested.trace_id)
    out.show("", "Next: aop init my-agent, then aop dev my-agent")


async def _streamed(platform: InWorkspace) -> str:
    """The example of the Skill, slow enough to be seen."""
    example = await work_of(platform, *_STREAMED, None, example=True, as_text=False)
    paced = {**msgspec.json.decode(example.input, type=dict[str, object]), "paceMs": _PACE_MS}
    work = Work(example.capability, msgspec.json.encode(paced))
    call = FollowedInvocation(platform, _STREAMED[0], work, None)
    await call.streamed()
    return str(call.trace_id)


def _show_link(platform: InWorkspace, trace_id: str) -> None:
    console = platform.destination.console
    where = f"aop trace {trace_id}" if console is None else trace_link(console, platform.workspace_id, trace_id)
    platform.out.show(styled(("see it: ", "dim"), where))
