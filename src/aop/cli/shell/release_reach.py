"""What a provider sees around the end of a Release: what depends on it, and when the Router has learned of it."""

import asyncio
from typing import Final

from aop.cli.shell.output import facts, styled
from aop.cli.shell.platform import Platform
from aop.client import PlatformError
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import Release
from aop.contracts.topology import SourceState, WatchedState

WAIT_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.2
UNAVAILABLE: Final = frozenset({ErrorCode.DEPENDENCY_ERROR, ErrorCode.OVERLOADED})
"""Answers of a platform that cannot say it now."""


async def show_reach(platform: Platform, release_id: str) -> None:
    """Without counts a provider can still end a Release; a note says so."""
    try:
        reach = await platform.waiting("counting", platform.client.read_release_reach(release_id))
    except PlatformError as error:
        if error.code not in UNAVAILABLE:
            raise
        platform.out.note(styled((f"what depends on it could not be counted: {error.message}", "yellow")))
        return
    platform.out.note(
        *facts(
            ("Workspaces", str(reach.workspaces)),
            ("Installations", f"{reach.enabled_installations} enabled, {reach.disabled_installations} disabled"),
            ("calls", f"{reach.calls_last_hour} in the last hour, {reach.calls_last_day} in the last day"),
            ("running now", str(reach.running)),
        )
    )


async def show_router_learned(platform: Platform, release: Release) -> None:
    """The time until the Router behind the Control Plane's destination knows the new state, as seen from here."""
    seconds = await platform.waiting("waiting for the Router", _seconds_until_learned(platform, release))
    if seconds is None:
        platform.out.note(
            styled((f"the Router had not learned of it after {WAIT_SECONDS:g} s; see aop status", "yellow")),
            "The Control Plane refuses new calls already.",
        )
    else:
        platform.out.note(f"the Router knew the new state {seconds:.1f} s after the answer")


async def _seconds_until_learned(platform: Platform, release: Release) -> float | None:
    clock, expected = asyncio.get_running_loop().time, WatchedState(release.state.value)
    answered = clock()
    while clock() - answered < WAIT_SECONDS:
        try:
            seen = await platform.client.read_release_observation(release.release_id)
        except PlatformError as error:
            if error.code not in UNAVAILABLE:
                raise
        else:
            if seen.source is SourceState.LIVE and seen.state is expected:
                return clock() - answered
        await asyncio.sleep(_PAUSE_SECONDS)
    return None
