"""Seeded mutators: bytes, texts and JSON values near valid ones, from a corpus and the tokens of its grammar."""

import json
import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import msgspec

JSON_TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"true", b"1e400", b"-0",
    b'"a":1', b'"id":"1"', b'"kind":"message"', b" ", b"\n", b"\t", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"NaN",
)  # fmt: skip
VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 1.0, 1.5, 2**31, 2**53, 2**63, 10**400, 1e300),
    *("", " ", "a", "\x00", "é", "😀", "\ud800", "a" * 129, "a" * 5000, "1.0.0", "01.0.0", "-", ".", "#", "%", "@"),
    *([], {}, [[]], {"": None}, ["a", "a"], {"$ref": "#"}, {"type": "object"}, {"pattern": "(a+)+$"}),
)


class Mutator:
    """`corpus` holds valid inputs, `tokens` pieces that mean something to their reader."""

    def __init__(self, chance: random.Random, corpus: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        self._chance = chance
        self._corpus = corpus
        self._tokens = tokens
        self._ways: Sequence[Callable[[bytes], bytes]] = (
            self._with_token,
            self._with_token,
            self._with_byte,
            self._without,
            self._twice,
            self._spliced,
            self._cut,
            self._swapped,
        )

    def near(self, valid: bytes | None = None) -> bytes:
        """A few changes away from a valid input, or that input itself."""
        changed = self._chance.choice(self._corpus) if valid is None else valid
        for _ in range(self._chance.choice((0, 1, 1, 1, 2, 3, 6))):
            changed = self._chance.choice(self._ways)(changed)
        return changed

    def pieces(self, data: bytes) -> list[bytes]:
        """Cut as a network might."""
        places = sorted(self._chance.randrange(len(data) + 1) for _ in range(self._chance.randrange(6)))
        return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._chance.randrange(len(data) + 1)
        return start, min(len(data), start + self._chance.choice((1, 1, 2, 4, 8, 32)))

    def _with_token(self, data: bytes) -> bytes:
        start, end = self._span(data)
        end = start if self._chance.random() < 0.7 else end
        return data[:start] + self._chance.choice(self._tokens) + data[end:]

    def _with_byte(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._chance.randbytes(1) + data[end:]

    def _without(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _twice(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:end] + data[start:end] * self._chance.choice((1, 1, 2, 40)) + data[end:]

    def _spliced(self, data: bytes) -> bytes:
        other = self._chance.choice(self._corpus)
        return data[: self._span(data)[0]] + other[self._span(other)[0] :]

    def _cut(self, data: bytes) -> bytes:
        return data[: self._span(data)[0]]

    def _swapped(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[start:end].swapcase() + data[end:]


class JsonMutator:
    """Changes members of JSON values, and now and then the text they are written as."""

    def __init__(self, chance: random.Random, corpus: Sequence[Any]) -> None:
        self._chance = chance
        self._corpus = [json.dumps(value).encode() for value in corpus]
        self._texts = Mutator(chance, self._corpus, JSON_TOKENS)

    def near(self) -> bytes:
        value = self.value()
        text = json.dumps(value, indent=self._chance.choice((None, None, None, 1)), ensure_ascii=False)
        body = text.encode("utf-8", "surrogatepass")
        if self._chance.random() < 0.1:
            body = body.replace(b"\xed\xa0\x80", b"\\ud800")
        return self._texts.near(body) if self._chance.random() < 0.3 else body

    def value(self) -> Any:
        changed = msgspec.json.decode(self._chance.choice(self._corpus))
        for _ in range(self._chance.choice((0, 1, 1, 2, 3))):
            changed = self._changed(changed)
        return changed

    def _changed(self, root: Any) -> Any:
        places = list(_places(root))
        if not places:
            return self._chance.choice(VALUES)
        holder, key = self._chance.choice(places)
        way = self._chance.random()
        if way < 0.55:
            holder[key] = deepcopy(self._chance.choice(VALUES))
        elif way < 0.75:
            del holder[key]
        elif way < 0.85:
            other, other_key = self._chance.choice(places)
            holder[key] = deepcopy(other[other_key])
        elif isinstance(holder, dict):
            holder[self._chance.choice(("", "x", "kind", "id", "$ref", key + "x"))] = deepcopy(holder[key])
        else:
            holder.append(deepcopy(holder[key]))
        return root


def _places(root: Any) -> list[tuple[Any, Any]]:
    """Every member and item: its holder and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [root]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])
    return found
