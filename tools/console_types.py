"""Writes the Console's view of contracts/: TypeScript types, operations of the Gateway, error codes, patterns."""

import json
import re
import sys
from collections.abc import Iterator

from tools.console_tables import (
    ROOT,
    Schema,
    characters,
    codes,
    patterns,
    read_document,
    reasons,
    recovery,
    rules,
)
from tools.contract_bundle import surface

OUTPUT = ROOT / "console" / "src" / "api" / "contract.gen.ts"

_URN = re.compile(r"urn:aop:contract:([a-z0-9-]+):([0-9.]+)(?:#(.*))?")
_FILE = re.compile(r"\.\./([a-z0-9-]+)/([0-9.]+)/schema\.json(?:#(.*))?")
_METHODS = ("get", "post", "put", "patch", "delete")
_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_HEADER = """// Generated from contracts/ by `./dev console types`; change the contracts, not this file.
"""


class Types:
    """Names and writes every schema that the written ones refer to, each once."""

    def __init__(self, openapi: Schema) -> None:
        self._openapi = openapi
        self._written: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._written[name] for name in sorted(self._written))

    def of(self, schema: Schema | bool, home: str) -> str:
        """The TypeScript type of a schema; `home` is the document that its local references are about."""
        if isinstance(schema, bool):
            return "unknown" if schema else "never"
        if "$ref" in schema:
            return self._named(str(schema["$ref"]), home)
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return " | ".join(json.dumps(value) for value in schema["enum"])
        kinds = schema.get("type")
        if kinds is None:
            return "unknown"
        return " | ".join(self._kind(kind, schema, home) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def _kind(self, kind: str, schema: Schema, home: str) -> str:
        if kind == "array":
            return f"ReadonlyArray<{self.of(schema.get('items', True), home)}>"
        if kind == "object":
            return self._object(schema, home)
        return _SCALARS[kind]

    def _object(self, schema: Schema, home: str) -> str:
        if "properties" not in schema:
            return "JsonObject"
        required = set(schema.get("required", ()))
        lines = ["{"]
        for name, member in schema["properties"].items():
            note = member.get("description") if isinstance(member, dict) else None
            if note:
                lines.append(f"  /** {note} */")
            kind = self.of(member, home).replace("\n", "\n  ")
            lines.append(f"  readonly {name}{'' if name in required else '?'}: {kind}")
        return "\n".join([*lines, "}"])

    def _named(self, reference: str, home: str) -> str:
        if reference.startswith("#/components/schemas/"):
            name = reference.rpartition("/")[2]
            return self._write(name, self._openapi["components"]["schemas"][name], home)
        found = _URN.fullmatch(reference) or _FILE.fullmatch(reference)
        if found is not None:
            folder, fragment = f"{found[1]}/{found[2]}", found[3]
        elif reference == "#" or reference.startswith("#/"):
            folder, fragment = home, reference[1:]
        else:
            raise ValueError(f"a reference of an unknown form: {reference}")
        document = read_document(folder)
        if not fragment:
            return self._write(_pascal(folder.partition("/")[0]), document, folder)
        where, name = fragment.removeprefix("/").split("/")
        prefix = "" if folder.startswith("definitions/") else _pascal(folder.partition("/")[0])
        return self._write(prefix + _pascal(name), document[where][name], folder)

    def _write(self, name: str, schema: Schema, home: str) -> str:
        if name not in self._written:
            self._written[name] = ""  # a schema may refer to itself
            note = f"/** {schema['description']} */\n" if "description" in schema else ""
            self._written[name] = f"{note}export type {name} = {self.of(schema, home)}\n"
        return name


class Operations:
    """The operations of the Gateway under /v1, as one table of types and one of methods and paths."""

    def __init__(self, openapi: Schema, types: Types) -> None:
        self._openapi = openapi
        self._types = types

    @property
    def text(self) -> str:
        shapes, table = [], []
        for path, method, operation in self._all():
            name = operation["operationId"]
            shapes.append(f"  {name}: {{{'; '.join(self._shape(path, operation))}}}")
            table.append(f"  {name}: {{ method: {json.dumps(method.upper())}, path: {json.dumps(path)} }},")
        return "\n".join(
            [
                "/** What each operation of the Gateway takes and answers. */",
                "export interface Operations {",
                *shapes,
                "}\n",
                "export type OperationId = keyof Operations\n",
                "export const OPERATIONS: Readonly<Record<OperationId, { method: string; path: string }>> = {",
                *table,
                "}\n",
            ]
        )

    def _all(self) -> Iterator[tuple[str, str, Schema]]:
        for path, item in self._openapi["paths"].items():
            for method in _METHODS:
                if path.startswith("/v1/") and method in item:
                    shared = item.get("parameters", [])
                    operation = item[method]
                    yield path, method, {**operation, "parameters": [*shared, *operation.get("parameters", [])]}

    def _shape(self, path: str, operation: Schema) -> Iterator[str]:
        parameters = [self._resolved(parameter) for parameter in operation["parameters"]]
        for place, member in (("path", "path"), ("query", "query")):
            found = [parameter for parameter in parameters if parameter["in"] == place]
            if found:
                yield f"{member}: {{ {'; '.join(self._parameter(parameter) for parameter in found)} }}"
        if path.count("{") != sum(parameter["in"] == "path" for parameter in parameters):
            raise ValueError(f"{path}: a path parameter is not declared")
        if "requestBody" in operation:
            yield f"body: {self._content(operation['requestBody'])}"
        answer = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        yield f"answer: {self._content(self._resolved(answer))}"

    def _parameter(self, parameter: Schema) -> str:
        optional = "" if parameter.get("required") else "?"
        return f"{parameter['name']}{optional}: {self._types.of(parameter['schema'], '')}"

    def _content(self, holder: Schema) -> str:
        return self._types.of(holder["content"]["application/json"]["schema"], "")

    def _resolved(self, value: Schema) -> Schema:
        if "$ref" not in value:
            return value
        _, _, kind, name = str(value["$ref"]).split("/")
        found: Schema = self._openapi["components"][kind][name]
        return found


def render() -> str:
    openapi = surface("gateway.v1")
    types = Types(openapi)
    operations = Operations(openapi, types).text
    # Not named by an operation's own JSON answer, but read by the Console: the events of a stream.
    types.of({"$ref": "urn:aop:contract:invocation-stream-event:2"}, "")
    types.of({"$ref": "urn:aop:contract:platform-error:4"}, "")
    tables = [codes(), recovery(), reasons(), rules(), patterns(), characters()]
    return "\n".join([_HEADER, _JSON, types.text, operations, *tables])


_JSON = """export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export type JsonObject = { readonly [member: string]: Json }
"""


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("-"))


def main(arguments: list[str]) -> int:
    text = render()
    if arguments == ["--check"]:
        if OUTPUT.is_file() and OUTPUT.read_text("utf-8") == text:
            return 0
        print(f"{OUTPUT.relative_to(ROOT)} is not what contracts/ say; write it again with: ./dev console types")
        return 1
    OUTPUT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
