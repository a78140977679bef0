"""`aop init`: makes a working Agent project from one of the templates."""

import os
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import islice
from pathlib import Path

import click
import msgspec

from aop import __version__
from aop.base import assets
from aop.base.ids import is_safe_identifier
from aop.cli.shell import options
from aop.cli.shell.card_findings import MAX_BYTES
from aop.cli.shell.destination import find_local
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.contracts.card import AgentCard
from aop.local.ports import DEVELOPMENT_PORTS, is_free
from aop.net.address_settings import ListenAddress
from aop.net.origin import Endpoint, InvalidEndpoint

_MODULE, _NAME, _TITLE, _AGENT = "my_agent", "my-agent", "My Agent", "local:my-agent"
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "å": "aa", "ł": "l"})
_MAX_PROJECTS = 200
_NOT_NAMES = sys.stdlib_module_names | {"aop", "uvicorn", "langgraph", "pydantic_ai", "tests"}


class Template(StrEnum):
    PLAIN = "plain"
    CHAT = "chat"
    LANGGRAPH = "langgraph"
    PYDANTIC_AI = "pydantic-ai"


_RUNTIMES = {
    Template.PLAIN: "plain Python",
    Template.CHAT: "plain Python",
    Template.LANGGRAPH: "LangGraph",
    Template.PYDANTIC_AI: "Pydantic AI",
}
_GREETING = """greet '{"name": "Ada", "paceMs": 300}'"""
_CALLS = {Template.CHAT: 'chat "How long is this sentence?"'}
"""What the README calls, where it is not the greeting."""


@click.argument(
    "directory", metavar="DIR", type=options.PATH, help="The folder to create; its name becomes the name of the Agent."
)
@click.option(
    "--template",
    "template_name",
    default=Template.PLAIN.value,
    type=click.Choice([one.value for one in Template]),
    help="The kind of Agent: one that takes JSON (plain), one that takes a text (chat), or one on a framework.",
)
@click.option("--owner", metavar="ID", help="The principal of your token; default: the local platform's.")
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(min=1, max=65535),
    help=f"The port to listen on; default: the next free one from {DEVELOPMENT_PORTS[0]} to {DEVELOPMENT_PORTS[-1]}.",
)
def init(out: Output, directory: Path, template_name: str, owner: str | None, port: int | None) -> None:
    """The project runs as it is with `aop dev`, passes `aop agent check`, and is ready for `aop publish`.

    The local platform allows the ports that this command chooses from. A port on which somebody listens, or that a
    project beside this one has, is not chosen.

    Example: aop init my-agent
    Example: aop init my-chat --template chat
    Example: aop init greeter --template langgraph
    """
    name, template = _name(directory), Template(template_name)
    principal = owner or _local_principal()
    if not is_safe_identifier(principal):
        raise UsageProblem("--owner is not an identifier: letters, digits and . _ : -, first a letter or digit")
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CommandProblem(f"{directory} exists and is not an empty folder; nothing was changed")
    agent_id = f"{principal}:{name}"
    if not is_safe_identifier(agent_id):
        raise UsageProblem(f"{agent_id} is longer than an Agent id may be; choose a shorter name")
    port = port or _next_port(directory)
    files = _write(directory, template, _words(name, principal, agent_id, port, template))
    endpoint = f"http://127.0.0.1:{port}/"
    made = {"directory": str(directory), "template": template, "agentId": agent_id, "endpoint": endpoint}
    out.tell(
        made | {"files": files},
        f"made {directory} with {len(files)} files: an Agent {agent_id} on {_RUNTIMES[template]}",
        "",
        "next:",
    )
    out.show(*_next_steps(directory, agent_id, endpoint, template))
    if port not in DEVELOPMENT_PORTS:
        out.note(f"the local platform refuses this port unless it is started with: aop up --allow 127.0.0.1:{port}")


