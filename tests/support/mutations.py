"""Random small changes of a JSON value, each of which changes what it says."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

Place = tuple[Any, Any]
"""A list or an object, and a key of it."""


def places(value: Any) -> Iterator[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


def mutations(value: Any, count: int, chance: random.Random, *, without: tuple[str, ...] = ()) -> Iterator[Any]:
    """Copies with one change each, none below the members that are left out at the top."""
    original = json.dumps(value, sort_keys=True)
    made = 0
    while made < count:
        changed = copy.deepcopy(value)
        kept = {name: changed.pop(name) for name in without}
        holder, key = chance.choice(list(places(changed)))
        _change(holder, key, chance)
        changed.update(kept)
        if json.dumps(changed, sort_keys=True) != original:
            made += 1
            yield changed


def _change(holder: Any, key: Any, chance: random.Random) -> None:
    item = holder[key]
    acts = [lambda: holder.pop(key), lambda: holder.__setitem__(key, chance.choice((None, True, 0, "", [], {}, 1.5)))]
    if isinstance(item, str) and item:
        acts += [lambda: holder.__setitem__(key, _spelt(item, chance))] * 6
    elif type(item) is int:
        acts += [lambda: holder.__setitem__(key, item + chance.choice((-1, 1, 2, 1 << 20)))] * 4
    elif isinstance(item, list) and item:
        acts += [lambda: item.append(copy.deepcopy(chance.choice(item))), item.reverse, item.pop]
    elif isinstance(item, dict):
        acts += [lambda: item.__setitem__(chance.choice(("extra", "input", "reason")), "more")]
    chance.choice(acts)()


def _spelt(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return chance.choice(
        (
            text[:at] + chance.choice("0123456789abcdefXYZ=+/ \u00fc") + text[at + 1 :],
            text[:at] + text[at + 1 :],
            text + chance.choice(" =a"),
            text.swapcase(),
        )
    )
