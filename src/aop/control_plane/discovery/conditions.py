"""The filters and the place of a search as SQL conditions: fixed text around parameters, never a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Wanted:
    """The filters of a search in the form the store compares with; absent ones are None."""

    text: str | None
    grams: Sequence[int]
    capability: str | None
    owner_id: str | None
    latest: bool
    installable: bool | None

    @property
    def sifts(self) -> bool:
        """Whether many versions may have to be passed before one is met that fits."""
        return self.indexed or self.installable is not None

    @property
    def indexed(self) -> bool:
        """Whether an index can find what fits without following the order of publication."""
        return self.text is not None or self.capability is not None


@dataclass(frozen=True)
class After:
    """The last item of the page before, and the highest publication number that the first page saw."""

    boundary: int
    published_at: datetime
    agent_id: str
    version: str


@dataclass(frozen=True)
class Part:
    """How much of the list is wanted, and from where on."""

    rows: int
    most_bytes: int
    after: After | None


class Conditions:
    """Each group of conditions is about the version called `item` in the statement, or about the one named."""

    def __init__(self, wanted: Wanted, part: Part) -> None:
        self._wanted = wanted
        self._after = part.after
        self._placeholders: dict[str, str] = {}
        self.values: list[Any] = []
        self.rows = self._bound("rows", part.rows, "bigint")

    def placed(self) -> list[str]:
        """What an index in the order of publication can start from: the owner and the end of the page before."""
        after = self._after
        if after is None:
            return self._known("item")
        moment = self._bound("moment", after.published_at, "timestamptz")
        agent_id, version = self._bound("agent", after.agent_id, "text"), self._bound("version", after.version, "text")
        return [
            *self._known("item"),
            f"item.published_at <= {moment}",
            f"(item.published_at < {moment} OR (item.agent_id, item.version) > ({agent_id}, {version}))",
        ]

    def installable(self, name: str) -> list[str]:
        wanted = self._wanted.installable
        if wanted is None:
            return []
        return [f"{name}.installable" if wanted else f"NOT {name}.installable"]

    def fitting(self, name: str) -> list[str]:
        """What is asked of the Card itself."""
        wanted, asked = self._wanted, []
        if wanted.capability is not None:
            asked.append(f"{name}.skill_ids @> ARRAY[{self._bound('capability', wanted.capability, 'text')}]")
        if wanted.text is not None:
            text = self._bound("text", wanted.text, "text")
            asked.append(f"(strpos({name}.folded_name, {text}) > 0 OR strpos({name}.folded_text, {text}) > 0)")
        return asked

    def indexed(self) -> list[str]:
        """Follows from `fitting`; says it in the words of the index on text."""
        grams = self._wanted.grams
        return [f"item.grams @> {self._bound('grams', grams, 'integer[]')}"] if grams else []

    def latest(self, name: str) -> list[str]:
        """No higher version of the Agent meets the other filters. `name` is what knows the Release of `item`."""
        if not self._wanted.latest:
            return []
        others = " AND ".join(
            [
                "higher.agent_id = item.agent_id",
                "(higher.precedence, higher.version) > (item.precedence, item.version)",
                *self._known("higher"),
                *self.installable("higher"),
                *self.fitting("higher"),
                # Always true; but naming the Release puts this question behind all others, so that it is asked of
                # versions that meet them. The nearest higher one that does ends the look, be there ever so many.
                f"{name}.installable IS NOT NULL",
            ]
        )
        # OFFSET 0 keeps it a question per version, asked of an index; as a join it would read all versions first.
        return [f"NOT EXISTS (SELECT FROM registry.eligible_version AS higher WHERE {others} OFFSET 0)"]

    def boundary(self) -> str:
        if self._after is None:
            return "(SELECT number FROM registry.last_publication)"
        return self._bound("boundary", self._after.boundary, "bigint")

    def _known(self, name: str) -> list[str]:
        """Of the owner asked for, and not published after the first page was read."""
        owner, asked = self._wanted.owner_id, []
        if owner is not None:
            asked.append(f"{name}.owner_id = {self._bound('owner', owner, 'text')}")
        if self._after is not None:
            asked.append(f"{name}.publication <= {self.boundary()}")
        return asked

    def _bound(self, name: str, value: Any, kind: str) -> str:
        """A parameter behind a subselect, where the planner does not see its value: so each statement has one plan,
        which the store keeps. It costs half as much as planning anew, and none of the values would change it."""
        if name not in self._placeholders:
            self.values.append(value)
            self._placeholders[name] = f"(SELECT ${len(self.values)}::{kind})"
        return self._placeholders[name]
