"""Loads the contract documents and checks values against them; the only module that knows the schema validator."""

import json
from collections.abc import Mapping
from functools import cache
from typing import cast

import jsonschema_rs

from aop.base import assets
from aop.contracts.declared import Schema, declared_path
from aop.contracts.errors import MAX_VIOLATIONS, Violation
from aop.contracts.violations import Finding, Path, pointer, violations

# The validator finds all faults at once and keeps a part of the value with each. Above this many parts only the first
# fault is requested.
_FULLY_EXPLAINED_PARTS = 1_000


class Document:
    """A contract document, or a definition inside one, ready to check values."""

    def __init__(self, name: str, whole: Schema, schema: Schema, validator: jsonschema_rs.Draft202012Validator) -> None:
        self.name = name
        self.schema = schema
        self._whole = whole
        self._validator = validator

    def is_valid(self, instance: object) -> bool:
        return self._validator.is_valid(instance)

    def violations(self, instance: object, prefix: Path = ()) -> tuple[Violation, ...]:
        """Why the value is refused: at most twenty items, the same ones in the same order every time, no value."""
        if self._validator.is_valid(instance):
            return ()
        return explained(self._validator, instance, prefix)

    def declared_pointer(self, path: Path) -> str:
        """The JSON Pointer of a path, cut at the first name the document does not declare there."""
        return pointer(declared_path(schemas(), self._whole, self.schema, path))


@cache
def schemas() -> Mapping[str, Schema]:
    """Every contract schema by its `$id`."""
    folder = assets.folder("contracts")
    paths = [*folder.glob("*/*/schema.json"), *folder.glob("*/*.schema.json")]
    loaded = [cast("Schema", json.loads(path.read_bytes())) for path in sorted(paths)]
    return {str(schema["$id"]): schema for schema in loaded}


@cache
def document(name: str) -> Document:
    """The document of a name such as `workspace/1`, or a definition inside it such as `workspace/1#createRequest`."""
    base, _, definition = name.partition("#")
    identity = "urn:aop:contract:" + base.replace("/", ":")
    whole = schema = schemas()[identity]
    reference = identity
    if definition:
        schema = cast("Mapping[str, Schema]", schema["$defs"])[definition]
        reference += "#/$defs/" + definition
    return Document(name, whole, schema, compiled({"$ref": reference}, _registry()))


def compiled(
    schema: Schema, registry: jsonschema_rs.Registry | None = None, *, formats: bool = True
) -> jsonschema_rs.Draft202012Validator:
    """A validator that fetches nothing and whose patterns run in linear time."""
    return jsonschema_rs.Draft202012Validator(
        dict(schema),
        registry=registry,
        offline=True,
        validate_formats=formats,
        ignore_unknown_formats=not formats,
        pattern_options=jsonschema_rs.RegexOptions(),
    )


def explained(
    validator: jsonschema_rs.Draft202012Validator, instance: object, prefix: Path = ()
) -> tuple[Violation, ...]:
    """The violations of a value that the validator refuses; none for one it accepts."""
    return violations([finding_of(error) for error in _errors(validator, instance)], MAX_VIOLATIONS, prefix)


@cache
def _registry() -> jsonschema_rs.Registry:
    return jsonschema_rs.Registry([(identity, dict(schema)) for identity, schema in schemas().items()])


def _errors(validator: jsonschema_rs.Draft202012Validator, instance: object) -> list[jsonschema_rs.ValidationError]:
    if _has_at_most(instance, _FULLY_EXPLAINED_PARTS):
        return list(validator.iter_errors(instance))
    try:
        validator.validate(instance)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def finding_of(error: jsonschema_rs.ValidationError) -> Finding:
    """A fault as the validator reports it, without the part of the value that it holds."""
    missing = getattr(error.kind, "property", None)
    return Finding(error.kind.name, error.instance_path, error.evaluation_path, missing)


def _has_at_most(value: object, parts: int) -> bool:
    waiting = [value]
    while waiting:
        parts -= 1
        if parts < 0:
            return False
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
        if len(waiting) > parts:
            return False
    return True
