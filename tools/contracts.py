"""Checks every contract schema and OpenAPI document; tools.docs makes the reference pages of them."""

import json
import sys
from collections import Counter
from collections.abc import Iterator

from openapi_spec_validator import OpenAPIV31SpecValidator

from aop.contracts.documents import document
from tools.contract_bundle import (
    CONTRACTS,
    BrokenReferenceError,
    Json,
    bundled,
    references,
    resolve,
    schemas,
    surfaces,
)

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


def main() -> int:
    problems = list(schema_problems())
    for name, surface in surfaces().items():
        problems += [f"{name}: {problem}" for problem in surface_problems(surface)]
    for problem in problems:
        print(problem)
    if problems:
        return 1
    print(f"{len(schemas())} schemas and {len(surfaces())} OpenAPI documents are sound")
    return 0


def schema_problems() -> Iterator[str]:
    """Schemas that are no JSON Schema 2020-12, and references that lead nowhere."""
    known = schemas()
    for identity, schema in known.items():
        for where, reference in references(schema):
            target, _, pointer = reference.partition("#")
            try:
                resolve(known[target or identity], "#" + pointer)
            except (KeyError, BrokenReferenceError):
                yield f"{identity}{where}: {reference} leads nowhere"
        try:
            document("/".join(identity.removeprefix("urn:aop:contract:").rsplit(":", 1)))
        except ValueError as error:
            yield f"{identity}: {error}"


def surface_problems(surface: Json) -> Iterator[str]:
    """What is wrong with an OpenAPI document, its references included."""
    try:
        whole = bundled(surface)
    except BrokenReferenceError as error:
        yield f"{error} leads nowhere"
        return
    for found in OpenAPIV31SpecValidator(whole).iter_errors():
        yield f"/{'/'.join(map(str, found.absolute_path))}: {found.message}"
    operations = list(operations_of(whole))
    names = Counter(operation["operationId"] for _, _, operation in operations)
    yield from (f"operationId {name} is used twice" for name, count in names.items() if count > 1)
    for method, path, operation in operations:
        yield from (f"{method} {path}: {problem}" for problem in _code_problems(operation))


def operations_of(surface: Json) -> Iterator[tuple[str, str, Json]]:
    """Method, path and operation, in the order of the document."""
    for path, item in surface["paths"].items():
        for method, operation in item.items():
            if method in _METHODS:
                yield method.upper(), path, operation


def _code_problems(operation: Json) -> Iterator[str]:
    """The codes an operation lists must belong to its envelope and account for exactly its error statuses."""
    if "x-codes" not in operation:
        return
    entries = {
        entry["code"]: entry
        for entry in json.loads((CONTRACTS / "platform-error" / "codes.json").read_bytes())["codes"]
    }
    listed = [entries[code] for code in operation["x-codes"] if code in entries]
    if len(listed) != len(operation["x-codes"]):
        yield "x-codes names an unknown code"
    foreign = [entry["code"] for entry in listed if operation["x-envelope"] not in entry["envelopes"]]
    if foreign:
        yield f"codes of another envelope: {', '.join(foreign)}"
    statuses = {status for status in operation["responses"] if status >= "400"}
    expected = {str(entry["status"]) for entry in listed}
    if statuses != expected:
        yield f"statuses and codes differ: {', '.join(sorted(statuses ^ expected))}"


if __name__ == "__main__":
    sys.exit(main())
