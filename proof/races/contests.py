"""Contests over one object: what each act makes of it, one after the other, and which answers some order explains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

Outcome = tuple[int, str]
"""The status, and the code of an error."""
DONE, CREATED, CONFLICT = (200, ""), (201, ""), (409, "CONFLICT")
SUSPENDED, REUSED = (409, "AGENT_RELEASE_SUSPENDED"), (409, "CHALLENGE_REUSED")


@dataclass(frozen=True)
class Contest:
    """`table` says for a state and an act the state that follows and the answer."""

    name: str
    start: str
    acts: Sequence[str]
    table: Mapping[tuple[str, str], tuple[str, Outcome]]

    @cached_property
    def possible(self) -> Mapping[tuple[Outcome, ...], frozenset[str]]:
        """The answers of the acts, in their own order, that some order of them has, with the states it may end in."""
        found: dict[tuple[Outcome, ...], set[str]] = {}
        for order in permutations(range(len(self.acts))):
            state, answers = self.start, dict[int, Outcome]()
            for index in order:
                state, answers[index] = self.table[state, self.acts[index]]
            found.setdefault(tuple(answers[index] for index in range(len(self.acts))), set()).add(state)
        return {answers: frozenset(states) for answers, states in found.items()}


def _installation_table() -> Mapping[tuple[str, str], tuple[str, Outcome]]:
    moves = {"enable": ("disabled", "enabled"), "disable": ("enabled", "disabled")}
    table: dict[tuple[str, str], tuple[str, Outcome]] = {}
    for state in ("enabled", "disabled", "uninstalled"):
        for act, (source, target) in moves.items():
            table[state, act] = (target, DONE) if state == source else (state, CONFLICT)
        table[state, "delete"] = ("uninstalled", CONFLICT if state == "uninstalled" else DONE)
    return table


CONTESTS: Sequence[Contest] = (
    Contest(
        "publish or revoke",
        "verified",
        ("publish", "revoke"),
        {
            ("verified", "publish"): ("published", DONE),
            ("verified", "revoke"): ("revoked", DONE),
            ("published", "revoke"): ("revoked", DONE),
            ("revoked", "publish"): ("revoked", CONFLICT),
        },
    ),
    Contest(
        "suspend or invoke",
        "published",
        ("suspend", "invoke"),
        {
            ("published", "suspend"): ("suspended", DONE),
            ("published", "invoke"): ("published", DONE),
            ("suspended", "invoke"): ("suspended", SUSPENDED),
        },
    ),
    Contest(
        "complete or complete",
        "pending",
        ("complete", "complete"),
        {("pending", "complete"): ("verified", DONE), ("verified", "complete"): ("verified", REUSED)},
    ),
    Contest("enable, disable or delete", "enabled", ("enable", "disable", "delete"), _installation_table()),
    Contest(
        "install or suspend",
        "published",
        ("install", "suspend"),
        {
            ("published", "install"): ("installed", CREATED),
            ("published", "suspend"): ("suspended", DONE),
            ("installed", "suspend"): ("installed and suspended", DONE),
            ("suspended", "install"): ("suspended", SUSPENDED),
        },
    ),
)
