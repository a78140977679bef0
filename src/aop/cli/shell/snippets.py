"""The snippets of the folder `connect`: ready texts for other programs, with the addresses of a platform filled in."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from aop.base import assets
from aop.contracts.text import escaped

Value = str | bool | Sequence[str]

_PART = re.compile(r"^\{\{([#^])(\w+)\}\}\n(.*?)^\{\{/\2\}\}\n", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)(?:\|(\w+))?\}\}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NOT_IN_IDENTIFIERS = re.compile(r"\W", re.ASCII)


class Group(msgspec.Struct, frozen=True):
    name: str
    label: str


class Snippet(msgspec.Struct, frozen=True):
    """One row of the table."""

    name: str
    label: str
    group: str
    speaks: str
    file: str
    needs: tuple[str, ...]
    token: str
    install: str | None = None
    place: str | None = None
    after: str | None = None

    @property
    def language(self) -> str:
        return self.file.rpartition(".")[2]


class SnippetTable(msgspec.Struct, frozen=True):
    groups: tuple[Group, ...]
    token: dict[str, str]
    """How a program comes to its access token, by the word that a snippet has for it."""
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True)
class ExampleCall:
    """A Skill of an installed Agent with an input, which is JSON without blanks."""

    agent: str
    skill: str
    input: bytes
    streaming: bool


@dataclass(frozen=True)
class Callee:
    """What is called, and where; without a door, only what the Gateway offers."""

    gateway: str
    workspace: str
    command: tuple[str, ...]
    """Serves MCP on stdio."""
    door: str | None = None
    call: ExampleCall | None = None

    @property
    def offers(self) -> frozenset[str]:
        """What snippets may need."""
        found = {"door": self.door, "agent": self.call}
        return frozenset(name for name, value in found.items() if value is not None)

    def values(self) -> dict[str, Value]:
        found: dict[str, Value] = {
            "gateway": self.gateway,
            "workspace": self.workspace,
            "server": "aop-" + _NOT_IN_NAMES.sub("-", self.workspace),
            "program": self.command[0],
            "arguments": self.command[1:],
            "invocationsUrl": f"{self.gateway}/v1/workspaces/{self.workspace}/invocations",
        }
        if self.door is not None:
            found["mcpUrl"] = f"{self.door}/mcp/{self.workspace}"
        if self.call is not None:
            found |= _call_values(self.call)
        if self.call is not None and (address := self.a2a_url(self.call.agent)) is not None:
            found["a2aUrl"] = address
        return found

    def a2a_url(self, agent: str) -> str | None:
        return None if self.door is None else f"{self.door}/a2a/{self.workspace}/{agent}"


@cache
def table() -> SnippetTable:
    return msgspec.json.decode((assets.folder("connect") / "table.json").read_bytes(), type=SnippetTable)


def rendered(snippet: Snippet, callee: Callee) -> str:
    """The snippet with the values of this platform. It must offer what the snippet needs."""
    template = (assets.folder("connect") / f"{snippet.file}.tmpl").read_text("utf-8")
    return filled(template, callee.values()).rstrip("\n")


def token_text(snippet: Snippet, callee: Callee, *, local: bool) -> str:
    """How the program comes to its token. A local platform has it in its data folder."""
    kind = "data" if local and snippet.token == "profile" else snippet.token  # noqa: S105  a word of the table
    return filled(table().token[kind], callee.values())


def filled(template: str, values: Mapping[str, Value]) -> str:
    """Parts first, from the outside to the inside; values are filled in last, so that none is taken for a part."""

    def chosen(part: re.Match[str]) -> str:
        return part[3] if bool(values[part[2]]) is (part[1] == "#") else ""

    while _PART.search(template):
        template = _PART.sub(chosen, template)
    return _PLACE.sub(lambda place: _ENCODINGS[place[2]](values[place[1]]), template)


def _call_values(call: ExampleCall) -> dict[str, Value]:
    value = json.loads(call.input)
    # Characters that nobody sees are spelled out: what is pasted is what was read.
    text = escaped(call.input.decode())
    return {
        "agent": call.agent,
        "agentName": _NOT_IN_IDENTIFIERS.sub("_", call.agent),
        "skill": call.skill,
        "streaming": call.streaming,
        "object": not isinstance(value, str),
        "input": text,
        "inputText": escaped(value) if isinstance(value, str) else "",
        "call": _invocation(call, text, stream=False),
        "streamCall": _invocation(call, text, stream=True),
    }


def _invocation(call: ExampleCall, text: str, *, stream: bool) -> str:
    request = {"agentId": call.agent, "capability": call.skill, "stream": stream, "input": msgspec.Raw(text.encode())}
    return msgspec.json.encode(request).decode()


def _plain(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError("only a text can stand as it is")
    return value


def _json(value: Value) -> str:
    """With a blank after each comma, as people write lists."""
    return json.dumps(value, ensure_ascii=False)


def _python(value: Value) -> str:
    """In single quotes where that saves escapes, as with JSON inside."""
    text = _json(_plain(value))
    if "'" in text or '"' not in text[1:-1]:
        return text
    return "'" + re.sub(r"\\(.)", lambda found: found[1] if found[1] == '"' else found[0], text[1:-1]) + "'"


def _shell(value: Value) -> str:
    words = [value] if isinstance(value, str) else value
    if isinstance(words, bool):
        raise TypeError("a truth value is no word")
    return shlex.join(words)


_ENCODINGS = {None: _plain, "json": _json, "py": _python, "sh": _shell}
