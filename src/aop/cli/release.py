"""`aop release`: lists and reads Releases, and takes them out of use."""

from pathlib import Path
from typing import Annotated

import typer

from aop.cli import options
from aop.cli.loading import Entry
from aop.cli.output import Line, Output, facts, moment, status, table
from aop.cli.platform import Platform, first
from aop.cli.problems import Problem, UsageProblem
from aop.contracts.publication import Release

ReleaseId = Annotated[str, typer.Argument(metavar="RELEASE", help="The rel_… id.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Operator = Annotated[
    bool, typer.Option("--operator", help="Anybody's Release, with the database login of the Control Plane.")
]
_ON_STORE = Entry("release suspend --operator", "aop.cli.operator:suspend_on_store", "")
"""Loaded only for an operator: a provider's machine needs no part that talks to a database."""


async def list_releases(
    platform: Platform,
    provider: Annotated[
        str | None, typer.Option(metavar="ID", help="The provider id they were published under; default: your own.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="ID", help="Of this Agent only.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")] = 50,
) -> None:
    """The newest first. `aop publish` uses the owner of the Card as provider id when it is told no other.

    Example: aop release list --agent local:my-agent
    """
    chosen = provider or await platform.principal()
    if chosen is None:
        raise UsageProblem("say whose with --provider ID")
    found, more = await first(platform.client.list_releases(chosen, agent_id=agent), limit)
    rows = [(one.release_id, one.agent_id, one.version, status(one.state), moment(one.created_at)) for one in found]
    lines = table(["release", "agent", "version", "state", "created"], rows) if rows else ["no Releases"]
    platform.out.tell({"items": found}, *lines)
    if more:
        platform.out.note(f"there are more: --limit shows more than {limit}")


async def show(platform: Platform, release_id: ReleaseId) -> None:
    """Of others' Releases only the published can be read.

    Example: aop release show rel_0192f0c0c0de7000a000000000000001
    """
    found = await platform.client.read_release(release_id)
    platform.out.tell(found, *_lines(found))


async def suspend(
    out: Output,
    release_id: ReleaseId,
    operator: Operator = False,
    yes: Yes = False,
    profile: options.PROFILE = None,
    data: options.DATA = None,
) -> None:
    """It cannot be undone: to go on, publish a new version. Installations stay, their Invocations are refused.

    With --operator it runs on the operator's machine: the database is that of the data folder, else of
    PLATFORM_DATABASE_URL, else of a local platform nearby. The Release then says that the operator suspended it.

    Example: aop release suspend rel_0192f0c0c0de7000a000000000000001
    """
    if operator and profile is not None:
        raise UsageProblem("--operator works on the database, which no profile names", "leave out --profile")

    _confirm(out, yes, f"Suspend {release_id}? This cannot be undone.")
    if operator:
        found = await _ON_STORE.function()(release_id, None if data is None else Path(data))
        out.tell(found, *_lines(found))
    else:
        await Platform.opened(out, {"profile": profile, "data": data}, lambda on: _suspend_own(on, release_id))


async def _suspend_own(platform: Platform, release_id: str) -> None:
    found = await platform.client.suspend_release(release_id)
    platform.out.tell(found, *_lines(found))


async def revoke(platform: Platform, release_id: ReleaseId, yes: Yes = False) -> None:
    """It is never restored and its version never published again; a new version is needed.

    Example: aop release revoke rel_0192f0c0c0de7000a000000000000001 --yes
    """
    _confirm(platform.out, yes, f"Revoke {release_id} for good?")
    found = await platform.client.revoke_release(release_id)
    platform.out.tell(found, *_lines(found))


def _confirm(out: Output, yes: bool, question: str) -> None:
    if not yes and not out.confirms(question):
        raise Problem("nothing was changed", code="declined", recovery="answer yes, or pass --yes")


def _lines(found: Release) -> list[Line]:
    return facts(
        ("release", found.release_id),
        ("agent", f"{found.agent_id} {found.version}"),
        ("state", status(found.state)),
        ("provider", found.provider_id),
        ("endpoint", found.endpoint_origin + found.endpoint_path),
        ("card digest", found.card_digest),
        ("binding", found.endpoint_binding_id),
        ("evidence", found.verification_evidence_digest or None),
        ("created", found.created_at),
        ("verified", found.verified_at or None),
        ("published", found.published_at or None),
        ("suspended", f"{found.suspended_at} by the {found.suspended_by}" if found.suspended_at else None),
        ("revoked", found.revoked_at or None),
    )
