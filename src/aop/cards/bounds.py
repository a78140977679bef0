"""Upper bounds of what one check takes, before anything is checked: nanoseconds of work, and bytes of memory."""

import math
import re
from collections.abc import Iterator, Sequence, Sized

from aop.cards.cost import NOWHERE, Location
from aop.cards.number_weights import is_far
from aop.cards.weights import Weight

SMALL_NS = 5_000_000.0
"""Work that may be done in the event loop. A core that is four times slower than expected takes 20 ms for it."""
_DECODE_NS_PER_BYTE = 100.0
_BIG_PAIR_NS = 8_000.0
"""Numbers beyond 64 bits are compared each with each to find out whether items are unique."""
_BIG_PAIR_NS_PER_BYTE = 2.5
"""The same for a text of n bytes, n squared: it holds at most n / 20 such numbers, or fewer longer ones."""
_PAIRED_ITEMS = 15
"""Up to so many items are compared each with each, whatever they are."""
_REAL_PAIR_NS, _FAR_PAIR_NS = 20_000.0, 100_000.0
_FAR_BYTES = 5
"""A far fraction with its comma, as in `1e99,`."""
_VISIT_NS = 300.0
"""Counting itself, for each part of the value."""
_INT64 = 1 << 63


def small_bytes(locations: Sequence[Location]) -> int:
    """Every value whose text is no longer than this is small, whatever it is."""
    unique = max(location.weight.unique for location in locations)
    linear = _DECODE_NS_PER_BYTE + max(_ns_per_byte(location, locations) for location in locations)
    if not unique:
        return int(SMALL_NS / linear)
    # With unique items the work grows with the square of the bytes, square * n² + linear * n, because numbers are
    # compared each with each. The n at which it reaches SMALL_NS is the positive root.
    linear += unique * _FAR_PAIR_NS * (_PAIRED_ITEMS - 1) / 2 / _FAR_BYTES
    square = unique * _BIG_PAIR_NS_PER_BYTE
    return int((math.sqrt(linear * linear + 4 * square * SMALL_NS) - linear) / (2 * square))


def _ns_per_byte(location: Location, locations: Sequence[Location]) -> float:
    """A value and its comma take two bytes at least, a fraction four, a number beyond 64 bits twenty, a name three.

    No byte is part of two of them.
    """
    weight = location.weight
    name = weight.name_byte
    if location.names != NOWHERE:
        names = locations[location.names].weight
        name += names.value / 3 + names.string_byte
    numbers = (weight.integer / 2, weight.real / 4, weight.far / _FAR_BYTES, weight.big / 20)
    return (weight.value + weight.child) / 2 + max(*numbers, weight.string_byte, name)


def check_ns(locations: Sequence[Location], value: object, limit: float) -> float:
    """Of the check of a parsed value; counting stops above the limit."""
    total = 0.0
    waiting: list[tuple[object, Location]] = [(value, locations[0])]
    while waiting and total <= limit:
        part, location = waiting.pop()
        total += location.weight.value
        if isinstance(part, dict):
            total += _holding_ns(part, location) + _names_ns(part, location, locations)
            if total <= limit:  # else so much would be put aside for nothing
                waiting.extend(_members(part, location, locations))
        elif isinstance(part, list):
            total += _holding_ns(part, location) + _uniqueness_ns(part, location, limit)
            if total <= limit:
                waiting.extend(_items(part, location, locations))
        else:
            total += _scalar_ns(part, location.weight)
    return total


def _scalar_ns(part: object, weight: Weight) -> float:
    if isinstance(part, str):
        return weight.string_byte * _byte_count(part)
    if isinstance(part, float):
        return weight.far if is_far(part) else weight.real
    if isinstance(part, int):
        return weight.integer if -_INT64 <= part < _INT64 else weight.big
    return 0.0


def _holding_ns(part: Sized, location: Location) -> float:
    return (location.weight.child + _VISIT_NS) * len(part)


def _members(
    part: dict[str, object], location: Location, locations: Sequence[Location]
) -> Iterator[tuple[object, Location]]:
    for name, child in part.items():
        number = location.members.get(name, location.other_member)
        if number != NOWHERE:
            yield child, locations[number]


def _names_ns(part: dict[str, object], location: Location, locations: Sequence[Location]) -> float:
    if location.names == NOWHERE and not location.weight.name_byte:
        return 0.0
    length = sum(map(_byte_count, part))
    total = location.weight.name_byte * length
    if location.names != NOWHERE:
        names = locations[location.names].weight
        total += names.value * len(part) + names.string_byte * length
    return total


def _items(part: list[object], location: Location, locations: Sequence[Location]) -> Iterator[tuple[object, Location]]:
    named = len(location.items)
    for position, child in enumerate(part):
        number = location.items[position] if position < named else location.other_item
        if number != NOWHERE:
            yield child, locations[number]


def _uniqueness_ns(part: list[object], location: Location, limit: float) -> float:
    if not location.weight.unique:
        return 0.0
    others = (len(part) - 1) / 2 if len(part) <= _PAIRED_ITEMS else 0.0
    big, total, waiting = 0, 0.0, list(part)
    while waiting and total <= limit:
        child = waiting.pop()
        total += _VISIT_NS
        if isinstance(child, dict):
            waiting.extend(child.values())
        elif isinstance(child, list):
            waiting.extend(child)
        elif isinstance(child, float):
            total += others * (_FAR_PAIR_NS if is_far(child) else _REAL_PAIR_NS)
        elif isinstance(child, int) and not -_INT64 <= child < _INT64:
            big += 1
    return location.weight.unique * (total + big * big * _BIG_PAIR_NS)


def _byte_count(text: str) -> int:
    """At most; the exact number would cost a copy."""
    return len(text) if text.isascii() else 4 * len(text)


MAX_CHECK_BYTES = 32 * 1024 * 1024
"""What one check may add to a process: the text and what it is decoded to."""

_OBJECT_BYTES, _ARRAY_BYTES, _VALUE_BYTES, _STRING_BYTES = 250, 64, 40, 60
_MAX_LEFT_OUT = 200_000
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ASTRAL = re.compile(rb"[\xf0-\xf7]|\\u[dD]")


def decoded_bytes(text: bytes) -> int:
    """At most; the text itself is not counted."""
    width = _width(text)
    quotes = text.count(b'"')
    roughly = _structure(text) + width * len(text) + _STRING_BYTES * quotes // 2
    # To leave out what stands inside strings takes memory too, by their number.
    if roughly <= MAX_CHECK_BYTES or quotes > _MAX_LEFT_OUT:
        return roughly
    without = _STRING.sub(b'""', text)
    return _structure(without) + _STRING_BYTES * without.count(b'"') // 2 + width * (len(text) - len(without))


def fits_in_memory(text: bytes) -> bool:
    return len(text) + decoded_bytes(text) <= MAX_CHECK_BYTES


def _structure(text: bytes) -> int:
    count = text.count
    return _OBJECT_BYTES * count(b"{") + _ARRAY_BYTES * count(b"[") + _VALUE_BYTES * (1 + count(b","))


def _width(text: bytes) -> int:
    """One character outside the first plane makes each character of its string four bytes wide."""
    if _ASTRAL.search(text) is not None:
        return 4
    return 1 if text.isascii() and b"\\u" not in text else 2
