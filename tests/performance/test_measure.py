"""What one benchmark sets for itself is not there for the next of the same run."""

import os

import pytest

from benchmarks import growth
from benchmarks._newcomer import StepFailed
from benchmarks.measure import ahead_of_others

pytestmark = pytest.mark.second_ring


def test_what_one_benchmark_puts_ahead_of_other_work_is_not_ahead_in_the_next() -> None:
    before = os.sched_getscheduler(0)
    with ahead_of_others() as is_ahead:
        assert os.sched_getscheduler(0) == (os.SCHED_RR if is_ahead else before)
    assert os.sched_getscheduler(0) == before


def test_a_growing_ledger_without_a_sample_in_each_month_is_refused_before_anything_starts() -> None:
    with pytest.raises(StepFailed, match="--calls is at least 2,550"):
        growth.run(2_549)
