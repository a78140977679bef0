"""`aop ledger follow`: the events of a Workspace as JSON lines, from a saved position on, until it is stopped."""

import asyncio
import sys
from pathlib import Path
from typing import Final

import click
import msgspec

from aop.base.durable_files import write_whole
from aop.cli.shell.client_problems import problem_of
from aop.cli.shell.platform import ServingWorkspace
from aop.cli.shell.problems import CommandProblem
from aop.client import AnswerLost, BrokenAnswer, ClientError, PlatformError, Unreachable
from aop.contracts.errors import ErrorCode
from aop.contracts.events import EventPage

_PAGE: Final = 100
_PAUSE_SECONDS: Final = 1.0
_MAX_PAUSE_SECONDS: Final = 30.0
_PASSING: Final = frozenset({ErrorCode.DEPENDENCY_ERROR, ErrorCode.OVERLOADED, ErrorCode.INTERNAL_ERROR})
"""Codes of a platform that may work again soon. A read changes nothing, so that it may be repeated."""


@click.option(
    "--position",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file that keeps the position. Events that were written before are not written again.",
)
@click.option("--end", "stops", is_flag=True, help="Stop at the end of what is there, instead of waiting for more.")
async def follow(platform: ServingWorkspace, position: Path | None, *, stops: bool) -> None:
    """Each line is one event of the Ledger as a CloudEvent, in the order of the Ledger: those of one Invocation in
    their order, a parent's creation before its children's. Without a position file it begins with the first event.

    The position is saved after the lines were written. If the command is killed in between, up to 100 lines are
    written twice, and none is missing: drop a line whose id you have. While the Gateway cannot be reached or answers
    with 503 it waits and tries again.

    Example: aop ledger follow --position events.position >> events.jsonl
    Example: aop ledger follow --end
    """
    after = None if position is None else _saved(position)
    pause = _PAUSE_SECONDS
    while True:
        try:
            page = await platform.client.read_events(platform.workspace_id, after=after, limit=_PAGE)
        except ClientError as error:
            _require_passing(error, platform)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)
            continue
        pause = _PAUSE_SECONDS
        if page.items:
            _write(page)
            after = page.after
            if position is not None:
                _save(position, after)
        elif stops:
            return
        else:
            await asyncio.sleep(_PAUSE_SECONDS)


def _require_passing(error: ClientError, platform: ServingWorkspace) -> None:
    passing = error.code in _PASSING if isinstance(error, PlatformError) else True
    if not passing or not isinstance(error, PlatformError | Unreachable | AnswerLost | BrokenAnswer):
        raise problem_of(error, platform.destination) from error
    platform.out.note(f"waiting: {error}")


def _write(page: EventPage) -> None:
    """Whole lines in one piece. The position moves only when the system has them."""
    lines = b"".join(msgspec.json.encode(item) + b"\n" for item in page.items)
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()


def _saved(position: Path) -> str | None:
    try:
        text = position.read_text("ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise CommandProblem(f"the position cannot be read from {position}: {problem}") from None
    if not text:
        raise CommandProblem(
            f"{position} has no position", recovery="delete the file to begin with the first event again"
        )
    return text


def _save(position: Path, after: str) -> None:
    """All of it or nothing, also if the machine fails."""
    try:
        write_whole(position, f"{after}\n".encode("ascii"))
    except OSError as problem:
        raise CommandProblem(f"the position cannot be saved in {position}: {problem}") from None
