"""Values that hold a secret do not show it."""

import msgspec

from aop.contracts.publication import IssuedChallenge
from tests.support.contracts import CONTRACTS


def test_a_challenge_keeps_its_proof_out_of_its_text_form() -> None:
    body = (CONTRACTS / "challenge/1/examples/valid/issued.json").read_bytes()
    challenge = msgspec.json.decode(body, type=IssuedChallenge)
    assert challenge.proof not in f"{challenge} {challenge!r}"
