"""What happened in one seed, in order, under names that are the same in every run of it."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID


class Happening(NamedTuple):
    time: float
    who: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.time:9.4f}  {self.who:<14} {self.what} {self.detail}".rstrip()


@dataclass
class History:
    """Ids differ from run to run, so an Invocation is called by its name, or by when it was first seen."""

    loop: asyncio.AbstractEventLoop
    happened: list[Happening] = field(default_factory=list)
    hits: Counter[str] = field(default_factory=Counter)
    is_over: bool = False
    """Set when the process under test is dead: what its remains do is seen by nobody."""
    _names: dict[UUID, str] = field(default_factory=dict)

    def note(self, who: str, what: str, detail: str = "") -> None:
        if not self.is_over:
            self.happened.append(Happening(self.loop.time(), who, what, detail))

    def hit(self, name: str) -> None:
        if not self.is_over:
            self.hits[name] += 1

    def name(self, invocation: UUID, name: str) -> None:
        self._names[invocation] = name

    def name_of(self, invocation: UUID) -> str:
        return self._names.setdefault(invocation, f"unnamed-{len(self._names)}")

    def row(self, kind: str, row: Any) -> None:
        """A row of the Ledger has become a fact; the store goes on though the Router be dead."""
        if kind == "accepted" and row["parent_invocation_id"] is not None:
            self.name(row["invocation_id"], f"{self.name_of(row['parent_invocation_id'])}-child")
        detail = f"{row['type']} {row['error_code'] or ''}".strip() if kind == "terminal" else ""
        who = self.name_of(row["invocation_id"])
        self.happened.append(Happening(self.loop.time(), who, f"recorded {kind}", detail))
