"""Writes each OpenAPI document in one piece, as generators of clients read it: `contracts/openapi/bundled/*.json`.

Every schema that is referred to, also one inside a document, becomes a component with a plain name; nothing refers to
anything outside, or deeper than a component.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tools.contract_bundle import CONTRACTS, Json, bundled, references, resolve, surfaces

BUNDLED = CONTRACTS / "openapi" / "bundled"
_COMPONENTS = "#/components/schemas/"
_CONDITION = frozenset({"if", "then", "else"})


def self_contained(surface: Json) -> Json:
    """The document of one surface, without schemas that only a deeper reference needed."""
    whole = bundled(surface)
    names = _names(whole)
    flat = {name: resolve(whole, reference) for reference, name in names.items()}
    whole["components"]["schemas"] = {name: _renamed(flat[name], names) for name in sorted(flat)}
    rest = {key: _renamed(value, names) for key, value in whole.items() if key != "components"}
    kinds = whole["components"].items()
    return rest | {
        "components": {kind: value if kind == "schemas" else _renamed(value, names) for kind, value in kinds}
    }


def texts() -> dict[Path, str]:
    return {
        BUNDLED / f"{name}.json": json.dumps(self_contained(surface), ensure_ascii=False, separators=(",", ":")) + "\n"
        for name, surface in surfaces().items()
    }


def _names(whole: Json) -> dict[str, str]:
    """The name of each schema that something refers to, by reference."""
    reached: set[str] = set()
    waiting = {reference for _, reference in references({**whole, "components": _without_schemas(whole)})}
    while waiting:
        reference = waiting.pop()
        if reference.startswith(_COMPONENTS) and reference not in reached:
            reached.add(reference)
            waiting |= {further for _, further in references(_shallow(resolve(whole, reference)))}
    documents = {reference.removeprefix(_COMPONENTS).split("/")[0] for reference in reached}
    versions = Counter(document.partition(".")[0] for document in documents)
    names = {reference: _name(reference, versions) for reference in sorted(reached)}
    repeated = [name for name, count in Counter(names.values()).items() if count > 1]
    if repeated:
        raise ValueError(f"two schemas would be called {', '.join(repeated)}")
    return names


def _without_schemas(whole: Json) -> Json:
    return {kind: value for kind, value in whole["components"].items() if kind != "schemas"}


def _name(reference: str, versions: Counter[str]) -> str:
    """Such as `AgentCardSkill`; of a document that is there in two versions `PlatformErrorV3`."""
    component, *inside = reference.removeprefix(_COMPONENTS).split("/")
    document, _, version = component.partition(".")
    if not version:
        return component
    prefix = "" if document == "definitions" and inside else _pascal(document)
    return prefix + (f"V{version}" if versions[document] > 1 else "") + _pascal(inside[-1] if inside else "")


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("-"))


def _shallow(schema: Any) -> Any:
    """Without its `$defs`: those that are used have a name of their own."""
    return {key: value for key, value in schema.items() if key != "$defs"} if isinstance(schema, dict) else schema


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(child, names) for child in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _renamed(child, names) for key, child in _shallow(value).items()}
    if isinstance(copy.get("$ref"), str) and copy["$ref"] in names:
        copy["$ref"] = _COMPONENTS + names[copy["$ref"]]
    return _with_conditions_last(copy) if "if" in copy and "allOf" in copy else copy


def _with_conditions_last(schema: Json) -> Json:
    """The same rules, the `if` as one more part of the `allOf`: generators take an allOf of one part for that part."""
    condition = {key: value for key, value in schema.items() if key in _CONDITION}
    rest = {key: value for key, value in schema.items() if key not in _CONDITION}
    return rest | {"allOf": [*schema["allOf"], condition]}


def main() -> None:
    BUNDLED.mkdir(exist_ok=True)
    for path, text in texts().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
