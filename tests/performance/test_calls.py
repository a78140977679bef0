"""What an Invocation runs may not change without anybody noticing: calls, statements and bytes are counted exactly."""

import platform

import pytest

from benchmarks.calls import counted, differences, kept


@pytest.mark.rows("SPEED-01")
async def test_an_invocation_runs_exactly_what_is_kept() -> None:
    before = kept()
    if not platform.python_version().startswith(before["python"] + "."):
        pytest.skip(f"counted on Python {before['python']}; another one calls other functions of its library")
    now = await counted()
    changes = [line for unit, figures in now.items() for line in differences(unit, before[unit], figures)]
    said = "renew them with `./dev bench calls --write`, and say in the commit what changed and why"
    assert not changes, "\n".join([f"{len(changes)} figures of an Invocation changed; {said}:", *changes])


def test_one_call_more_is_a_difference_in_its_total_its_module_and_its_step() -> None:
    before = {"Python calls": 9, "step 3: Python calls": 4, "module aop.base.ids": 2, "system calls: read": 3}
    now = {**before, "Python calls": 10, "step 3: Python calls": 5, "module aop.base.ids": 3}
    assert differences("router", before, now) == [
        "router, Python calls: 9 -> 10 (+1)",
        "router, step 3: Python calls: 4 -> 5 (+1)",
        "router, module aop.base.ids: 2 -> 3 (+1)",
    ]
    assert not differences("router", before, {what: n for what, n in before.items() if "system" not in what})
