"""The search for canaries finds each of them however it is written, wherever it stands, and nothing else."""

import base64
import os
import random
from collections.abc import Callable
from urllib.parse import quote_from_bytes

import pytest

from proof.leaks.places import Canaries, Channel, occurrences
from tests.support.canaries import found_in, require_absent, spellings
from tests.support.every import every

SECRET = 'cnry-7f3a"é/+ 91bd'


@pytest.fixture
def canaries() -> Canaries:
    found = Canaries("cnry0123456789abcdef")
    found.add(Channel.PROOF, "proof", "f00dfeed" * 4)
    return found


@every("before", range(4))
@every("behind", range(4))
@every("encode", [base64.b64encode, base64.urlsafe_b64encode, base64.b16encode, quote_from_bytes])
def test_a_secret_is_found_in_whatever_it_was_encoded_with(
    before: int, behind: int, encode: Callable[[bytes], bytes | str]
) -> None:
    whole = b"x" * before + SECRET.encode() + b"y" * behind
    written = encode(whole)
    assert found_in({"it": SECRET}, written if isinstance(written, str) else written.decode()) == ["it"]


@every("spelling", sorted(spellings(SECRET)))
def test_every_spelling_fails_a_test_that_forbids_the_secret(spelling: str) -> None:
    with pytest.raises(AssertionError, match="it in the log"):
        require_absent({"it": SECRET}, "the log", f"before {spelling} behind")


def test_nothing_is_found_where_nothing_is() -> None:
    assert found_in({"it": SECRET}, SECRET[:-1] + SECRET[1:] + base64.b64encode(SECRET[1:].encode()).decode()) == []


def test_a_marked_canary_is_told_by_channel_and_provocation(canaries: Canaries) -> None:
    places = [("nothing", os.urandom(5000)), ("log", b"\n a" + canaries.of(Channel.INPUT, "crash").encode())]
    assert canaries.search(places) == {("input of crash", "log")}


def test_each_place_is_told_by_its_own_name(canaries: Canaries) -> None:
    chance = random.Random(3)
    places = [(f"place {number}", chance.randbytes(chance.randrange(300))) for number in range(50)]
    for number in (0, 17, 49):
        name, content = places[number]
        places[number] = name, content + base64.b64encode(b"f00dfeed" * 4)
    assert canaries.search(places) == {("proof", f"place {number}") for number in (0, 17, 49)}


def test_every_needle_is_found_wherever_it_stands() -> None:
    needles = [b"needle-%d-in-a-stack" % number for number in range(2000)]
    content = b"".join(os.urandom(50) + needle for needle in needles)
    assert [needle for _, needle in occurrences(needles, content)] == needles
    assert all(content[at : at + len(needle)] == needle for at, needle in occurrences(needles, content))
