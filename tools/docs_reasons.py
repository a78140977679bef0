"""Writes the page of reasons from reasons.json of the contract: one section for each word."""

from collections.abc import Iterator, Sequence

from tools.contract_bundle import Json
from tools.docs_errors import error_document, owner
from tools.docs_shapes import prose, table

_HEAD = """# Reasons

Generated from `contracts/platform-error/reasons.json`. A reason is one word of a closed list that says more than the
[code](errors.md) it stands beside. It never contains text or numbers of a request, of an Agent or of a dependency.
Error answers, stream terminals, Ledger events and Invocation Records have it as `reason`. The `aop` command, the
exceptions of the Python client, the Console, the logs and the metrics show it.

[Why did my Agent's call fail](../guides/why-a-call-failed.md) says where to look, reason by reason.
""".rstrip()


def reasons_page() -> str:
    sections: dict[str, list[Json]] = {}
    for entry in error_document("reasons.json")["reasons"]:
        sections.setdefault(entry["reason"], []).append(entry)
    rows = ((f"[{word}](#{word})", _codes(entries), _owners(entries)) for word, entries in sorted(sections.items()))
    lines = [_HEAD, *table(("Reason", "Codes", "Who acts"), rows)]
    for word, entries in sections.items():
        lines += ("", f"## {word}")
        for entry in entries:
            lines += _meaning(entry)
    return "\n".join(lines).strip("\n") + "\n"


def _meaning(entry: Json) -> Iterator[str]:
    yield from ("", f"{_codes([entry])}. {prose(entry['sentence'])}")
    yield from ("", f"Next, {owner(entry)}: {prose(entry['action'])}")


def _codes(entries: Sequence[Json]) -> str:
    return ", ".join(f"[{code}](errors.md#{code.lower()})" for entry in entries for code in entry["codes"])


def _owners(entries: Sequence[Json]) -> str:
    return ", ".join(dict.fromkeys(owner(entry) for entry in entries))
