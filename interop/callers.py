"""Clients of the official SDKs at the door: which there are, and what each says of the calls of one plan."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from interop.environments import command
from interop.frameworks import versions

SECONDS = 120.0
TOKEN = "AOP_TOKEN"  # noqa: S105  the name of a variable
_KEPT = frozenset({"PATH", "HOME", "LANG"})


class Planned(TypedDict):
    """One call: at which address, how, with which parts (a text or an object each), and of which Skill."""

    name: str
    url: str
    mode: str
    parts: list[Any]
    skill: str | None


@dataclass(frozen=True)
class SdkCaller:
    """A program that reads a plan and writes a line of JSON for each call."""

    name: str
    package: str
    folder: str
    program: str = "caller.py"
    short: bool = True
    """Part of the tests."""
    left_out: tuple[str, ...] = ()
    """Calls that the client cannot make."""

    @property
    def packages(self) -> str:
        return f"{self.package} {versions(self.folder)[self.package]}"


CALLERS = (
    SdkCaller("a2a-sdk-0.3", "a2a-sdk", "a2a-sdk-0.3"),
    SdkCaller("a2a-sdk-1", "a2a-sdk", "a2a-sdk-1"),
    SdkCaller("a2a-js-1", "@a2a-js/sdk", "a2a-js-1", "caller.mjs"),
    SdkCaller(
        "google-adk",
        "google-adk",
        "google-adk",
        short=False,
        left_out=("object", "object in a stream", "refusal", "cancel"),
    ),
)


def planned(name: str, url: str, mode: str, *parts: Any, skill: str | None = None) -> Planned:
    return Planned(name=name, url=url, mode=mode, parts=list(parts), skill=skill)


async def made(caller: SdkCaller, token: str, plan: Sequence[Planned]) -> dict[str, Any]:
    """What came of each call, by its name. The token is in the environment, not on the command line."""
    inherited = {name: value for name, value in os.environ.items() if name in _KEPT}  # noqa: TID251
    process = await asyncio.create_subprocess_exec(
        *command(caller.folder, caller.program, print),
        env=inherited | {TOKEN: token},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, problems = await process.communicate(
                json.dumps([one for one in plan if one["name"] not in caller.left_out]).encode()
            )
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise RuntimeError(f"{caller.name} ended with {process.returncode}:\n{problems.decode()[-2000:]}")
    outcomes = [json.loads(line) for line in output.splitlines()]
    return {outcome["name"]: outcome for outcome in outcomes}
