"""Calls, bodies and Cards that are made to cost, and how each of them may end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cards.hostile import many_constants, many_minimums, nested_unevaluated
from tests.support.loop import open_skill

_TIGHT_MS = 2000
_AMPLE_MS = 60_000
CONSTANT = "c2999"
_REFUSED = frozenset({(400, "VALIDATION_ERROR"), (413, "PAYLOAD_TOO_LARGE")})
_TOO_LONG = frozenset({(413, "PAYLOAD_TOO_LARGE"), (504, "TIMEOUT")})
_FAILED = frozenset({(502, "AGENT_RESPONSE_TOO_LARGE"), (502, "A2A_PROTOCOL_ERROR"), (504, "TIMEOUT")})


@dataclass(frozen=True)
class Hostile:
    """A Card, an input for it, and the ways in which the call may end."""

    name: str
    skill: Mapping[str, Any]
    content: Mapping[str, Any]
    ends: frozenset[tuple[int, str]]
    stream: bool = False

    @property
    def timeout_ms(self) -> int:
        """What ends by its own size has time enough on any machine; the rest may also end at a deadline."""
        return _TIGHT_MS if (504, "TIMEOUT") in self.ends else _AMPLE_MS


def hostile_calls() -> Sequence[Hostile]:
    constants, minimums = {"inputSchema": many_constants()}, {"inputSchema": many_minimums()}
    output = {"inputSchema": {"type": "object"}, "outputSchema": many_constants()}
    passing = {"inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
    return [
        Hostile("20 failing items", minimums, {"x": [-1] * 20}, _REFUSED),
        Hostile("5,000 failing items", minimums, {"x": [-1] * 5000}, _REFUSED),
        Hostile("800 KB of constants", constants, {"x": [CONSTANT] * 100_000}, _TOO_LONG),
        Hostile("1 MB of numbers", {"inputSchema": many_minimums(-1)}, {"x": [1] * 500_000}, _TOO_LONG),
        Hostile(
            "unique numbers beyond 64 bits",
            {"inputSchema": {"properties": {"x": {"uniqueItems": True}}}},
            {"x": [10**300 + number for number in range(3000)]},
            _TOO_LONG,
        ),
        *(
            Hostile(
                f"an answer of {size} items, {'stream' if stream else 'JSON'}", output, {"out": size}, _FAILED, stream
            )
            for size in (18_000, 800_000)
            for stream in (False, True)
        ),
        Hostile("an answer of empty objects", passing, {"empty": 2_500_000}, _FAILED),
    ]


def dear_to_read() -> Mapping[str, bytes]:
    """The colon as an escape and a repeated name make the strict reading go the long way."""
    size = 1_000_000
    return {
        "a million empty lists": b'{"x":[' + b",".join([b"[]"] * (size // 3)) + b"]}",
        "objects and an escaped colon": b'{"c":"\\u003a","x":[' + b",".join([b'{"a":1}'] * (size // 8)) + b"]}",
        "exponents": b'{"c":"\\u003a","x":[' + b",".join([b"1e9"] * (size // 4)) + b"]}",
        "a name repeated at the end": b'{"x":[' + b",".join([b'{"a":1}'] * (size // 8)) + b',{"b":1,"b":1}]}',
        "half a surrogate at the end": b'{"x":[' + b",".join([b'{"a":""}'] * (size // 9)) + b',"\\ud800"]}',
    }


def dear_to_vet() -> Mapping[str, list[Any]]:
    letters = {"type": "string", "pattern": r"\p{L}{180}"}
    large = {"properties": {f"p{number:04}": {"type": "string", "minLength": number} for number in range(1400)}}
    chain = {f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(1200)}
    deep = {"$ref": "#/$defs/a0", "$defs": {**chain, "a1200": {"type": "string"}}}
    circle = {
        "anyOf": [{"$ref": f"#/$defs/a{start}"} for start in range(3)],
        "$defs": {
            f"a{one}": {
                "properties": {f"p{two}": {"$ref": f"#/$defs/a{(one * 3 + two * 7) % 200}"} for two in range(4)}
            }
            for one in range(200)
        },
    }
    schemas = {"letters": letters, "255 KB": large, "deep references": deep, "many ways": circle}
    several = {"255 KB": 4, "letters": 3}
    return {
        name: [
            open_skill(
                f"work-{number}",
                inputSchema={"type": "object", "properties": {"v": schema}} if name == "letters" else schema,
            )
            for number in range(several.get(name, 1))
        ]
        for name, schema in (*schemas.items(), ("unevaluated", nested_unevaluated(30)))
    }


def largest_schema(number: int) -> dict[str, Any]:
    part = {"allOf": [{"maxLength": number * number + one} for one in range(3000)]}
    return {"type": "object", "properties": {"a": {"type": "integer"}, "x": part}}
