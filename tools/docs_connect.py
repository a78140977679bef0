"""Writes the page of snippets from the folder `connect`, filled in for the platform that `aop up` starts."""

from aop.cli.shell import snippets
from aop.cli.shell.snippets import Callee, ExampleCall, Snippet

_HEAD = """# Snippets

Copy a text with which your program, assistant or editor calls an [Agent](../glossary.md#agent). [Call it from what
you have](../guides/call-it.md) says which one you need. `aop connect --for NAME` and the page "Use it from…" of the
Console show the same texts with the addresses of your own platform. Here the addresses are those of `aop up`, the
[Workspace](../glossary.md#workspace) is `demo`, and the Agent is `aop:summarizer`.

A program that speaks MCP over stdio starts the command `aop`. The snippets here expect that you logged in once, as for
a platform on another machine. For the platform of `aop up` on this machine you need no login:
`aop connect --data .aop --for NAME` writes the same snippet with the paths of the command and of the
[data folder](../glossary.md#data-folder), also in a clone ([MCP hosts](../guides/mcp.md#connect-a-host)).

No snippet contains an access token, and neither does an address. This page is generated from the folder `connect`.
"""
_WORDS = {"py": "py", "sh": "shell", "json": "json", "toml": "toml", "ts": "ts", "mjs": "js"}
"""The word after a fence, by the ending of a file. The tests of the documentation only parse these."""
_INPUT = b'{"text":"Tea is grown in hills. Tea needs rain."}'
_LOCAL = Callee(
    "http://127.0.0.1:8080",
    "demo",
    ("aop", "mcp", "--workspace", "demo"),
    "http://127.0.0.1:8083",
    ExampleCall("aop:summarizer", "rank-sentences", _INPUT, streaming=False),
)


def connect_page() -> str:
    table = snippets.table()
    lines = [_HEAD]
    for group in table.groups:
        lines.append(f"## {group.label}\n")
        lines += [_section(snippet) for snippet in table.snippets if snippet.group == group.name]
    return "\n".join(lines)


def _section(snippet: Snippet) -> str:
    token = snippets.token_text(snippet, _LOCAL, local=False)
    code = snippets.rendered(snippet, _LOCAL)
    lines = [f"### {snippet.label}", "", f"`aop connect --for {snippet.name}`. Speaks {snippet.speaks}. {token}", ""]
    if snippet.install is not None:
        lines += ["```shell", snippet.install, "```", ""]
    if snippet.place is not None:
        lines += [f"Put this into {snippet.place}:", ""]
    lines += [f"```{_WORDS[snippet.language]}", code, "```", ""]
    if snippet.after is not None:
        lines += [snippet.after, ""]
    return "\n".join(lines)
