"""`aop publish`: from a Card file to a published Release, in one command that can be repeated."""

import os
from pathlib import Path
from typing import Annotated

import typer

from aop.agent.settings import CHALLENGE_DIRECTORY
from aop.cli.card import lines_of
from aop.cli.card_findings import CardFile, read_card_file
from aop.cli.output import Output, facts, status, styled
from aop.cli.platform import Platform
from aop.cli.problems import Place, Problem
from aop.cli.publication import Proving, Publication, Say
from aop.contracts.publication import Release

_WAIT_SECONDS = 30.0


async def publish(
    platform: Platform,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The Agent Card.")] = Path("card.json"),
    provider: Annotated[
        str | None, typer.Option(metavar="ID", help="The provider id to publish under; default: the Card's owner.")
    ] = None,
    proof_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help=f"Where the Agent serves proofs from; default: {CHALLENGE_DIRECTORY}, or .proofs beside the Card.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=600,
            help="How long to wait until the Agent serves the proof; 0 does not look.",
        ),
    ] = _WAIT_SECONDS,
) -> None:
    """Register, bind, challenge, serve the proof, complete, release, publish: each step is shown when it is done.

    The Agent must be running. After any failure repeat the command: it goes on where the platform stands. With --json
    the outcome is the Release.

    Example: aop publish my-agent/card.json
    """
    read = read_card_file(file)
    if read.card is None:
        raise _broken(platform.out, read)
    proving = Proving(proof_dir or _usual_folder(file), wait)
    publication = Publication(platform, read, read.card, provider or read.card.owner.id, proving, _teller(platform.out))
    await _tell(platform, await publication.run())


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


def _broken(out: Output, read: CardFile) -> Problem:
    out.note(*lines_of(read))
    problem = Problem(f"{read.path} breaks the rules of an Agent Card", code="VALIDATION_ERROR", recovery="mend it")
    if out.json:  # people have just seen them, with their lines
        problem.violations = [Place(found.pointer, found.rule) for found in read.problems]
    return problem


def _usual_folder(file: Path) -> Path | None:
    named = os.environ.get(CHALLENGE_DIRECTORY)  # noqa: TID251
    beside = file.absolute().parent / ".proofs"
    return Path(named) if named else beside if beside.is_dir() else None


def _teller(out: Output) -> Say:
    def say(step: str, text: str) -> None:
        out.show(styled((f"{step:<11}", "green"), text))

    return say
