"""Writes the page of error codes from codes.json, reasons.json, recovery.json and rules.json of the contract."""

import json
from collections.abc import Iterator, Sequence

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

Look up an error code: its HTTP status, its message, and who does what next. [Recover from an
error](../guides/recover.md) shows the commands, [Troubleshooting](../troubleshooting.md) starts from the message.
This page is generated from `contracts/platform-error/codes.json`, `reasons.json`, `recovery.json` and `rules.json`.

Each code has one HTTP status and one fixed message. The message never contains text of the request, of a dependency or
of an Agent. Every answer has the header `x-platform-trace-id`, and an error repeats it as `traceId`.

An error with `invocationId` and `rootTaskId` belongs to an [Invocation](../glossary.md#invocation) that has begun
([acceptance](../glossary.md#acceptance)). Its end is in the [Ledger](../glossary.md#ledger) and never changes. An
error without them means that nothing was started, unless its reason is `acceptance_unknown`: then it is not known.
The platform never repeats a call.

Most errors have a `reason`, one word that says more than the code. Below each code you find its reasons; each has a
[section](reasons.md) with its sentence and the next step.
"""
_RULES = """
## Rules of violations

A VALIDATION_ERROR has `violations`: for each place that is wrong, a JSON Pointer and the rule that is broken. The
command line, the Python client and the Console say the sentence of the rule. With a dot in the last column they
add what belongs at that place, for example "the number is too small: a whole number from 1 to 600000". Both are in
`contracts/platform-error/rules.json`. A rule about the input of a Skill is a keyword of its JSON Schema.
"""
_SITUATIONS = """
## No usable answer

When a client gets no usable answer, it reports one of these situations.
"""


def errors_page() -> str:
    codes: list[Json] = error_document("codes.json")["codes"]
    recovery = error_document("recovery.json")
    after = {entry["code"]: entry for entry in recovery["codes"]}
    reasons: list[Json] = error_document("reasons.json")["reasons"]
    lines = [_HEAD, *table(("Code", "Status", "Who acts"), (_row(entry, after[entry["code"]]) for entry in codes))]
    for entry in codes:
        lines += _section(entry, after[entry["code"]])
        lines += _reasons([reason for reason in reasons if entry["code"] in reason["codes"]])
    lines.append(_RULES)
    lines += table(("Rule", "What was expected", "Form"), map(_rule, error_document("rules.json")["rules"]))
    lines.append(_SITUATIONS)
    rows = ((code(entry["situation"]), owner(entry), prose(entry["action"])) for entry in recovery["situations"])
    lines += table(("Situation", "Who acts", "What to do"), rows)
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip("\n") + "\n"


def _row(entry: Json, after: Json) -> tuple[str, str, str]:
    return f"[{entry['code']}](#{entry['code'].lower()})", str(entry["status"]), owner(after)


def _rule(entry: Json) -> tuple[str, str, str]:
    return code(entry["rule"]), prose(entry["sentence"]), "•" if entry.get("place") else ""


def _section(entry: Json, after: Json) -> Iterator[str]:
    surfaces = ", ".join(_ENVELOPES[version] for version in entry["envelopes"])
    yield from ("", f"## {entry['code']}", "", f"HTTP {entry['status']}. {prose(entry['message'])}", "")
    yield f"Next, {owner(after)}: {prose(after['action'])}"
    yield from ("", f"Platform Error: {surfaces}.", "")


def _reasons(entries: Sequence[Json]) -> Iterator[str]:
    if entries:
        words = (f"[{entry['reason']}](reasons.md#{entry['reason']})" for entry in entries)
        yield from (f"Reasons: {', '.join(words)}.", "")


def owner(after: Json) -> str:
    return _OWNERS[after["owner"]]


def error_document(name: str) -> Json:
    document: Json = json.loads((CONTRACTS / "platform-error" / name).read_bytes())
    return document
