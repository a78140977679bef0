"""The canaries of one run: all share a mark, so that one search finds any of them, in any spelling."""

import os
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from tests.support.canaries import spellings

_MARKED = "a marked canary"
_WHAT_FOR = re.compile(rb"\.([a-z-]+)\.([a-z-]+)\.")
_PLAIN = {"LC_ALL": "C", "PATH": os.defpath}


class Channel(StrEnum):
    """How something confidential enters; the platform makes the later ones itself."""

    INPUT = "input"
    RESULT = "result"
    CHUNK = "chunk"
    ERROR_TEXT = "error-text"
    HEADER = "header"
    ADDRESS = "address"
    ACCESS_TOKEN = "access-token"
    SERVICE_TOKEN = "service-token"
    PROOF = "proof"
    SIGNING_KEY = "signing-key"
    CREDENTIAL = "credential"
    DELEGATION = "delegation"
    DATABASE_PASSWORD = "database-password"


class Provocation(StrEnum):
    SUCCESS = "success"
    REFUSAL = "refusal"
    TIME_OUT = "time-out"
    AGENT_FAILURE = "agent-failure"
    DEPENDENCY_FAILURE = "dependency-failure"
    CRASH = "crash"
    OVERLOAD = "overload"
    MALFORMED = "malformed"
    CANCEL = "cancel"
    DEBUG = "debug"


@dataclass
class Canaries:
    """Marked ones by what they are for; `given` are values the platform or the run made, each under its channel."""

    mark: str
    given: dict[str, tuple[Channel, str]] = field(default_factory=dict)

    def of(self, channel: Channel, provocation: Provocation) -> str:
        return f"{self.mark}.{channel}.{provocation}."

    def add(self, channel: Channel, what: str, value: str) -> None:
        self.given[what] = channel, value

    def search(self, places: Sequence[tuple[str, bytes]]) -> set[tuple[str, str]]:
        """Which canary is in which place: of a marked one the channel and provocation, where they can be read."""
        starts, whole = [0], b"\n".join(content for _, content in places)
        for _, content in places:
            starts.append(starts[-1] + len(content) + 1)
        return {
            (self._named(at, spelling, whole), places[bisect_right(starts, at) - 1][0])
            for at, spelling in occurrences(self._meanings, whole)
        }

    def _named(self, at: int, spelling: bytes, content: bytes) -> str:
        what = self._meanings[spelling]
        told = _WHAT_FOR.match(content, at + len(spelling)) if what == _MARKED else None
        return what if told is None else b" of ".join(told.groups()).decode()

    @cached_property
    def _meanings(self) -> Mapping[bytes, str]:
        """Made at the first search, when all canaries are known."""
        secrets = {_MARKED: self.mark} | {what: value for what, (_, value) in self.given.items()}
        return {spelling.encode(): what for what, value in secrets.items() for spelling in spellings(value)}


def occurrences(needles: Iterable[bytes], content: bytes) -> Iterator[tuple[int, bytes]]:
    """Where any of many needles, none with a line end in it, is: by grep, which looks for all of them in one pass."""
    patterns = os.memfd_create("needles")
    try:
        os.write(patterns, b"\n".join(needles))
        command = [
            "grep",
            "--text",
            "--byte-offset",
            "--only-matching",
            "--fixed-strings",
            f"--file=/dev/fd/{patterns}",
        ]
        found = subprocess.run(
            command, input=content, capture_output=True, check=False, pass_fds=[patterns], env=_PLAIN
        )
    finally:
        os.close(patterns)
    if found.returncode > 1:
        raise OSError(found.stderr.decode())
    for line in found.stdout.splitlines():
        at, _, needle = line.partition(b":")
        yield int(at), needle
