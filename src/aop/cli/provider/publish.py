"""`aop publish`: from a Card file to a published Release, in one command that can be repeated."""

import os
from pathlib import Path

import click

from aop.agent.guard.settings import CHALLENGE_DIRECTORY
from aop.cli.provider.card import lines_of
from aop.cli.provider.publish_probe import ProbeChoices, PublishProbe
from aop.cli.provider.publish_progress import PublishProgress
from aop.cli.shell import options
from aop.cli.shell.card_findings import CardFile, read_card_file
from aop.cli.shell.card_version import (
    VersionPart,
    raise_version,
    require_own_path,
    save_other_versions,
    version_in_path,
)
from aop.cli.shell.output import Output, facts, status
from aop.cli.shell.platform import Platform
from aop.cli.shell.problems import CommandProblem
from aop.client import proof_folder
from aop.contracts.card import AgentCard
from aop.contracts.errors import Violation
from aop.contracts.publication import Release

_WAIT_SECONDS = 30.0


@options.card_file
@click.option("--provider", metavar="ID", help="The provider id to publish under; default: the Card's owner.")
@click.option(
    "--proof-dir",
    metavar="DIR",
    type=options.PATH,
    help=f"Where the Agent serves proofs from; default: {CHALLENGE_DIRECTORY}, or .proofs beside the Card.",
)
@click.option(
    "--wait",
    metavar="SECONDS",
    default=_WAIT_SECONDS,
    type=click.FloatRange(min=0, max=600),
    help="How long to wait until the Agent answers, and until it serves the proof; 0 does not wait.",
)
@click.option(
    "--bump",
    metavar="PART",
    type=click.Choice([part.value for part in VersionPart]),
    help="Raise this part of the Card's version first, in its file: patch, minor or major.",
)
@click.option(
    "--force", is_flag=True, help="Publish although the Agent differs from the Card, or does not answer here."
)
@click.option(
    "--report", metavar="FILE", type=options.PATH, help="Write what the Agent says of itself to this file of yours."
)
async def publish(  # noqa: PLR0913, PLR0917  a command's options are its parameters
    platform: Platform,
    file: Path,
    provider: str | None,
    proof_dir: Path | None,
    wait: float,
    bump: str | None,
    force: bool,
    report: Path | None,
) -> None:
    """Register, bind, challenge, serve the proof, complete, release, publish: each step is shown when it is done.

    The Agent must be running. Before anything is sent, it is asked for its agent card and compared with the Card:
    version of A2A, streaming, Skills, authentication. A difference that makes calls fail is shown with the way out and
    stops the command, and so does an Agent that does not answer; --force goes on. The platform neither stores nor shows
    this result. An address that the local platform does not call is refused too.

    After any failure repeat the command: it continues from what is done already. With --json the output is the Release.

    A published version never changes. --bump writes the next one into the Card file; one not published yet stays.
    In front of an Agent, `aop front` serves the new version at once and goes on with those before it.

    Example: aop publish my-agent/card.json
    Example: aop publish my-agent/card.json --bump minor
    """
    read, card = _read(platform.out, file)
    folder = proof_dir or _usual_folder(file)
    provider_id = provider or card.owner.id
    probing, read, card = await _compared(platform, read, card, bump, ProbeChoices(force, report, wait))
    progress = PublishProgress(platform, read, card, provider_id, folder)

    with progress.explained(probing.other_agent):
        release = await platform.client.publish(
            read.raw,
            proofs=proof_folder(folder) if folder is not None and folder.is_dir() else None,
            provider_id=provider_id,
            wait_seconds=probing.patience(wait),
            on_step=progress.show,
        )
    await _tell(platform, release)


async def _compared(
    platform: Platform, read: CardFile, card: AgentCard, bump: str | None, choices: ProbeChoices
) -> tuple[PublishProbe, CardFile, AgentCard]:
    """The Card with the version to publish, after the Agent has answered as it says."""
    # A front serves each version at a path of its own, so it is asked for the new one. Others answer for every version.
    own_path = version_in_path(card) is not None
    if bump is not None and own_path:
        read, card = await raise_version(platform, read, card, VersionPart(bump))
    if own_path:
        require_own_path(read, card)
        await save_other_versions(platform, read, card)
    probing = PublishProbe(platform.out, card, choices, platform.destination)
    await probing.before_publishing(own_path=own_path)
    if bump is not None and not own_path:
        read, card = await raise_version(platform, read, card, VersionPart(bump))
    return probing, read, card


async def _tell(platform: Platform, release: Release) -> None:
    overview = await platform.client.read_agent_overview(release.agent_id, limit=1)
    platform.out.tell(
        release,
        "",
        *facts(
            ("agent", f"{release.agent_id} {release.version}"),
            ("state", status(release.state)),
            ("release", release.release_id),
            ("public link", overview.public_url),
            ("next", f"aop install {release.agent_id}"),
        ),
    )


def _read(out: Output, file: Path) -> tuple[CardFile, AgentCard]:
    read = read_card_file(file)
    if read.card is not None:
        return read, read.card
    out.note(*lines_of(read))
    problem = CommandProblem(
        f"{read.path} breaks the rules of an Agent Card", code="VALIDATION_ERROR", recovery="correct the Card"
    )
    if out.json:  # people have just seen them, with their lines
        problem.violations = [Violation(found.pointer, found.rule) for found in read.problems]
    raise problem


def _usual_folder(file: Path) -> Path | None:
    named = os.environ.get(CHALLENGE_DIRECTORY)  # noqa: TID251
    beside = file.absolute().parent / ".proofs"
    return Path(named) if named else beside if beside.is_dir() else None
