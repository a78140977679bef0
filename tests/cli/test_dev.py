"""`aop dev`: the Agent follows its code, the platform its Card, and what is broken changes nothing."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Awaitable, Iterator
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager
from pathlib import Path

import pytest

from aop.cli.provider.dev_changes import PROGRAM, changes_of
from aop.cli.provider.dev_process import _readable
from aop.local.ports import is_free
from aop.net.address_settings import ListenAddress
from tests.cli.conftest import Aop, Stack
from tests.cli.developed import Developed, new_project
from tests.cli.terminal import CTRL_C, Answers, at_terminal
from tests.support.waiting import PATIENCE_SECONDS, patience

pytestmark = pytest.mark.second_ring

Process = subprocess.Popen[bytes]


@contextmanager
def under_nohup(starting: AbstractContextManager[Process]) -> Iterator[Process]:
    """What is started ignores the end of its terminal, as under the command of this name."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ExitStack() as end:
        try:
            process = end.enter_context(starting)
        finally:
            signal.signal(signal.SIGHUP, before)
        yield process


@pytest.fixture
def developed(aop: Aop, stack: Stack, workspace: str, tmp_path: Path) -> Developed:
    return new_project(aop, stack, workspace, tmp_path)


def test_code_restarts_the_agent_and_a_changed_card_moves_the_workspace(developed: Developed, stack: Stack) -> None:
    one, data = developed, stack.platform.data
    module = one.folder.name.replace("-", "_")
    skills = (one.folder / module / "skills.py").read_text()
    with under_nohup(one.running("--yes", data=data)) as process:
        one.wait(f"{one.agent_id} 1.0.0-dev.1 is published and installed in the Workspace {one.workspace}")
        process.send_signal(signal.SIGHUP)
        assert one.greeting() == "Hello, Ada! How good to see you."
        one.wait("call   greet succeeded")
        second = one.aop(*one.command)
        assert (second.code, "another `aop dev` works on" in second.err) == (1, True)

        one.save(f"{module}/skills.py", "this is no Python\n")
        one.wait("SyntaxError")
        one.wait("waiting for the next save")
        one.save(f"{module}/skills.py", skills.replace("Hello", "Welcome").replace("yield f", "1 / len(word); yield f"))
        one.wait(" serves http://", times=2)
        assert one.greeting() == "Welcome, Ada! How good to see you."
        assert one.versions() == {"1.0.0-dev.1": "published"}

        one.save("card.json", json.dumps(one.card)[:-1])
        one.wait("the changed Card is not used; what ran before goes on")
        assert one.greeting().startswith("Welcome")
        one.save("card.json", (one.folder / "card.json").read_text() + ', "colour": "red"}')
        one.wait("/colour")
        card = {name: value for name, value in one.card.items() if name != "colour"}
        one.save("card.json", json.dumps(card | {"description": "Welcomes people."}))
        one.wait(f"1.0.0-dev.2 is published and takes the place of 1.0.0-dev.1 in the Workspace {one.workspace}")
        assert one.versions() == {"1.0.0-dev.2": "published", "1.0.0-dev.1": "disabled"}
        assert (one.greeting()[:7], one.installed(), one.card["version"]) == ("Welcome", "1.0.0-dev.2", "1.0.0")

        (one.folder / ".proofs").rmdir()
        (one.folder / ".proofs").touch()
        one.save(f"{module}/skills.py", skills)
        one.wait("this change was not brought: FileExistsError")
        (one.folder / ".proofs").unlink()
        one.save(f"{module}/skills.py", skills.replace("Hello", "Again"))
        one.wait(" serves http://", times=4)
        for _ in range(2):  # whoever is impatient
            process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 0
    assert "keeps what was installed" in one.log.read_text()
    assert is_free(ListenAddress("127.0.0.1", one.port))
    assert not list((one.folder / ".proofs").iterdir())


@pytest.mark.long
def test_a_failing_call_is_told_with_its_reason_and_its_place_in_the_code(developed: Developed, stack: Stack) -> None:
    one = developed
    skills = one.folder / one.folder.name.replace("-", "_") / "skills.py"
    skills.write_text(skills.read_text().replace("person['name']", "person['nobody']"))
    with one.running("--yes", data=stack.platform.data):
        one.wait("is published and installed")
        assert "AGENT_EXECUTION_FAILED" in one.greeting()
        one.wait("agent  greet failed: KeyError at skills.py:")
        one.wait("call   greet failed AGENT_EXECUTION_FAILED")
        one.wait("what to do")


