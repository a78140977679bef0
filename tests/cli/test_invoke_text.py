"""`aop invoke AGENT SKILL "plain text"`: a text and an object are told apart, with an Agent of `--template chat`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Aop, Stack
from tests.cli.programs import ended, program, wait_serving
from tools.agent_env import agent_python

pytestmark = pytest.mark.second_ring

CHAT = "local:my-chat"


@pytest.fixture(scope="module")
def chat(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chat")
    project, log, data = folder / "my-chat", folder / "log", stack.platform.data

    def run(*arguments: str) -> None:
        done = ended(*arguments, data=data, folder=folder)
        assert done.returncode == 0, done.stderr

    run("init", str(project), "--template", "chat", "--port", str(stack.chat_port))
    python = str(agent_python("summarizer"))
    with program("agent", "run", str(project), "--python", python, data=data, log=log) as process:
        wait_serving(stack.chat_port, process, log)
        run("publish", str(project / "card.json"))
        run("install", CHAT, "-w", "demo", "--yes")
        yield CHAT


@pytest.mark.rows("FOR-03")
def test_a_text_is_sent_as_it_is_and_read_as_text(aop: Aop, chat: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear reader,\ngood day")
    two_words = "You wrote 2 words with 11 characters. The longest is Hello"
    for arguments, stdin, answer in [
        ((chat, "chat", "Hello there"), None, two_words),
        ((chat, "Hello there"), None, two_words),
        ((chat, "chat", "-"), "Hello there", two_words),
        ((chat, "chat"), "Hello there", two_words),
        ((chat, "chat", "Hello there", "--stream"), None, two_words),
        ((chat, "Hello", "--text"), None, "You wrote 1 word with 5 characters. The longest is Hello"),
        ((chat, "chat", "@letter.txt"), None, "You wrote 4 words with 21 characters. The longest is reader,"),
        ((chat, "chat", '"Hello" is it?'), None, 'You asked 3 words with 14 characters. The longest is "Hello"'),
        ((chat, "chat", "{braces}", "--text"), None, "You wrote 1 word with 8 characters. The longest is {braces}"),
        ((chat, "--example"), None, "You asked 5 words with 26 characters. The longest is sentence?"),
    ]:
        done = aop("invoke", *arguments, "-w", "demo", stdin=stdin)
        assert (done.code, done.out.strip()) == (0, answer), (arguments, done.err)


@pytest.mark.rows("FOR-03")
def test_an_object_is_refused_by_a_skill_that_takes_a_text_and_the_other_way(aop: Aop, chat: str) -> None:
    for arguments in [(chat, "chat", '{"text": "Hello"}'), ("aop:summarizer", "summarize", "[1]")]:
        refused = aop("invoke", *arguments, "-w", "demo", "--json").error
        (place,) = refused["violations"]
        assert (refused["code"], place["pointer"], place["rule"]) == ("VALIDATION_ERROR", "/input", "type")


def test_nothing_and_what_is_no_text_are_told_and_not_sent(aop: Aop, chat: str, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\xff\xd8")
    assert "an input is needed" in aop("invoke", chat, "chat", "-w", "demo", stdin="").err
    assert "UTF-8" in aop("invoke", chat, "chat", "@image", "-w", "demo").err
