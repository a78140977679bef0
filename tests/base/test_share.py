"""How a limit of a unit is divided among its workers."""

from hypothesis import given
from hypothesis import strategies as st

from aop.base.share import WorkerShare, usable_cores


@given(st.integers(1, 10_000), st.integers(1, 64))
def test_the_shares_add_up_to_the_limit_and_each_has_at_least_one(limit: int, count: int) -> None:
    shares = [WorkerShare(number + 1, count).of(limit) for number in range(count)]
    assert min(shares) >= 1
    assert max(shares) - min(shares) <= 1
    assert sum(shares) == max(limit, count)


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1
