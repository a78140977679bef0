"""The version in a Card file: raised when its author asks for it, with every other character left as it was."""

import json
import os
import re
import stat
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from aop.base.canonical import canonical, digest
from aop.base.json import parse
from aop.base.semver import Version
from aop.cli.card_findings import CardFile, read_card_file
from aop.cli.platform import Platform
from aop.cli.problems import CommandProblem
from aop.client import PlatformError
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.publication import ReleaseState

_BETWEEN = re.compile(r"[ \t\n\r,:]*")
_NOT_DONE = frozenset({ReleaseState.PENDING_VERIFICATION, ReleaseState.VERIFIED})


class VersionPart(StrEnum):
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"


def raised(version: Version, part: VersionPart) -> Version:
    """The next one; a pre-release comes to the release that it prepares."""
    major, minor, patch, is_release, _ = version.precedence
    if part is VersionPart.PATCH:
        return Version.parse(f"{major}.{minor}.{patch + is_release}")
    if part is VersionPart.MINOR:
        return Version.parse(f"{major}.{minor + (is_release or patch > 0)}.0")
    return Version.parse(f"{major + (is_release or minor > 0 or patch > 0)}.0.0")


def with_version(text: str, version: str) -> str:
    """`text` is a Card that follows the rules, so it has this member once."""
    read = json.JSONDecoder().raw_decode
    at = text.index("{") + 1
    while True:
        name, end = read(text, _after_blanks(text, at))
        begin = _after_blanks(text, end)
        _, at = read(text, begin)
        if name == "version":
            return text[:begin] + json.dumps(version) + text[at:]


async def raise_version(
    platform: Platform, read: CardFile, card: AgentCard, part: VersionPart
) -> tuple[CardFile, AgentCard]:
    """The file with a version that is not registered yet. A repeated command raises it once: a version of which nothing
    is registered, or whose publication was interrupted, stays."""
    entries = await registered_versions(platform, card.agent_id)
    current = entries.get(card.version)
    if current is None or _is_interrupted(current, read.raw):
        platform.out.note(f"{card.version} is not published yet, so the version stays")
        return read, card
    version = raised(Version.parse(card.version), part)
    while version.text in entries:
        version = raised(version, part)
    _write(read.path, with_version(read.raw.decode(), version.text))
    platform.out.note(f"{read.path}: version {card.version} is now {version.text}")
    return read_card_file(read.path), msgspec.structs.replace(card, version=version.text)


async def registered_versions(platform: Platform, agent_id: str) -> dict[str, CatalogEntry]:
    """Those that the caller may see."""
    try:
        return {entry.version: entry async for entry in platform.client.list_agent_versions(agent_id)}
    except PlatformError as error:
        if error.code not in {ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN}:
            raise
        return {}


def _is_interrupted(entry: CatalogEntry, raw: bytes) -> bool:
    if entry.publication_status is PublicationStatus.DISABLED or entry.card_digest != digest(canonical(parse(raw))):
        return False
    return entry.release is None or entry.release.state in _NOT_DONE


def _write(path: Path, text: str) -> None:
    """Whole or not at all: it is the author's own work. A link stays a link, and who may read the file stays."""
    file = path.resolve()
    try:
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}-", delete=False) as new:
            try:
                new.write(text.encode())
                new.flush()
                os.fsync(new.fileno())
                os.fchmod(new.fileno(), stat.S_IMODE(file.stat().st_mode))
                Path(new.name).replace(file)
            except BaseException:
                Path(new.name).unlink()
                raise
    except OSError as problem:
        raise CommandProblem(f"{path} cannot be written: {problem.strerror}; nothing was published") from None


def _after_blanks(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return at if match is None else match.end()
