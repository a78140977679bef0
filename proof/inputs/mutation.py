"""The fuzzer: seeded mutators of valid inputs, and one reader run on many of them within bounded time."""

import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

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

    def near(self, valid: bytes | None = None) -> bytes:
        """A few changes away from a valid input, or that input itself."""
        changed = self._chance.choice(self._corpus) if valid is None else valid
        for _ in range(self._chance.choice((0, 1, 1, 1, 2, 3, 6))):
            changed = self._changed(changed)
        return changed

    def pieces(self, data: bytes) -> list[bytes]:
        """Cut as a network might."""
        places = sorted(self._chance.randrange(len(data) + 1) for _ in range(self._chance.randrange(6)))
        return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]

    def _changed(self, data: bytes) -> bytes:
        """In one of eight ways."""
        chance, way = self._chance, self._chance.randrange(8)
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((1, 1, 2, 4, 8, 32)))
        before, span, rest = data[:start], data[start:end], data[end:]
        if way <= 1:
            return before + chance.choice(self._tokens) + (span + rest if chance.random() < 0.7 else rest)
        if way == 2:
            return before + chance.randbytes(1) + rest
        if way == 3:
            return before + span + span * chance.choice((1, 1, 2, 40)) + rest
        if way == 4:
            other = chance.choice(self._corpus)
            return before + other[chance.randrange(len(other) + 1) :]
        if way == 5:
            return before + span.swapcase() + rest
        return before if way == 6 else before + rest


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


class Reader(ABC):
    """Its inputs are near to those of `corpus`, changed by `tokens` too, or made up otherwise.

    `attempt` gives True for an accepted input and False for a refused one; anything it raises is a find.
    """

    name: ClassVar[str]
    corpus: ClassVar[Sequence[bytes]] = ()
    tokens: ClassVar[Sequence[bytes]] = ()

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._near = Mutator(chance, self.corpus, self.tokens)

    @abstractmethod
    def invent(self) -> Any: ...

    @abstractmethod
    def attempt(self, sample: Any) -> bool: ...


class Disagreement(AssertionError):
    """The reader and its oracle do not say the same."""


@dataclass
class Fuzzed:
    name: str
    executions: int = 0
    accepted: int = 0
    slowest_seconds: float = 0.0
    finds: list[str] = field(default_factory=list)


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Disagreement(otherwise)


def fuzz(make: type[Reader], seed: int, count: int, max_seconds: float) -> Fuzzed:
    """Stops after that many inputs, that much time, or ten finds."""
    reader = make(random.Random(seed))
    done, began = Fuzzed(reader.name), time.thread_time()
    while done.executions < count and len(done.finds) < 10:
        sample = reader.invent()
        started = time.thread_time()
        try:
            done.accepted += reader.attempt(sample)
        except Exception as problem:  # noqa: BLE001  whatever it is, it is what is looked for
            done.finds.append(f"{reader.name}, {sample!r:.2000}: {type(problem).__name__} {problem}")
        now = time.thread_time()
        done.slowest_seconds = max(done.slowest_seconds, now - started)
        done.executions += 1
        if now - began > max_seconds:
            break
    return done
