"""`aop invoke`: runs an installed Agent and shows its result, complete or as a stream."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import click
import msgspec

from aop.cli.consumer.invoke_input import Work, work_of
from aop.cli.consumer.trace import show_trace
from aop.cli.shell.invocation_lines import milliseconds
from aop.cli.shell.output import json_text, styled
from aop.cli.shell.platform import InWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.client import ClientError, DeadlinePassed, PlatformError, ResultStream, StreamInterrupted


@click.argument("agent", metavar="AGENT", help="The Agent's id.")
@click.argument(
    "capability", metavar="[SKILL]", required=False, help="The Skill; may be left out where there is only one."
)
@click.argument("input_text", metavar="[INPUT]", required=False, help="A text, a JSON object, @FILE, or - for stdin.")
@click.option("--stream", "-s", is_flag=True, help="Show the chunks of the result as they arrive.")
@click.option("--trace", "show_lineage", is_flag=True, help="Show the trace afterwards.")
@click.option("--example", is_flag=True, help="Use the first example of the Skill's inputSchema.")
@click.option("--text", "as_text", is_flag=True, help="The input is a text, also when it begins with {.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    help="Cancel the Invocation after this many seconds.",
)
async def invoke(  # noqa: PLR0913, PLR0917  a command's options are its parameters
    platform: InWorkspace,
    agent: str,
    capability: str | None,
    input_text: str | None,
    stream: bool,
    show_lineage: bool,
    example: bool,
    as_text: bool,
    timeout: float | None,
) -> None:
    """An input that begins with { is a JSON object. Any other is a text, sent as it is to a Skill that takes one. With
    @FILE or - the same rule holds for what is read. Where the Agent has one Skill, one argument that cannot be the name
    of a Skill, such as a text of two words, is the input.

    Ctrl-C cancels the Invocation, also at the Agent, and ends with exit code 130.

    The result goes to stdout and is not stored. With --json it is an Invocation Result, or with --stream one Stream
    Event per line.

    Example: aop invoke aop:summarizer rank-sentences '{"text": "Tea is grown in hills. Tea needs rain."}'
    Example: aop invoke aop:summarizer summarize @text.json --stream
    Example: aop invoke local:my-chat chat "How long is this sentence?" --stream
    Example: cat letter.txt | aop invoke local:my-chat chat -
    Example: aop invoke aop:meeting-brief digest-meetings --example --trace
    """
    work = await work_of(platform, agent, capability, input_text, example=example, as_text=as_text)
    call = FollowedInvocation(platform, agent, work, timeout)
    try:
        await (call.streamed() if stream else call.whole())
    except ClientError as error:
        # Not every failure has a lineage; this one's own error is what counts.
        with suppress(ClientError):
            await _show_lineage(platform, call, show_lineage)
        if timeout is not None and _is_late(error):
            raise _late(timeout, error) from error
        raise
    await _show_lineage(platform, call, show_lineage)


async def _show_lineage(platform: InWorkspace, call: "FollowedInvocation", requested: bool) -> None:
    if requested and call.trace_id is not None:
        await show_trace(platform, call.trace_id)


def _is_late(error: ClientError) -> bool:
    return isinstance(error, DeadlinePassed) or (isinstance(error, StreamInterrupted) and error.rule == "deadline")


def _late(seconds: float, error: ClientError) -> CommandProblem:
    problem = CommandProblem(
        f"canceled: there was no result after {seconds:g} s",
        code="timeout",
        recovery="give it more time with --timeout; `aop trace --last` shows how far it got",
    )
    problem.trace_id, problem.invocation_id = error.trace_id, error.invocation_id
    return problem


class FollowedInvocation:
    """One call. Its Trace is known as soon as the platform has named it."""

    def __init__(self, platform: InWorkspace, agent: str, work: Work, timeout: float | None) -> None:
        self.trace_id: str | None = None
        self._platform = platform
        self._out = platform.out
        self._agent = agent
        self._work = work
        self._timeout = timeout
        self._began = time.monotonic()

    async def whole(self) -> None:
        work, platform = self._work, self._platform
        call = platform.client.invoke(
            platform.workspace_id, self._agent, work.capability, work.input, timeout=self._timeout
        )
        try:
            result = await platform.waiting(f"{self._agent} is working", call)
        except ClientError as error:
            self.trace_id = error.trace_id
            raise
        except asyncio.CancelledError:
            self._out.note(styled(("canceled; `aop trace --last` shows it", "yellow")))
            raise
        self.trace_id = result.trace_id
        self._out.tell(result, _readable(result.result))
        self._done(result.invocation_id)

    async def streamed(self) -> None:
        work, platform = self._work, self._platform
        async with platform.client.stream(
            platform.workspace_id, self._agent, work.capability, work.input, timeout=self._timeout
        ) as stream:
            self.trace_id = stream.trace_id
            try:
                error = await self._followed(stream)
            except asyncio.CancelledError:
                self._out.note("", styled((f"canceled {stream.invocation_id}", "yellow")))
                raise
        if error is not None:
            raise error
        self._done(str(stream.invocation_id))

    async def _followed(self, stream: ResultStream[Any]) -> PlatformError | None:
        """The error it ended with; None when it succeeded."""
        open_line = False
        async for event in stream.events():
            if self._out.json:
                self._out.document(event)
            elif event.chunk is not msgspec.UNSET:
                open_line = self._piece(event.chunk, open_line)
            if event.error is not msgspec.UNSET:
                self._end_line(open_line)
                return PlatformError.of(event.error)
        self._end_line(open_line)
        return None

    def _piece(self, chunk: msgspec.Raw, open_line: bool) -> bool:
        """Texts continue the line, other values get their own line. Returns whether a line is open."""
        value = msgspec.json.decode(bytes(chunk))
        if isinstance(value, str):
            self._out.write(value)
            return not value.endswith("\n") if value else open_line
        self._end_line(open_line)
        self._out.show(json_text(chunk))
        return False

    def _end_line(self, open_line: bool) -> None:
        if open_line and not self._out.json:
            self._out.write("\n")

    def _done(self, invocation_id: str) -> None:
        took = milliseconds((time.monotonic() - self._began) * 1000)
        self._out.note(styled((f"succeeded in {took}: {invocation_id}, trace {self.trace_id}", "dim")))


def _readable(result: msgspec.Raw) -> str:
    """A text as it is, anything else as indented JSON."""
    value = msgspec.json.decode(result)
    return value if isinstance(value, str) else json_text(result, indent=2)
