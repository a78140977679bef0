"""Renders a bundled OpenAPI document as one self-contained HTML page without any script."""

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from tools.contract_bundle import Json, resolve

_METHODS = ("get", "post", "patch", "put", "delete")
_RULES = (
    "const",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "default",
)
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882 }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; box-sizing: border-box }
nav { border-right: 1px solid var(--line); font-size: .85rem }
nav ul { list-style: none; padding: 0; margin: .2rem 0 1rem }
nav a { text-decoration: none }
main { padding: 1rem 2rem 6rem; max-width: 70rem }
section { border-top: 1px solid var(--line); padding-top: .5rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .9rem }
td, th { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top }
code, pre { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere }
pre { background: var(--soft); padding: .75rem; overflow: auto }
h3 code { font-size: 1.05rem }
.method { font-weight: 700; text-transform: uppercase }
.codes code { background: var(--soft); padding: .1rem .3rem; margin-right: .3rem; display: inline-block }
@media (max-width: 60rem) { body { display: block } nav { position: static; height: auto; border: 0 } }
"""


def page(surface: Json) -> str:
    info = surface["info"]
    title = escape(f"{info['title']} {info['version']}")
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<nav>{''.join(_navigation(surface))}</nav><main><h1>{title}</h1>",
        f"<p>{_prose(info.get('summary', ''))}</p><p>{_prose(info.get('description', ''))}</p>",
        *(_operation(surface, method, path, item, operation) for method, path, item, operation in _operations(surface)),
        "<h2>Schemas</h2>",
        *(_schema(name, schema) for name, schema in sorted(surface["components"]["schemas"].items())),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _operations(surface: Json) -> Iterator[tuple[str, str, Json, Json]]:
    for path, item in surface["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method, path, item, item[method]


def _navigation(surface: Json) -> Iterator[str]:
    for tag in surface.get("tags", []):
        yield f"<strong>{escape(tag['name'])}</strong><ul>"
        for method, path, _, operation in _operations(surface):
            if tag["name"] in operation["tags"]:
                link = f'<a href="#{operation["operationId"]}">{escape(operation["summary"])}</a>'
                yield f'<li title="{method.upper()} {escape(path)}">{link}</li>'
        yield "</ul>"
    yield "<strong>schemas</strong><ul>"
    for name in sorted(surface["components"]["schemas"]):
        yield f'<li><a href="#schema-{escape(name)}">{escape(name)}</a></li>'
    yield "</ul>"


def _operation(surface: Json, method: str, path: str, item: Json, operation: Json) -> str:
    public = operation.get("security", surface.get("security")) == []
    codes = "".join(f"<code>{escape(code)}</code>" for code in operation.get("x-codes", []))
    parts = [
        f'<section id="{operation["operationId"]}">',
        f'<h3><span class="method">{method}</span> <code>{escape(path)}</code></h3>',
        f"<p><strong>{escape(operation['summary'])}.</strong> {_prose(operation.get('description', ''))}</p>",
        "<p>Open to anyone.</p>" if public else "",
        _parameters(surface, [*item.get("parameters", []), *operation.get("parameters", [])]),
        _body(operation.get("requestBody", {})),
        "<table><tr><th>Status</th><th>Meaning</th><th>Headers</th><th>Body</th></tr>",
        *(_response(surface, status, response) for status, response in operation["responses"].items()),
        "</table>",
        f'<p class="codes">Platform Error v{operation["x-envelope"]}: {codes}</p>' if codes else "",
        "</section>",
    ]
    return "".join(parts)


def _parameters(surface: Json, parameters: list[Json]) -> str:
    if not parameters:
        return ""
    rows = []
    for declared in parameters:
        parameter = _followed(surface, declared)
        need = "required" if parameter.get("required") else "optional"
        rows.append(
            f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{parameter['in']}, {need}</td>"
            f"<td>{_rules(parameter['schema'])}</td><td>{_prose(parameter.get('description', ''))}</td></tr>"
        )
    return f"<table><tr><th>Parameter</th><th>Where</th><th>Form</th><th>Meaning</th></tr>{''.join(rows)}</table>"


def _body(body: Json) -> str:
    return f"<p>Body: {_content(body)}</p>" if body else ""


def _response(surface: Json, status: str, declared: Json) -> str:
    response = _followed(surface, declared)
    headers = ", ".join(f"<code>{escape(name)}</code>" for name in response.get("headers", {}))
    cells = (status, _prose(response["description"]), headers, _content(response))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _content(holder: Json) -> str:
    kinds = []
    for media_type, content in holder.get("content", {}).items():
        form = _rules(content.get("x-event-schema", content["schema"]))
        kinds.append(f"<code>{escape(media_type)}</code> {'events of ' if 'x-event-schema' in content else ''}{form}")
    return "<br>".join(kinds) or "none"


def _schema(name: str, schema: Json) -> str:
    parts = [
        f'<section id="schema-{escape(name)}"><h3>{escape(schema.get("title", name))} <code>{escape(name)}</code></h3>'
    ]
    parts.append(f"<p>{_prose(schema.get('description', ''))}</p>{_members(schema)}")
    parts += [_definition(name, part, definition) for part, definition in schema.get("$defs", {}).items()]
    raw = escape(json.dumps(schema, indent=2, ensure_ascii=False))
    parts.append(f"<details><summary>JSON Schema</summary><pre>{raw}</pre></details></section>")
    return "".join(parts)


def _definition(name: str, part: str, definition: Json) -> str:
    heading = f'<h4 id="schema-{escape(name)}/$defs/{escape(part)}"><code>{escape(part)}</code></h4>'
    form = _members(definition) or f"<p>{_rules(definition)}</p>"
    return f"{heading}<p>{_prose(definition.get('description', ''))}</p>{form}"


def _members(schema: Json) -> str:
    required = schema.get("required", [])
    rows = [
        f"<tr><td><code>{escape(member)}</code></td><td>{'yes' if member in required else 'no'}</td>"
        f"<td>{_rules(rule)}</td><td>{_prose(rule.get('description', '')) if isinstance(rule, dict) else ''}</td></tr>"
        for member, rule in schema.get("properties", {}).items()
    ]
    if not rows:
        return ""
    return f"<table><tr><th>Member</th><th>Required</th><th>Form</th><th>Meaning</th></tr>{''.join(rows)}</table>"


def _rules(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything" if schema else "never"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        anchor = name if "/$defs/" in name else name.split("/")[0]
        return f'<a href="#schema-{escape(anchor)}">{escape(name.replace("/$defs/", " "))}</a>'
    kind = schema.get("type", "")
    shown = escape(" or ".join(kind) if isinstance(kind, list) else kind)
    if "items" in schema:
        shown += f" of {_rules(schema['items'])}"
    rules = [
        f"{rule} <code>{escape(json.dumps(schema[rule], ensure_ascii=False))}</code>"
        for rule in _RULES
        if rule in schema
    ]
    return ", ".join(part for part in (shown, *rules) if part) or "anything"


def _followed(surface: Json, declared: Json) -> Json:
    return resolve(surface, declared["$ref"]) if "$ref" in declared else declared


def _prose(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
