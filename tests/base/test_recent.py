"""A cache within two limits: what was used longest ago gives way."""

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as some

from aop.base.recent import RecentlyUsed

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
        model.pop(key, None)
        if step == "forget":
            cache.forget(key)
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
