"""Writes the page of reasons from reasons.json of the contract: one section for each word."""

from collections.abc import Iterator, Sequence

from tools.contract_bundle import Json
from tools.docs_errors import error_document, owner
from tools.docs_shapes import prose, table

_HEAD = """# Reasons

Look up a reason: what it says, and who does what next. A reason is one word beside the [code](errors.md) of an error
that says more than the code. [Why a call failed](../guides/why-a-call-failed.md) says where to look, reason by reason.
This page is generated from `contracts/platform-error/reasons.json`, the list of all reasons.

A reason never contains text or numbers of a request, of an Agent or of a dependency. Error answers, the last events
of streams, and the records of the [Ledger](../glossary.md#ledger) have it as `reason`. The `aop` command, the
exceptions of the Python client, the Console, the logs and the metrics show it.
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
