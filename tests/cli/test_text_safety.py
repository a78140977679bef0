"""What others wrote never acts on a terminal: every command of the tree, at a terminal, in a pipe and as JSON."""

import ast
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from aop.cli.commands import COMMANDS
from aop.contracts.text import MARK
from tests.cli.conftest import Aop, Greeter, Stack
from tests.cli.hostile_text import EVIL, FORGED_LINE, TURNS, hidden_in, hostile
from tests.cli.programs import ended
from tests.cli.terminal import at_terminal

pytestmark = [pytest.mark.rows("SAFE-10"), pytest.mark.second_ring]

# Commands that run until they are stopped: what they write is tested with the units and with `aop up`.
_SERVING = {"up", "control-plane", "console", "door"}


@dataclass(frozen=True)
class Hostile:
    """An installed Agent whose Card is hostile, and an Invocation of it whose input and result were."""

    file: str
    agent: str
    release: str
    invocation: str
    folder: Path


@pytest.fixture(scope="module")
def agent(stack: Stack, greeter: Greeter, tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    card = hostile(json.loads((greeter.project / "card.json").read_text()))
    newer = {**card, "version": "1.1.0", "description": f"Changed{EVIL}"}
    (file, agent_id) = greeter.card(**{name: value for name, value in card.items() if name != "agentId"})
    later, _ = greeter.card(**{**newer, "agentId": agent_id})

    def run(*arguments: str) -> dict[str, str]:
        done = ended(*arguments, "--json", data=stack.platform.data, folder=folder)
        assert done.returncode == 0, done.stderr
        found: dict[str, str] = json.loads(done.stdout)
        return found

    release = run("publish", file)["releaseId"]
    run("publish", later)
    run("install", agent_id, "-w", "demo", "--yes")
    result = run("invoke", agent_id, "greet", json.dumps({"name": EVIL}), "-w", "demo")
    return Hostile(later, agent_id, release, result["invocationId"], folder)


def calls(agent: Hostile, stack: Stack) -> dict[str, list[tuple[str, ...]]]:
    """For every command of the tree, how it comes to show what others wrote. The last ones take the Agent away."""
    data, evil_path = ("--data", str(stack.platform.data)), str(agent.folder / f"no{EVIL}")
    missing, greet = f"{evil_path}-missing", json.dumps({"name": EVIL})
    work, text = ("-w", "demo"), json.dumps({"text": f"One.{EVIL} Two is longer. Three {EVIL} is the longest of all."})
    return {
        **{name: [(f"--profile={EVIL}",), ()] for name in ("status", "open")},
        "login": [("--gateway", f"http://127.0.0.1:9/{EVIL}"), ("--browser", "--console", EVIL)],
        "logout": [(f"--profile={EVIL}",)],
        **{name: [(EVIL,)] for name in ("profiles", "workspace create", "workspace use")},
        **{name: [()] for name in ("workspace list", "agent list")},
        **{f"workspace callers {act}": [(EVIL, *work), ("bob", *work)] for act in ("add", "remove")},
        "workspace callers list": [("--all", *work), ("-w", EVIL)],
        "init": [(evil_path,), (evil_path, "--template", EVIL)],
        "card check": [(agent.file,), (missing,), (_broken_card(agent),)],
        "card from-a2a": [(_agent_card(agent), "--out", f"{evil_path}.json", "--yes", "--owner", "a", "--agent", "b")],
        **{name: [(missing,)] for name in ("agent run", "agent check", "dev")},
        "agent show": [(agent.agent,), (agent.agent, "--diff", "1.0.0", "1.1.0"), (agent.agent, "--version", EVIL)],
        "publish": [(agent.file,), (_broken_card(agent),)],
        "release list": [("--agent", agent.agent), ("--agent", EVIL)],
        "release show": [(agent.release,), (EVIL,)],
        "search": [("Name",), (EVIL,)],
        "install": [(agent.agent, *work), (agent.agent, *work, "--yes"), (agent.agent, *work, "--accept", EVIL)],
        "upgrade": [work, (agent.agent, *work), (EVIL, *work), (agent.agent, "--to", EVIL, *work)],
        **{name: [work, ("-w", EVIL)] for name in ("installations", "figures")},
        "disable": [(agent.agent, *work), (EVIL, *work)],
        "enable": [(agent.agent, *work), (EVIL, *work)],
        "invoke": [
            (agent.agent, "greet", greet, *work),
            (agent.agent, "greet", greet, "--stream", "--trace", *work),
            (agent.agent, "greet", json.dumps({"name": EVIL, EVIL: 1}), *work),
            ("aop:summarizer", "rank-sentences", text, *work),
            (agent.agent, EVIL, "{}", *work),
        ],
        "connect": [(agent.agent, *work), (EVIL, *work), (agent.agent, "--for", "curl", *work), ("--for", EVIL)],
        "demo": [("-w", EVIL)],
        "mcp": [(f"--profile={EVIL}",), ("--workspace", EVIL)],
        **_calls_that_read(agent, work),
        "share": [(agent.agent,), (EVIL,)],
        "front": [("--to", EVIL)],
        **_calls_of_operators(data, agent.folder),
        "release suspend": [(EVIL, "--yes"), (agent.release, "--yes")],
        "release revoke": [(EVIL, "--yes"), (agent.release, "--yes")],
        "uninstall": [(EVIL, *work), (agent.agent, *work)],
    }


def _calls_that_read(agent: Hostile, work: tuple[str, ...]) -> dict[str, list[tuple[str, ...]]]:
    position = str(agent.folder / EVIL)
    return {
        "invocations": [work, (agent.invocation, *work), ("--agent", EVIL, *work)],
        "traces": [work, ("--agent", EVIL, *work), ("--error", EVIL, *work), ("--reason", EVIL, *work)],
        "trace": [(EVIL, *work), ("--last", *work)],
        "bundle": [(EVIL, *work), (agent.invocation, *work)],
        "verify": [(EVIL,), (agent.file, "--head", EVIL)],
        "ledger follow": [("--end", *work), ("--end", "-w", EVIL), ("--end", "--position", position, *work)],
    }


def _calls_of_operators(data: tuple[str, str], folder: Path) -> dict[str, list[tuple[str, ...]]]:
    return {
        "migrate": [()],
        "token create": [("--principal", "eve", "--label", EVIL, *data)],
        "token list": [data, ("--mine",)],
        "token revoke": [(EVIL, *data), (EVIL, "--mine")],
        "ledger check": [("--since", EVIL, *data), data],
        "ledger recount": [data],
        "ledger head": [data],
        "ledger consistency": [(EVIL, *data)],
        "ledger prove": [(EVIL, *data)],
        "ledger watch": [(str(folder / EVIL), *data)],
        "ledger watch-key": [(EVIL, str(folder / EVIL))],
        "ledger export": [("--before", EVIL, "--to", str(folder), *data)],
        "ledger verify": [(EVIL, *data)],
        "ledger detach": [("--before", EVIL, "--from", str(folder), *data)],
        "router close": [("--router-id", EVIL, *data)],
    }


def _broken_card(agent: Hostile) -> str:
    path = agent.folder / "broken.json"
    path.write_text(json.dumps({**json.loads(Path(agent.file).read_text()), EVIL: EVIL}))
    return str(path)


def _agent_card(agent: Hostile) -> str:
    path = agent.folder / "agent-card.json"
    skill = {"id": EVIL, "name": EVIL, "inputModes": [EVIL]}
    path.write_text(json.dumps({"url": EVIL, "name": EVIL, "version": EVIL, "capabilities": {}, "skills": [skill]}))
    return str(path)


def test_no_command_of_the_tree_lets_it_through(agent: Hostile, stack: Stack, aop: Aop, tmp_path: Path) -> None:
    known = calls(agent, stack)
    assert set(known) | _SERVING == {entry.name for entry in COMMANDS}, "a new command is called here as well"
    shown_marks = set()
    for name, forms in known.items():
        for arguments in forms:
            words = (*name.split(), *arguments)
            for done in (aop(*words), *([aop(*words, "--json")] if name != "agent run" else [])):
                assert hidden_in(done.out + done.err) == [], words
                if MARK in done.out + done.err:
                    shown_marks.add(name)
    assert {"agent show", "agent list", "search", "invoke", "publish", "share"} <= shown_marks
    assert {"token list", "card check"} <= shown_marks


@pytest.mark.long
def test_nor_at_a_terminal(agent: Hostile, stack: Stack, tmp_path: Path) -> None:
    for name, forms in calls(agent, stack).items():
        answers = {"[y/N]": "n\n", "Access token": f"{stack.token}\n"}
        words = (*name.split(), *forms[0])
        screen = at_terminal(*words, answers=answers, folder=tmp_path, data=stack.platform.data).screen
        assert hidden_in(screen) == [], words


def test_the_consent_shows_marks_and_no_line_of_the_cards_making(agent: Hostile, stack: Stack, tmp_path: Path) -> None:
    arguments = ("install", agent.agent, "-w", "demo")
    asked = at_terminal(*arguments, answers={"[y/N]": "n\n"}, folder=tmp_path, data=stack.platform.data).screen
    assert f"Name{MARK}" in asked
    assert f"Owner{MARK}" in asked
    assert f"Meaning{MARK}" in asked
    shown = at_terminal("agent", "show", agent.agent, folder=tmp_path, data=stack.platform.data, NO_COLOR="1").screen
    assert not [line for line in shown.splitlines() if line.startswith(FORGED_LINE.strip())]


def test_json_keeps_every_character_as_an_escape(agent: Hostile, aop: Aop) -> None:
    aop("install", agent.agent, "-w", "demo", "--yes")  # unless it is
    text = aop("invoke", agent.agent, "greet", json.dumps({"name": EVIL}), "-w", "demo", "--json").out
    assert "\\u202e" in text
    assert TURNS in json.loads(text)["result"]
    (entry, _) = aop("agent", "show", agent.agent, "--json").json["versions"]
    assert entry["card"]["description"] == f"Changed{EVIL}"


@pytest.fixture
def hostile_server() -> Iterator[str]:
    """Answers everything with an error whose every text is hostile."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            error = {"code": "NOT_FOUND", "message": f"gone{EVIL}", "traceId": "1" * 32, "schemaVersion": "2"}
            body = json.dumps({"error": error, **error}).encode()
            self.send_response(404, "gone\x1b[8m")
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_error_of_a_server_is_cleaned(hostile_server: str, alone: Aop, stack: Stack) -> None:
    for arguments in (("search",), ("search", "--json"), ("agent", "show", "a"), ("status",)):
        done = alone(*arguments, AOP_GATEWAY=hostile_server, AOP_TOKEN=stack.token)
        assert done.code in {1, 3}
        assert hidden_in(done.out + done.err) == []


# The verifier also runs alone, and writes sentences of its own.
_WRITERS = {"cli/shell/output.py", "cli/shell/asking.py", "local/terminal.py", "cli/shell/verify_bundle.py"}
_BANNED_NAMES = {"print", "Text", "Console"}
_BANNED_MEMBERS = {("click", "echo"), ("click", "secho"), ("click", "confirm"), ("click", "prompt"), ("click", "style")}
_BANNED_MEMBERS |= {("stdout", "write"), ("stderr", "write"), ("getpass", "getpass"), ("os", "write")}


@pytest.mark.parametrize("folder", ["cli", "local"])
def test_nothing_is_written_around_the_one_place(folder: str) -> None:
    source = Path(__file__).parents[2] / "src" / "aop"
    found = [
        f"{path.relative_to(source)}:{node.lineno}"
        for path in (source / folder).rglob("*.py")
        if str(path.relative_to(source)) not in _WRITERS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.stmt | ast.expr) and _writes(node)
    ]
    assert found == []


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom | ast.Import):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
        taken = {("click", name.name) for name in node.names} if modules[0].partition(".")[0] == "click" else set()
        return any(module.partition(".")[0] == "rich" for module in modules) or bool(taken & _BANNED_MEMBERS)
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    if isinstance(called, ast.Name):
        return called.id in _BANNED_NAMES
    return isinstance(called, ast.Attribute) and (_last(called.value), called.attr) in _BANNED_MEMBERS


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
