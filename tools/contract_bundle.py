"""Reads the contract schemas and OpenAPI documents, and joins each OpenAPI document with all it refers to."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = ROOT / "contracts"

Json = dict[str, Any]

# Both read plain YAML only; the one written in C, where it is built, is ten times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BrokenReferenceError(ValueError):
    """A `$ref` that leads nowhere."""


def schemas() -> dict[str, Json]:
    """Every JSON Schema of the contracts by its `$id`."""
    paths = [*CONTRACTS.glob("*/*/schema.json"), *CONTRACTS.glob("*/*.schema.json")]
    return {schema["$id"]: schema for schema in (json.loads(path.read_bytes()) for path in sorted(paths))}


def surfaces() -> dict[str, Json]:
    """Every OpenAPI document by its name, such as `gateway.v1`."""
    names = (path.name.removesuffix(".yaml") for path in sorted((CONTRACTS / "openapi").glob("*.yaml")))
    return {name: surface(name) for name in names}


@cache
def surface(name: str) -> Json:
    """One of them. Nobody may change it: it is read once, which takes seconds, and is the same object for all."""
    document: Json = yaml.load((CONTRACTS / "openapi" / f"{name}.yaml").read_bytes(), _LOADER)  # noqa: S506
    return document


def bundled(surface: Json) -> Json:
    """The same OpenAPI document in one piece: outside references point into its own components."""
    known = schemas()
    joined: Json = _rewritten(surface, "")
    components = joined.setdefault("components", {}).setdefault("schemas", {})
    waiting = _component_names(joined)
    while waiting:
        name = waiting.pop()
        if name not in components:
            identity = _identity(name)
            if identity not in known:
                raise BrokenReferenceError(identity)
            components[name] = _rewritten(known[identity], identity)
            waiting |= _component_names(components[name])
    for _, reference in references(joined):
        resolve(joined, reference)
    return joined


def references(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every `$ref` in a JSON value with the place it stands at."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield where, value["$ref"]
        for key, child in value.items():
            yield from references(child, f"{where}/{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from references(child, f"{where}/{index}")


def resolve(document: Json, reference: str) -> Any:
    """What a `#/...` reference of the document points at."""
    target: Any = document
    for token in reference.removeprefix("#").split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            target = target[int(key)] if isinstance(target, list) else target[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise BrokenReferenceError(reference) from None
    return target


def _rewritten(value: Any, identity: str) -> Any:
    if isinstance(value, list):
        return [_rewritten(child, identity) for child in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _rewritten(child, identity) for key, child in value.items()}
    if isinstance(copy.get("$ref"), str):
        copy["$ref"] = _inside_components(copy["$ref"], identity)
    if isinstance(copy.get("$id"), str):
        copy = {key: child for key, child in copy.items() if key not in {"$id", "$schema"}}
    return copy


def _inside_components(reference: str, identity: str) -> str:
    target, _, pointer = reference.partition("#")
    if target.startswith("../"):
        folder, version, _ = target.removeprefix("../").split("/")
        return f"#/components/schemas/{folder}.{version}{pointer}"
    if target or identity:
        return f"#/components/schemas/{_component(target or identity)}{pointer}"
    return reference


def _component(identity: str) -> str:
    return identity.removeprefix("urn:aop:contract:").replace(":", ".")


def _identity(component: str) -> str:
    name, _, version = component.partition(".")
    return f"urn:aop:contract:{name}:{version}"


def _component_names(value: object) -> set[str]:
    prefix = "#/components/schemas/"
    found = {
        reference.removeprefix(prefix).split("/")[0]
        for _, reference in references(value)
        if reference.startswith(prefix)
    }
    return {name for name in found if "." in name}
