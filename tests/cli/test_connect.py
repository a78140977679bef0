"""`aop connect`: every snippet is a text that works as pasted, with real addresses and without a token."""

import json
import re
import tomllib

import pytest

from aop.cli.shell import snippets
from aop.cli.shell.snippets import Callee, ExampleCall
from tests.cli.conftest import Aop, Stack

pytestmark = pytest.mark.second_ring

NAMES = [snippet.name for snippet in snippets.table().snippets]
DOOR = "https://door.example"
TOKEN = re.compile(r"aop_[0-9A-Za-z_-]{20}|[?&#](token|key)=")


def test_the_list_has_every_address_and_a_name_for_each_program(aop: Aop, stack: Stack) -> None:
    listed = aop("connect", "--json", "--door", DOOR).json
    assert listed["gateway"] == stack.run["gateway"]
    assert listed["mcp"] == f"{DOOR}/mcp/demo"
    assert {"agentId": "aop:summarizer", "a2a": f"{DOOR}/a2a/demo/aop:summarizer"} in listed["agents"]
    assert [one["name"] for one in listed["snippets"]] == NAMES
    for_people = aop("connect", "--door", DOOR)
    assert all(name in for_people.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_snippet_alone_is_on_stdout_and_holds_no_token(aop: Aop, stack: Stack, name: str) -> None:
    done = aop("connect", "aop:summarizer", "--for", name, "--door", DOOR)
    assert done.code == 0, done.err
    assert stack.token not in done.out + done.err
    assert TOKEN.search(done.out) is None
    assert "{{" not in done.out
    said = aop("connect", "aop:summarizer", "--for", name, "--door", DOOR, "--json").json
    assert said["code"] == done.out.rstrip("\n")
    assert said["token"] in " ".join(done.err.split("\n"))
    snippet = next(one for one in snippets.table().snippets if one.name == name)
    assert said["language"] == snippet.language
    if snippet.language == "json":
        json.loads(said["code"])
    elif snippet.language == "toml":
        tomllib.loads(said["code"])
    elif snippet.language == "py":
        compile(said["code"], name, "exec")


def test_a_host_starts_the_command_of_this_machine_on_this_data_folder(aop: Aop, stack: Stack) -> None:
    (server,) = json.loads(aop("connect", "--for", "claude-desktop").out)["mcpServers"].values()
    assert server["args"][-5:] == ["mcp", "--data", str(stack.platform.data), "--workspace", "demo"]


def test_with_a_profile_the_command_names_it_and_the_door_was_kept_with_it(alone: Aop, stack: Stack) -> None:
    options = ("--gateway", stack.run["gateway"], "--profile", "work")
    assert alone("login", *options, "--door", DOOR, stdin=stack.token).code == 0
    listed = alone("connect", "--json", "--workspace", "demo").json
    assert listed["mcp"] == f"{DOOR}/mcp/demo"
    (server,) = json.loads(alone("connect", "--for", "vscode", "--workspace", "demo").out)["servers"].values()
    assert server["args"][-5:] == ["mcp", "--profile", "work", "--workspace", "demo"]
    assert alone("login", *options, stdin=stack.token).code == 0
    assert alone("connect", "--json", "--workspace", "demo").json["door"] == DOOR


def test_what_calls_the_door_is_refused_where_none_is_known(alone: Aop, stack: Stack) -> None:
    settings = {"AOP_GATEWAY": stack.run["gateway"], "AOP_TOKEN": stack.token, "AOP_WORKSPACE": "demo"}
    refused = alone("connect", "--for", "cursor-http", "--json", **settings)
    assert (refused.code, refused.error["code"]) == (1, "not_configured")
    assert refused.out == ""
    assert alone("connect", "--for", "cursor-http", **settings, AOP_DOOR=DOOR).code == 0
    wrong = alone("connect", "--json", **settings, AOP_DOOR="door.example")
    assert (wrong.code, wrong.error["code"]) == (2, "usage")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--for", "a-program-nobody-has"), "usage", "claude-desktop"),
        (("aop:no-such-agent", "--for", "curl"), "AGENT_NOT_INSTALLED", "aop install"),
        (("aop:summarizer", "--for", "curl", "--skill", "no-such-skill"), "usage", "rank-sentences"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_those_that_are(
    aop: Aop, arguments: tuple[str, ...], code: str, said: str
) -> None:
    refused = aop("connect", *arguments, "--json")
    assert refused.code != 0
    assert refused.error["code"] == code
    assert said in refused.error["recovery"]


def test_an_input_keeps_its_value_in_every_language() -> None:
    value = {"text": 'it\'s \\ "quoted"\n\u202e$(x) `y` {{z}}', "n": 1.5}
    call = ExampleCall("aop:a", "say", json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(), True)
    values = Callee("http://127.0.0.1:8080", "demo", ("aop",), call=call).values()
    assert json.loads(str(values["input"])) == value
    assert json.loads(str(values["call"])) == {
        "agentId": "aop:a",
        "capability": "say",
        "stream": False,
        "input": value,
    }
    assert "\u202e" not in str(values["input"])
    for text in (values["input"], '{"t": "a \\\\ \\"b\\" \\n"}', "it's", "plain", '\\"'):
        python = snippets.filled("{{input|py}}", {"input": text})
        assert eval(python) == text  # noqa: S307  a text of this test, as Python reads it
