"""The replay memory admits each jti once, forgets the expired, and never forgets the living."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from aop.agent import ReplayMemory

NOW = 1_000_000.0


def test_a_jti_is_admitted_once_while_it_lives() -> None:
    memory = ReplayMemory()
    assert memory.admits("jti_1", 1_000_060, NOW)
    assert not memory.admits("jti_1", 1_000_060, NOW)
    assert not memory.admits("jti_1", 1_000_090, NOW + 30)


def test_the_same_text_object_is_no_second_admission() -> None:
    memory, jti = ReplayMemory(), "j"
    assert [memory.admits(jti, 1_000_060, NOW) for _ in range(3)] == [True, False, False]


def test_expired_entries_are_dropped() -> None:
    memory = ReplayMemory()
    for number in range(5_000):
        assert memory.admits(f"jti_{number}", 1_000_001 + number % 60, NOW)
    for later in range(6):
        assert memory.admits(f"late_{later}", 1_000_300, NOW + 100)
    assert len(memory) == 6


def test_a_clock_that_steps_back_revives_nothing() -> None:
    memory = ReplayMemory()
    assert memory.admits("jti_1", 1_000_010, NOW)
    assert memory.admits("jti_2", 1_000_060, NOW + 20)
    assert not memory.admits("jti_1", 1_000_010, NOW)


def test_a_clock_that_went_ahead_and_came_back_refuses_nothing_before_it_is_there_again() -> None:
    memory = ReplayMemory()
    for second in range(0, 4_600, 10):
        ahead = 3_600 if 1_000 <= second < 2_000 else 0
        assert memory.admits(f"jti_{second}", 1_000_060 + second + ahead, NOW + second + ahead), second
        assert not memory.admits(f"jti_{second}", 1_000_060 + second + ahead, NOW + second)


def test_what_was_forgotten_stays_refused_wherever_the_clock_goes() -> None:
    memory, chance = ReplayMemory(), random.Random(7)
    admitted: dict[str, int] = {}
    for number in range(20_000):
        now = NOW + chance.uniform(-5_000, 5_000)
        jti, expires = f"jti_{number}", int(now) + chance.randrange(1, 300)
        if memory.admits(jti, expires, now):
            admitted[jti] = expires
    assert len(admitted) > 100
    for jti, expires in admitted.items():
        assert not memory.admits(jti, expires, expires - 0.5)


def test_a_credential_that_expired_while_its_body_was_read_is_not_admitted() -> None:
    assert not ReplayMemory().admits("jti_1", 1_000_000, NOW)


def test_a_full_memory_admits_nothing_rather_than_forgetting_the_living() -> None:
    memory = ReplayMemory(max_live=3)
    assert [memory.admits(f"jti_{n}", 1_000_060, NOW) for n in range(4)] == [True, True, True, False]
    assert not memory.admits("jti_0", 1_000_060, NOW)
    assert memory.admits("jti_4", 1_000_120, NOW + 60)


def test_threads_that_present_one_jti_at_once_see_one_admission() -> None:
    memory, barrier = ReplayMemory(), Barrier(8)

    def present(number: int) -> int:
        barrier.wait()
        return sum(memory.admits(f"jti_{n}", 1_000_060, NOW) for n in range(2_000))

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(present, range(8))) == 2_000
    finally:
        sys.setswitchinterval(switching)
