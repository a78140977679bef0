"""Writes the reference pages of the four OpenAPI documents, and the page of all contract documents, in Markdown."""

import json
from collections.abc import Iterator

from tools.contract_bundle import CONTRACTS, Json, bundled, resolve, schemas, surfaces
from tools.docs_shapes import code, document_heading, document_link, members, prose, shape, slug, table

_METHODS = ("get", "post", "patch", "put", "delete")
_PREFIX = "urn:aop:contract:"
_DOCUMENTS_HEAD = """# Documents

Look up the exact form of every JSON document that programs of the platform send to each other: each member, whether
it is required, and what it means. This page is generated from the JSON Schemas in `contracts/`. The schema files
decide; they also have rules that a table cannot show, such as members that depend on each other.
"""
_READERS = {
    "Gateway": "Look up every HTTP call that callers, Workspace owners and providers can make.",
    "Router, for Agents": "Look up the HTTP call with which an Agent calls another Agent.",
    "Control Plane, internal": "Look up the calls that a Router makes at the Control Plane. Only units use them.",
    "Router, internal": "Look up the calls that a Control Plane or an operator makes at a Router. Only units use them.",
}
"""The first line of a page: what its reader gets."""
_AROUND = (
    "The [glossary](../../glossary.md) explains the words, [Error codes](../errors.md) each code, and"
    " [Documents](../documents.md) each JSON document."
)


def api_pages() -> dict[str, str]:
    """File name to text, for every surface."""
    return {f"{name.removesuffix('.v1')}.md": _surface(bundled(surface)) for name, surface in surfaces().items()}


def documents_page() -> str:
    lines = [_DOCUMENTS_HEAD]
    for identity, schema in schemas().items():
        component = ".".join(identity.removeprefix(_PREFIX).rsplit(":", 1))
        lines += ["", f"## {document_heading(component)}", "", prose(schema["description"])]
        lines += _body_of(schema, component)
        for name, definition in schema.get("$defs", {}).items():
            lines += ["", f"### {document_heading(component, name)}", ""]
            lines += [prose(definition.get("description", "")), *_body_of(definition, component)]
        lines += _example(component)
    return _joined(lines)


def _surface(surface: Json) -> str:
    info = surface["info"]
    lines = [f"# {info['title']} {info['version']}", "", f"{_READERS[info['title']]} {_AROUND}", ""]
    lines += [prose(info.get("description", "")), ""]
    lines += table(("Call", "Purpose"), (_row(*operation) for operation in _operations(surface)))
    for tag in surface.get("tags", []):
        lines += ["", f"## {tag['name'].capitalize()}", "", prose(tag.get("description", ""))]
        for method, path, item, operation in _operations(surface):
            if operation["tags"][0] == tag["name"]:
                lines += _operation(surface, method, path, item, operation)
    own = {name: schema for name, schema in surface["components"]["schemas"].items() if "." not in name}
    lines += ["", "## Shapes of this surface"] if own else []
    for name, schema in own.items():
        lines += ["", f"### {name}", "", prose(schema.get("description", "")), *_form(schema)]
    return _joined(lines)


def _row(method: str, path: str, _: Json, operation: Json) -> tuple[str, str]:
    summary = operation["summary"]
    return code(f"{method.upper()} {path}"), f"[{summary}](#{slug(summary)})"


def _operation(surface: Json, method: str, path: str, item: Json, operation: Json) -> Iterator[str]:
    yield from ("", f"### {operation['summary']}", "", code(f"{method.upper()} {path}"), "")
    yield prose(operation.get("description", ""))
    if operation.get("security", surface.get("security")) == []:
        yield from ("", "Open to anyone.")
    declared = [*item.get("parameters", []), *operation.get("parameters", [])]
    yield from table(("Parameter", "Where", "Form", "Meaning"), (_parameter(surface, one) for one in declared))
    if "requestBody" in operation:
        yield from ("", f"Body: {_content(operation['requestBody'])}")
    rows = (_response(surface, status, answer) for status, answer in operation["responses"].items() if status < "400")
    yield from table(("Status", "Meaning", "Headers", "Body"), rows)
    if "x-codes" in operation:
        codes = ", ".join(f"[{name}](../errors.md#{slug(name)})" for name in operation["x-codes"])
        page = document_link(f"platform-error.{operation['x-envelope']}", "../documents.md")
        yield from ("", f"Errors ({page}): {codes}")


def _parameter(surface: Json, declared: Json) -> tuple[str, str, str, str]:
    parameter = _followed(surface, declared)
    need = "required" if parameter.get("required") else "optional"
    place = f"{parameter['in']}, {need}"
    return code(parameter["name"]), place, shape(parameter["schema"], _link), prose(parameter.get("description", ""))


def _response(surface: Json, status: str, declared: Json) -> tuple[str, str, str, str]:
    response = _followed(surface, declared)
    headers = ", ".join(code(name) for name in response.get("headers", {}))
    return status, prose(response["description"]), headers, _content(response)


def _content(holder: Json) -> str:
    kinds = []
    for media_type, content in holder.get("content", {}).items():
        events = "events of " if "x-event-schema" in content else ""
        kinds.append(f"{code(media_type)} {events}{shape(content.get('x-event-schema', content['schema']), _link)}")
    return ", or ".join(kinds) or "none"


def _link(reference: str) -> str:
    name = reference.removeprefix("#/components/schemas/").split("/")[0]
    if "." in name:
        return document_link(reference, "../documents.md")
    return f"[{name}](#{slug(name)})"


def _form(schema: Json) -> Iterator[str]:
    rows = list(members(schema, _link))
    yield from rows or ("", f"Form: {shape(schema, _link)}")


def _body_of(schema: Json, component: str) -> Iterator[str]:
    def link(reference: str) -> str:
        target, _, pointer = reference.partition("#")
        other = ".".join(target.removeprefix(_PREFIX).rsplit(":", 1)) if target else component
        return document_link(f"{other}{pointer}", "")

    rows = list(members(schema, link))
    if rows or "$defs" not in schema:
        yield from rows or ("", f"Form: {shape(schema, link)}")


def _example(component: str) -> Iterator[str]:
    """The first valid example that is a value of the whole document."""
    name, _, version = component.partition(".")
    files = sorted((CONTRACTS / name / version / "examples" / "valid").glob("*.json"))
    if files:
        text = json.dumps(json.loads(files[0].read_bytes()), indent=2, ensure_ascii=False)
        yield from ("", "Example:", "", "```json", text, "```")


def _operations(surface: Json) -> Iterator[tuple[str, str, Json, Json]]:
    for path, item in surface["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method, path, item, item[method]


def _followed(surface: Json, declared: Json) -> Json:
    followed: Json = resolve(surface, declared["$ref"]) if "$ref" in declared else declared
    return followed


def _joined(lines: list[str]) -> str:
    """Never two empty lines in a row, one newline at the end."""
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip("\n") + "\n"
