"""Writes the page of error codes from codes.json and recovery.json of the contract."""

import json
from collections.abc import Iterator

from tools.contract_bundle import CONTRACTS, Json
from tools.docs_shapes import code, prose, table

_OWNERS = {
    "provider": "the provider",
    "workspace_owner": "the Workspace owner",
    "platform_operator": "the platform operator",
    "caller": "the caller",
}
_ENVELOPES = {"2": "Catalog (v2)", "3": "Workspace and Installation (v3)", "4": "Invocation (v4)"}
_HEAD = """# Error codes

Generated from `contracts/platform-error/codes.json` and `recovery.json`. A code has one HTTP status and one message,
everywhere; the message never holds anything of the request, of a dependency or of an Agent. Every answer has the header
`x-platform-trace-id`, and an error repeats it as `traceId`.

An error with `invocationId` and `rootTaskId` belongs to an accepted Invocation, whose outcome stands and is in the
Ledger. An error without them was answered before acceptance. Nothing is ever retried by the platform.

[Recover from an error](../guides/recover.md) shows the commands.
"""
_SITUATIONS = """
## No usable answer

A client that got no answer it can use says which of these it was.
"""


def errors_page() -> str:
    codes: list[Json] = _read("codes.json")["codes"]
    recovery = _read("recovery.json")
    after = {entry["code"]: entry for entry in recovery["codes"]}
    lines = [_HEAD, *table(("Code", "Status", "Who acts"), (_row(entry, after[entry["code"]]) for entry in codes))]
    for entry in codes:
        lines += _section(entry, after[entry["code"]])
    lines.append(_SITUATIONS)
    rows = ((code(entry["situation"]), _owner(entry), prose(entry["action"])) for entry in recovery["situations"])
    lines += table(("Situation", "Who acts", "What to do"), rows)
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip("\n") + "\n"


def _row(entry: Json, after: Json) -> tuple[str, str, str]:
    return f"[{entry['code']}](#{entry['code'].lower()})", str(entry["status"]), _owner(after)


def _section(entry: Json, after: Json) -> Iterator[str]:
    surfaces = ", ".join(_ENVELOPES[version] for version in entry["envelopes"])
    yield from ("", f"## {entry['code']}", "", f"HTTP {entry['status']}. {prose(entry['message'])}", "")
    yield f"Next, {_owner(after)}: {prose(after['action'])}"
    yield from ("", f"Platform Error: {surfaces}.", "")


def _owner(after: Json) -> str:
    return _OWNERS[after["owner"]]


def _read(name: str) -> Json:
    document: Json = json.loads((CONTRACTS / "platform-error" / name).read_bytes())
    return document
