"""The tables of the contract as TypeScript: codes, reasons, recovery, rules, patterns and characters."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = ROOT / "contracts"

Schema = Mapping[str, Any]


def codes() -> str:
    entries = json.loads((CONTRACTS / "platform-error" / "codes.json").read_text("utf-8"))["codes"]
    names = " | ".join(json.dumps(entry["code"]) for entry in entries)
    rows = [
        f"  {entry['code']}: {{ status: {entry['status']}, message: {json.dumps(entry['message'])} }},"
        for entry in entries
    ]
    return "\n".join(
        [
            f"export type ErrorCode = {names}\n",
            "export const ERROR_CODES: Readonly<Record<ErrorCode, { status: number; message: string }>> = {",
            *rows,
            "}\n",
        ]
    )


def recovery() -> str:
    entries = json.loads((CONTRACTS / "platform-error" / "recovery.json").read_text("utf-8"))["codes"]
    owners = " | ".join(json.dumps(owner) for owner in sorted({entry["owner"] for entry in entries}))
    rows = [
        f"  {entry['code']}: {{ owner: {json.dumps(entry['owner'])}, action: {json.dumps(entry['action'])} }},"
        for entry in entries
    ]
    return "\n".join(
        [
            "/** Whose turn it is after a failure, and what to do. */",
            f"export type RecoveryOwner = {owners}\n",
            "export const RECOVERY: Readonly<Record<ErrorCode, { owner: RecoveryOwner; action: string }>> = {",
            *rows,
            "}\n",
        ]
    )


def reasons() -> str:
    entries = json.loads((CONTRACTS / "platform-error" / "reasons.json").read_text("utf-8"))["reasons"]
    of_code: dict[str, list[str]] = {}
    for entry in entries:
        said = {name: entry[name] for name in ("sentence", "owner", "action")}
        for code in entry["codes"]:
            of_code.setdefault(code, []).append(f"    {entry['reason']}: {json.dumps(said)},")
    return "\n".join(
        [
            "export type ReasonEntry = {",
            "  readonly sentence: string",
            "  readonly owner: RecoveryOwner",
            "  readonly action: string",
            "}",
            "/** What each reason says beside a code it may stand beside. */",
            "export const REASONS: {",
            "  readonly [code in ErrorCode]?: { readonly [reason in PlatformErrorReason]?: ReasonEntry }",
            "} = {",
            *(line for code, rows in of_code.items() for line in (f"  {code}: {{", *rows, "  },")),
            "}\n",
        ]
    )


def rules() -> str:
    found = json.loads((CONTRACTS / "platform-error" / "rules.json").read_text("utf-8"))
    words = [
        f"  {json.dumps(row['rule'])}: {json.dumps([row['sentence'], bool(row.get('place'))], ensure_ascii=False)},"
        for row in found["rules"]
    ]
    forms = [
        f"  {json.dumps(row['in'] + ' ' + row['pointer'])}: {json.dumps(row['form'], ensure_ascii=False)},"
        for row in found["places"]
    ]
    return "\n".join(
        [
            "/** What was expected where a request broke a rule, and whether the form of the place follows. */",
            "export const RULES: Readonly<Record<string, readonly [string, boolean]>> = {",
            *words,
            "}\n",
            "/** What belongs at each place of a request: part and pointer, with `*` for an index. */",
            "export const PLACES: Readonly<Record<string, string>> = {",
            *forms,
            "}\n",
        ]
    )


def patterns() -> str:
    definitions = read_document("definitions/1")["$defs"]
    rows = [
        f"  {name}: new RegExp({json.dumps(schema['pattern'])}),"
        for name, schema in definitions.items()
        if "pattern" in schema
    ]
    return "\n".join(
        [
            "/** The forms of identifiers, versions, digests and times. */",
            "export const PATTERNS = {",
            *rows,
            "} as const\n",
        ]
    )


def characters() -> str:
    found = json.loads((CONTRACTS / "text" / "characters.json").read_text("utf-8"))
    emoji = found["emojiSelectors"]
    hidden = [f"  [0x{one['from']}, 0x{one['to']}, {json.dumps(one['name'])}]," for one in found["hidden"]]
    return "\n".join(
        [
            "/** First and last code point of characters that are shown as marks, and what they are. */",
            "export const HIDDEN_CHARACTERS: ReadonlyArray<readonly [number, number, string]> = [",
            *hidden,
            "]\n",
            "/** The same for variation selectors, hidden unless they follow one of these. */",
            "export const EMOJI_SELECTORS = {",
            f"  range: [0x{emoji['from']}, 0x{emoji['to']}, {json.dumps(emoji['name'])}],",
            f"  after: {_ranges(emoji['after'])},",
            "} as const\n",
            "/** The letters of scripts that are confused with one another. */",
            "export const CONFUSED_SCRIPTS = {",
            *(f"  {name}: {_ranges(ranges)}," for name, ranges in found["scripts"].items()),
            "} as const\n",
            f"export const WORD_BREAKS = {_ranges(found['wordBreaks'])} as const\n",
        ]
    )


def _ranges(pairs: Sequence[Sequence[str]]) -> str:
    return f"[{', '.join(f'[0x{first}, 0x{last}]' for first, last in pairs)}]"


def read_document(folder: str) -> Schema:
    found: Schema = json.loads((CONTRACTS / folder / "schema.json").read_text("utf-8"))
    return found
