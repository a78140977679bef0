"""Turns the faults that a schema validator reports into violations that repeat no text of the sender."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aop.contracts.errors import Violation

Path = Sequence[str | int]

_MEMBER = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_ITEM = frozenset({"items", "prefixItems", "contains", "unevaluatedItems"})
_WITH_KEY = frozenset({"properties", "patternProperties", "dependentSchemas", "allOf", "anyOf", "oneOf", "prefixItems"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_FALSE_SCHEMA = "falseSchema"


@dataclass(frozen=True)
class Finding:
    """One failed keyword: where in the value, by which way through the schema, and a member it missed."""

    keyword: str
    instance_path: Path
    evaluation_path: Path
    missing: str | None = None


@dataclass(frozen=True)
class _Step:
    """A keyword on the way through the schema; `name` is set only for a member the schema declares."""

    keyword: str
    name: str | None


def pointer(tokens: Path) -> str:
    """The JSON Pointer text of a path."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def violations(findings: Sequence[Finding], limit: int, prefix: Path = ()) -> tuple[Violation, ...]:
    """At most `limit` violations, each once, in the order of their places in the value."""
    found = {_locate(finding) for finding in findings}
    ordered = sorted(found, key=lambda place: ([(isinstance(token, str), token) for token in place[0]], place[1]))
    return tuple(Violation(pointer([*prefix, *path]), rule) for path, rule in ordered[:limit])


def _locate(finding: Finding) -> tuple[tuple[str | int, ...], str]:
    steps = list(_steps(finding.evaluation_path))
    path = _declared(finding.instance_path, steps)
    if finding.keyword in _CLOSING:
        return path, "additional_member"
    if finding.keyword == _FALSE_SCHEMA:
        return _forbidden(path, finding, steps)
    if finding.missing is not None and len(path) == len(finding.instance_path):
        return (*path, finding.missing), "required"
    return path, finding.keyword


def _forbidden(path: tuple[str | int, ...], finding: Finding, steps: list[_Step]) -> tuple[tuple[str | int, ...], str]:
    # The schema `false` has no keyword of its own. As a member's schema it says that the member may not be here.
    last = steps[-1].keyword if steps else "not"
    if last in _MEMBER:
        return path[: len(finding.instance_path) - 1], "additional_member"
    return path, last


def _declared(instance_path: Path, steps: list[_Step]) -> tuple[str | int, ...]:
    """The path up to the first token that is neither an array index nor a member name of the schema."""
    moves = (step for step in steps if step.keyword in _MEMBER or step.keyword in _ITEM)
    kept: list[str | int] = []
    for token in instance_path:
        step = next(moves, None)
        if step is None or not (isinstance(token, int) or step.name == token):
            break
        kept.append(token)
    return tuple(kept)


def _steps(evaluation_path: Path) -> Iterator[_Step]:
    tokens = iter(evaluation_path)
    for token in tokens:
        keyword = str(token)
        key = next(tokens, None) if keyword in _WITH_KEY else None
        yield _Step(keyword, key if keyword == "properties" and isinstance(key, str) else None)