@pytest.mark.long
def test_a_published_version_is_used_as_it_is_and_stays_when_the_card_changes(
    developed: Developed, stack: Stack
) -> None:
    one, data = developed, stack.platform.data
    with one.running("--yes", data=data):
        one.wait("is published and installed")
        assert one.aop("publish", str(one.folder / "card.json")).code == 0
        assert one.aop("upgrade", one.agent_id, "-w", one.workspace, "--yes").code == 0
    assert one.installed() == "1.0.0"
    with one.running(data=data):
        one.wait(f"the Workspace {one.workspace} has this Card: {one.agent_id} 1.0.0\n")
        one.save("card.json", json.dumps(one.card | {"name": "Another Name"}))
        one.wait("1.0.0-dev.2 is published and takes the place of 1.0.0 in")
    assert one.versions()["1.0.0"] == "published"
    newest = one.aop("upgrade", one.agent_id, "-w", one.workspace, "--yes")
    assert "is the newest installable version" not in newest.out + newest.err, "1.0.0 is above its development version"
    assert one.installed() == "1.0.0"


@pytest.mark.long
def test_new_permissions_are_accepted_by_a_person_or_not_at_all(developed: Developed, stack: Stack) -> None:
    one, data = developed, stack.platform.data
    with one.running(data=data):
        one.wait("asks for names.read, which was not accepted; nothing was published")
        one.wait("waiting for the next save")
    assert one.aop("agent", "show", one.agent_id).code == 1
    # A save is seen while the question waits, and another Card is another question.
    asked: Answers = {
        "Accept names.read for": lambda: one.ask_for("mail.send"),
        "Accept names.read, mail.send for": "perhaps\ny\n",
        "is published and installed": CTRL_C,
    }
    session = at_terminal(*one.command, answers=asked, folder=one.folder.parent, data=data)
    assert (session.code, one.installed(), session.screen.count("then Enter.")) == (0, "1.0.0-dev.1", 3)
    one.ask_for("files.read")
    refused = {"Accept files.read": "n\n", "waiting for the next save": CTRL_C}
    session = at_terminal(*one.command, answers=refused, folder=one.folder.parent, data=data)
    assert (session.code, one.installed()) == (0, "1.0.0-dev.1")


def test_it_is_refused_where_others_would_see_it_and_where_nothing_runs(alone: Aop) -> None:
    assert alone("init", "one").code == 0
    remote = {"AOP_GATEWAY": "http://192.0.2.1:8080", "AOP_TOKEN": "none"}
    done = alone("dev", "one", "-w", "demo", **remote)
    assert (done.code, "is not on this machine" in done.err, "--remote" in done.err) == (1, True, True)
    nobody = alone("dev", "one")
    assert (nobody.code, "no local platform runs nearby" in nobody.err, "aop up" in nobody.err) == (1, True, True)
    empty = alone("dev", "-w", "demo", AOP_GATEWAY="http://127.0.0.1:9", AOP_TOKEN="none")
    assert (empty.code, "has no card.json" in empty.err) == (1, True)


async def test_many_saves_at_once_are_one_change_and_what_is_no_work_is_none(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "notes.txt"):
        (tmp_path / name).write_text("1")
    left_out = ("notes.txt", ".hidden.py", ".venv/x.py", "__pycache__/y.py", "venv/z.py", "venv/pyvenv.cfg")
    async with aclosing(changes_of(tmp_path, PROGRAM)) as changes, patience():
        following = await begun(anext(changes))
        for number in range(3):
            (tmp_path / "a.py").write_text("1" * (number + 2))
        (tmp_path / "b.py").unlink()
        for name in left_out:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text("22")
        assert await following == {tmp_path / "a.py", tmp_path / "b.py"}
        following = await begun(anext(changes))
        for name in left_out:
            (tmp_path / name).write_text("333")
        assert not (await asyncio.wait({following}, timeout=1))[0]
        renamed = tmp_path / ".a.py.swp"
        renamed.write_text("1" * 4)
        renamed.replace(tmp_path / "a.py")
        assert await following == {tmp_path / "a.py"}


def test_a_deeply_nested_line_of_the_agent_is_shown_as_it_is() -> None:
    text = _readable(b'{"x":' + b"[" * 100_000 + b"\n")
    assert text is not None
    assert text.startswith('{"x":[[[')


async def begun(waiting: Awaitable[frozenset[Path]]) -> asyncio.Future[frozenset[Path]]:
    """It watches from now on."""
    future = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    return future
