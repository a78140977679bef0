"""The environments of the sample Agents that an installed package carries: one per Agent, in the data folder."""

import asyncio
import hashlib
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from aop.base import assets
from aop.local import agent_packages
from aop.local.install_problems import SetupFailed
from aop.local.installing import Say, SetupProgress
from aop.local.problems import SampleUnusable
from aop.local.samples import Sample, find_samples
from aop.net.address_settings import ListenAddress

_STAMP = ".stamp"
_LOCK = "requirements.lock"
_SDK = "a2a-sdk"


async def ready_samples(
    addresses: Sequence[ListenAddress], data: Path, caller: Mapping[str, str], say: Say, *, installing: bool
) -> list[Sample]:
    """Those of a checkout; those of an installed package once somebody asked for them in this data folder."""
    if not agent_packages.is_installed():
        return find_samples(addresses)
    place = data / "samples"
    if not (installing or any(place.glob(f"*/{_STAMP}"))):
        return []
    progress = SetupProgress(say)
    try:
        await asyncio.to_thread(make_ready, place, progress, caller)
    except SetupFailed as failed:
        raise SampleUnusable(f"{failed}\n  or start without the sample Agents with --no-agents") from None
    finally:
        progress.stop()  # on Ctrl-C they are in the middle of it
    return find_samples(addresses, environments=place)


def make_ready(place: Path, progress: SetupProgress, environment: Mapping[str, str]) -> None:
    """Makes those that are missing or old, several at once; returns when all can be used."""
    agents = sorted(lock.parent for lock in assets.folder("agents").glob(f"*/{_LOCK}"))
    unfinished = [agent for agent in agents if not _is_ready(place / agent.name, _mark(agent))]
    if not unfinished:
        return
    names = ", ".join(agent.name for agent in unfinished)
    progress(f"installing the sample Agents {names} in {place} (first time, ~30 s)")
    progress.together(*(partial(_make, agent, place / agent.name, progress, environment) for agent in unfinished))


def _make(agent: Path, folder: Path, progress: SetupProgress, environment: Mapping[str, str]) -> None:
    """Beside the one that is there, which stays as it is until the new one is whole."""
    new, old = (folder.with_name(f".{folder.name}.{which}") for which in ("new", "old"))
    try:
        shutil.rmtree(new, ignore_errors=True)
        # Wheels alone, each by its hash: nothing of a package runs while it is installed.
        pinned = ["--require-hashes", "--only-binary", ":all:", "-r", str(agent / _LOCK)]
        agent_packages.install(new, pinned, progress, environment)
        agent_packages.copy_package(new, progress)
        paths = (agent, agent.with_name(_SDK))
        (agent_packages.packages_of(new) / "agent.pth").write_text("".join(f"{path}\n" for path in paths))
        (new / _STAMP).write_text(_mark(agent))
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)  # Agents are run with its `python -m`, so nothing in it needs to know its path
        shutil.rmtree(old, ignore_errors=True)
    except OSError as problem:
        raise SetupFailed(f"{folder} cannot be made: {problem.strerror}") from None


def _is_ready(folder: Path, mark: str) -> bool:
    try:
        return (folder / _STAMP).read_text() == mark and (folder / "bin" / "python").exists()
    except OSError:
        return False


def _mark(agent: Path) -> str:
    texts = [(agent / _LOCK).read_text("utf-8"), agent_packages.mark_of_package(), str(agent)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
