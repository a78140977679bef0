"""`aop release`: lists and reads Releases, and takes them out of use."""

from collections.abc import Awaitable, Callable

import click

from aop.cli.shell import options
from aop.cli.shell.loading import Entry
from aop.cli.shell.output import Cell, Line, facts, moment, status
from aop.cli.shell.platform import Platform, PlatformChoice
from aop.cli.shell.problems import UsageProblem
from aop.cli.shell.release_reach import show_reach, show_router_learned
from aop.contracts.publication import Release

_DECLINED = "nothing was changed"
_release_id = click.argument("release_id", metavar="RELEASE", help="The rel_… id.")
_ON_STORE = Entry("release suspend --operator", "operator.operator:suspend_on_store", "")
"""Loaded only for an operator: a provider's machine needs no part that talks to a database."""


@click.option("--provider", metavar="ID", help="The provider id they were published under; default: your own.")
@click.option("--agent", metavar="ID", help="Of this Agent only.")
@options.limit(50)
async def list_releases(platform: Platform, provider: str | None, agent: str | None, limit: int) -> None:
    """Newest first. `aop publish` uses the owner of the Card as the provider id by default.

    Example: aop release list --agent local:my-agent
    """
    chosen = provider or (await platform.client.read_me()).principal_id
    listing = platform.client.list_releases(chosen, agent_id=agent)
    headings = ["release", "agent", "version", "state", "created"]
    await platform.tell_list(listing, limit, _row, headings, nothing="no Releases")


def _row(one: Release) -> tuple[Cell, ...]:
    return one.release_id, one.agent_id, one.version, status(one.state), moment(one.created_at)


@_release_id
async def show(platform: Platform, release_id: str) -> None:
    """Of other providers you see published Releases only.

    Example: aop release show rel_0192f0c0c0de7000a000000000000001
    """
    found = await platform.client.read_release(release_id)
    platform.out.tell(found, *_lines(found))


@_release_id
@click.option("--operator", is_flag=True, help="Anybody's Release, with the database login of the Control Plane.")
@options.yes
async def suspend(chosen: PlatformChoice, release_id: str, operator: bool, yes: bool) -> None:
    """This cannot be undone: publish a new version instead. Installations stay, but their Invocations are refused.

    Before the question you see how many Workspaces, Installations and calls depend on the Release; after the answer,
    when the Router has learned of it.

    With --operator it runs on the operator's machine: the database is that of the data folder, else of
    PLATFORM_DATABASE_URL, else of a local platform nearby. The Release then says that the operator suspended it.

    Example: aop release suspend rel_0192f0c0c0de7000a000000000000001
    """
    if operator and chosen.profile is not None:
        raise UsageProblem("--operator works on the database, which no profile names", "leave out --profile")

    question = f"Suspend {release_id}? This cannot be undone."
    if operator:
        chosen.out.require_yes(yes, question, _DECLINED)
        found = await _ON_STORE.function()(release_id, chosen.folder)
        chosen.out.tell(found, *_lines(found))
    else:

        async def suspend_own(platform: Platform) -> None:
            await _end(platform, release_id, question, yes, platform.client.suspend_release)

        await chosen.at_gateway(suspend_own)


@_release_id
@options.yes
async def revoke(platform: Platform, release_id: str, yes: bool) -> None:
    """This cannot be undone, and the version cannot be published again: publish a new version instead.

    Before the question you see how many Workspaces, Installations and calls depend on the Release; after the answer,
    when the Router has learned of it.

    Example: aop release revoke rel_0192f0c0c0de7000a000000000000001 --yes
    """
    await _end(platform, release_id, f"Revoke {release_id} for good?", yes, platform.client.revoke_release)


async def _end(
    platform: Platform, release_id: str, question: str, yes: bool, act: Callable[[str], Awaitable[Release]]
) -> None:
    """Programs read the reach and the Router's view themselves: with --json the output is the Release alone."""
    if not platform.out.json:
        await show_reach(platform, release_id)
    platform.out.require_yes(yes, question, _DECLINED)
    found = await act(release_id)
    platform.out.tell(found, *_lines(found))
    if not platform.out.json:
        await show_router_learned(platform, found)


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
