"""Bounded caches: what was used longest ago gives way, and what does not hold any more is not there."""

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as some

from aop.base.recent import RecentlyUsed, TtlCache

KEYS = some.integers(0, 6)
STEPS = some.lists(
    some.one_of(
        some.tuples(some.just("find"), KEYS, some.just(0)),
        some.tuples(some.just("keep"), KEYS, some.integers(0, 5)),
        some.tuples(some.just("forget"), KEYS, some.just(0)),
    ),
    max_size=60,
)


@given(STEPS, some.integers(1, 8), some.integers(1, 4))
def test_it_keeps_those_used_last_within_its_two_limits(
    steps: list[tuple[str, int, int]], max_bytes: int, max_items: int
) -> None:
    cache, model = RecentlyUsed[int, int](max_bytes, max_items=max_items), OrderedDict[int, tuple[int, int]]()
    for number, (step, key, weight) in enumerate(steps):
        if step == "find":
            assert cache.find(key) == model.get(key, (None, 0))[0]
            if key in model:
                model.move_to_end(key)
            continue
        before, _ = model.pop(key, (None, 0))
        if step == "forget":
            assert cache.forget(key) == before
            continue
        cache.keep(key, number, weight)
        if weight <= max_bytes:
            model[key] = number, weight
        while len(model) > max_items or sum(weight for _, weight in model.values()) > max_bytes:
            model.popitem(last=False)
    assert [cache.find(key) for key in range(7)] == [model.get(key, (None, 0))[0] for key in range(7)]


def test_it_has_no_limit_that_is_not_named() -> None:
    by_items, by_bytes = RecentlyUsed[int, int](max_items=2), RecentlyUsed[int, int](10)
    for number in range(1000):
        by_items.keep(number, number, 1 << 40)
        by_bytes.keep(number, number)
    assert [by_items.find(number) for number in (997, 998, 999)] == [None, 998, 999]
    assert [by_bytes.find(number) for number in (0, 999)] == [0, 999]


@given(STEPS, some.integers(1, 4))
def test_a_value_holds_for_its_time_unless_too_many_were_used_since(
    steps: list[tuple[str, int, int]], max_items: int
) -> None:
    cache, model, now = TtlCache[int, int](3.0, max_items=max_items), OrderedDict[int, tuple[int, float]](), 0.0
    for number, (step, key, seconds) in enumerate(steps):
        now += seconds
        value, until = model.get(key, (None, 0.0))
        if step == "find":
            assert cache.find(key, now) == (value if now < until else None)
            if now < until:
                model.move_to_end(key)
        elif step == "forget":
            cache.forget(key)
            model.pop(key, None)
        else:
            cache.keep(key, number, now)
            model[key] = number, now + 3.0
            model.move_to_end(key)
            while len(model) > max_items or next(iter(model.values()))[1] <= now:
                model.popitem(last=False)


def test_what_does_not_hold_any_more_takes_no_memory() -> None:
    cache = TtlCache[int, int](5.0)
    for number in range(1000):
        cache.keep(number, number, float(number))
        assert len(cache._values) <= 5
    cache = TtlCache[int, int](0.0)
    cache.keep(1, 1, 7.0)
    assert cache.find(1, 7.0) is None
