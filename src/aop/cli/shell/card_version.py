"""The version in a Card file: raised when its author asks for it, with every other character left as it was."""

import json
import os
import stat
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from aop.base.canonical import canonical, digest
from aop.base.durable_files import put_in_place
from aop.base.json import parse
from aop.base.semver import Version
from aop.cli.shell.card_findings import CardFile, read_card_file
from aop.cli.shell.json_lines import value_spans
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import CommandProblem
from aop.client import PlatformError
from aop.contracts.card import AgentCard
from aop.contracts.catalog import CatalogEntry, PublicationStatus
from aop.contracts.errors import ErrorCode
from aop.contracts.front_settings import versions_folder
from aop.contracts.publication import ReleaseState

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


def with_version(text: str, version: str, endpoint: str | None = None) -> str:
    """`text` is a Card that follows the rules, so it has these members once."""
    spans = value_spans(text)
    values = [(spans["version",], version)]
    if endpoint is not None:
        values.append((spans["protocol", "endpoint"], endpoint))
    # From the end of the text on, so that no replacement moves the next one.
    for (begin, end), value in sorted(values, reverse=True):
        text = text[:begin] + json.dumps(value) + text[end:]
    return text


def version_in_path(card: AgentCard) -> str | None:
    """The version that the endpoint names, when it ends as a front serves it: /agentId/version."""
    base, _, version = card.protocol.endpoint.rpartition("/")
    try:
        return Version.parse(version).text if base.endswith(f"/{card.agent_id}") else None
    except ValueError:
        return None


def require_own_path(read: CardFile, card: AgentCard) -> None:
    named = version_in_path(card)
    if named is not None and named != card.version:
        raise CommandProblem(
            f"the endpoint of the Card ends in {named}, and its version is {card.version}: no call would arrive",
            code="other_version",
            recovery=f"write {_endpoint_of(card, card.version)} in `protocol.endpoint` of {read.path}",
        )


def _endpoint_of(card: AgentCard, version: str) -> str:
    return f"{card.protocol.endpoint.rpartition('/')[0]}/{version}"


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
    endpoint = None if version_in_path(card) is None else _endpoint_of(card, version.text)
    _write(read.path, with_version(read.raw.decode(), version.text, endpoint).encode())
    platform.out.note(f"{read.path}: version {card.version} is now {version.text}")
    protocol = msgspec.structs.replace(card.protocol, endpoint=endpoint or card.protocol.endpoint)
    return read_card_file(read.path), msgspec.structs.replace(card, version=version.text, protocol=protocol)


async def save_other_versions(platform: Platform, read: CardFile, card: AgentCard) -> None:
    """The front that serves this Card goes on with the versions before it: it finds their Cards beside it."""
    folder = versions_folder(read.path)
    for entry in (await registered_versions(platform, card.agent_id)).values():
        file = folder / f"{entry.version}.json"
        other = msgspec.json.decode(entry.card, type=AgentCard)
        is_here = entry.version != card.version and other.protocol.endpoint == _endpoint_of(card, entry.version)
        is_called = entry.release is not None and entry.release.state is not ReleaseState.REVOKED
        if is_here and is_called and not file.exists():
            content = msgspec.json.format(bytes(entry.card), indent=2) + b"\n"
            try:
                folder.mkdir(exist_ok=True)
            except OSError as problem:
                raise _not_written(folder, problem) from None
            _write(file, content)
            platform.out.note(f"{file}: {entry.version}, so that the front goes on serving it")


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


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: it is the author's own work. A link stays a link, and who may read the file stays."""
    file = path.resolve()
    try:
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}-", delete=False) as new:
            try:
                new.write(content)
                new.flush()
                os.fsync(new.fileno())
                os.fchmod(new.fileno(), stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644)
                put_in_place(Path(new.name), file)
            except BaseException:
                Path(new.name).unlink(missing_ok=True)
                raise
    except OSError as problem:
        raise _not_written(path, problem) from None


def _not_written(path: Path, problem: OSError) -> CommandProblem:
    return CommandProblem(f"{path} cannot be written: {problem.strerror}; nothing was published")