def _next_port(directory: Path) -> int:
    """Free now; one that no project beside this one has, if there is such a one."""
    free = [port for port in DEVELOPMENT_PORTS if is_free(ListenAddress("127.0.0.1", port))]
    if not free:
        first, last = DEVELOPMENT_PORTS[0], DEVELOPMENT_PORTS[-1]
        raise CommandProblem(
            f"no port from {first} to {last} is free on 127.0.0.1",
            recovery="stop an Agent that you no longer need, or name another port with --port",
        )
    others = set(_ports_of(directory.absolute().parent))
    return next((port for port in free if port not in others), free[0])


def _ports_of(folder: Path) -> Iterator[int]:
    """Of the projects in this folder, as far as their Cards can be read."""
    for path in islice(folder.glob("*/card.json"), _MAX_PROJECTS):
        with suppress(OSError, msgspec.MsgspecError, InvalidEndpoint):
            if not path.is_file() or path.stat().st_size > MAX_BYTES:
                continue
            yield Endpoint.parse(msgspec.json.decode(path.read_bytes(), type=AgentCard).protocol.endpoint).port


def _name(directory: Path) -> str:
    """Letters of other alphabets in the way that people write them without: ü as ue, é as e."""
    composed = unicodedata.normalize("NFC", directory.absolute().name.lower())
    text = unicodedata.normalize("NFKD", composed.translate(_SPELLED_OUT))
    plain = "".join(letter for letter in text if not unicodedata.combining(letter))
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not name or not name[0].isalpha():
        raise UsageProblem(f"no name for an Agent can be made of {directory.name!r}: begin with a letter")
    return f"{name}-agent" if name.replace("-", "_") in _NOT_NAMES else name


def _local_principal() -> str:
    found = find_local(Path.cwd(), os.environ)  # noqa: TID251
    return "local" if found is None else found.run.principal


def _words(name: str, principal: str, agent_id: str, port: int, template: Template) -> dict[str, str]:
    """The words of a template and their replacements in a project; longer words come first."""
    return {
        '"id": "local", "displayName": "local"': f'"id": "{principal}", "displayName": "{principal}"',
        _AGENT: agent_id,
        _MODULE: name.replace("-", "_"),
        _NAME: name,
        _TITLE: name.replace("-", " ").title(),
        f"127.0.0.1:{DEVELOPMENT_PORTS[0]}": f"127.0.0.1:{port}",
        "RUNTIME": _RUNTIMES[template],
        "==VERSION": f"=={__version__}",
        _GREETING: _call(template),
    }


def _call(template: Template) -> str:
    return _CALLS.get(template, _GREETING)


def _write(directory: Path, template: Template, words: dict[str, str]) -> list[str]:
    """The plain project; files of the chosen template replace its files."""
    written = dict[str, None]()
    try:
        for source in dict.fromkeys((Template.PLAIN, template)):
            root = assets.folder("templates") / source
            for path in sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"):
                place = _replaced(str(path.relative_to(root)), words)
                target = directory / (".gitignore" if place == "gitignore" else place)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_replaced(path.read_text("utf-8"), words), "utf-8")
                written[str(target.relative_to(directory))] = None
        (directory / ".proofs").mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise CommandProblem(f"{problem.filename} cannot be written: {problem.strerror}") from problem
    return list(written)


def _replaced(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found.group()], text)


def _next_steps(directory: Path, agent_id: str, endpoint: str, template: Template) -> list[str]:
    """Each can be copied into a shell."""
    folder, card = shlex.quote(str(directory)), shlex.quote(str(directory / "card.json"))
    return [
        f"  aop dev {folder}                     # in a terminal of its own: runs, publishes and installs it",
        f"  aop invoke {agent_id} {_call(template)} --trace",
        "",
        "or step by step:",
        f"  aop agent run {folder}               # in a terminal of its own",
        f"  aop agent check {endpoint} --card {card}",
        f"  aop publish {card}",
        f"  aop install {agent_id}",
    ]
