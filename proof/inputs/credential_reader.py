"""The verifier of credentials as the fuzzer drives it: nothing is believed but what a Router signed, untouched."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from aop.agent import ReplayMemory, Trust, Verifier
from aop.agent.guard.verifier import Rejected
from aop.agent.testing import Draft, SignedRouter, sealed
from aop.contracts.credential import CONTEXT_HEADERS, CredentialClaims
from aop.contracts.documents import document
from proof.inputs.mutation import Mutator, Reader, require

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
_CLAIM_VALUES: Sequence[Any] = (
    *(1, 1.5, None, "", "x", [], {}, "a" * 129, 2**70, True),
    *("https://router.invalid", ["https://agent.invalid"]),
)


@dataclass(frozen=True)
class Presented:
    """A request, and what was signed for it."""

    lines: list[tuple[bytes, bytes]]
    body: bytes
    draft: Draft = field(repr=False)
    token: bytes = field(repr=False)


class Credentials(Reader):
    """Requests that a Router signed, changed before or after it signed them: only the untouched are believed."""

    name = "credential verifier"

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        router = SignedRouter.new("https://agent.example.com", bytes(range(32)), clock=lambda: NOW)
        self._trust = Trust(router.issuer, router.audience, router.key_id, router.key.public)
        self._drafts = [router.draft({"n": n}, parent=None if n % 2 else "inv_parent") for n in range(64)]

    def invent(self) -> Presented:
        pattern = self._chance.choice(self._drafts)
        draft = replace(pattern, header=dict(pattern.header), claims=dict(pattern.claims))
        way = self._chance.random()
        if way < 0.3:
            self._change(draft)
        token = sealed(draft.header, draft.claims, draft.key).encode()
        near = Mutator(self._chance, [token], (b".", b"=", b"A", b"-", b"_", b" ", b",", b"\x00", token[:40]))
        shown = near.near() if 0.3 < way < 0.7 else token
        lines = draft.presenting([f"Bearer {shown.decode('latin-1')}"], draft.context()).headers
        if way > 0.65:
            self._disturb(lines)
        body = near.near(draft.body) if self._chance.random() < 0.05 else draft.body
        return Presented(lines, body, draft, token)

    def attempt(self, sample: Presented) -> bool:
        verifier = Verifier(self._trust, ReplayMemory(), clock=lambda: NOW)
        try:
            claims = verifier.verify(sample.lines, sample.body)
        except Rejected as rejected:
            require(rejected.status in {401, 403}, f"status {rejected.status}")
            return False
        self._require_untouched(sample, claims)
        try:
            verifier.verify(sample.lines, sample.body)
        except Rejected as rejected:
            require((rejected.status, rejected.step) == (401, 11), "a replay")
            return True
        raise AssertionError("accepted twice")

    def _require_untouched(self, sample: Presented, claims: CredentialClaims) -> None:
        signed = sample.draft.claims
        require(dict(sample.lines)[b"authorization"] == b"Bearer " + sample.token, "a token nobody signed")
        require(document("router-agent-credential/1").is_valid(signed), "claims the schema refuses")
        require(msgspec.json.decode(msgspec.json.encode(claims)) == signed, "other claims than were signed")
        require(sample.body == sample.draft.body and claims.aud == (self._trust.audience,), "another body or audience")
        require(claims.iat <= NOW.timestamp() < claims.exp <= claims.iat + 300, "another time")
        signed_context = sample.draft.context()
        sent = [line for line in sample.lines if line[0].decode() in CONTEXT_HEADERS]
        require(sorted(sent) == sorted(signed_context), "another context")

    def _change(self, draft: Draft) -> None:
        """Signed as the Router would sign it, but saying something else."""
        part = draft.claims if self._chance.random() < 0.8 else draft.header
        name = self._chance.choice([*part, "sub", "nbf", "x"])
        if self._chance.random() < 0.3:
            part.pop(name, None)
        elif name in {"iat", "exp"}:
            part[name] += self._chance.choice((-400, -61, -60, -1, 1, 5, 60, 240, 400))
        else:
            part[name] = self._chance.choice(_CLAIM_VALUES)

    def _disturb(self, lines: list[tuple[bytes, bytes]]) -> None:
        at = self._chance.randrange(len(lines))
        name, value = lines[at]
        changed: Sequence[list[tuple[bytes, bytes]]] = (
            [],
            [(name, value), (name, value)],
            [(name, value), (name.replace(b"-", b"_"), value)],
            [(name, value + b"x")],
            [(name, value.swapcase())],
            [(name, value), (b"x-other", value)],
            [(name, value), (b"x-platform-parent-invocation-id", b"inv_other")],
        )
        lines[at : at + 1] = self._chance.choice(changed)
