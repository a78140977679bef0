"""The filters and the position of a search as SQL conditions: fixed text with parameters, never a value."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from aop.contracts.catalog import DiscoveryOrder
from aop.serving.edge.paging import SafeIdentifier, VersionText
from aop.store.rows import PageSize


@dataclass(frozen=True)
class Filters:
    """The filters of a search; they combine with AND, and absent ones are None."""

    query: str | None = None
    capability: str | None = None
    owner_id: str | None = None
    latest: bool = False
    installable: bool | None = None
    order: DiscoveryOrder = DiscoveryOrder.RELEVANCE

    @property
    def sifts(self) -> bool:
        """Whether a walk may pass many versions before it meets one that fits."""
        return self.indexed or self.installable is not None

    @property
    def indexed(self) -> bool:
        """Whether an index can find what fits without following the order of publication."""
        return self.capability is not None


class SearchPosition(NamedTuple):
    """The last item of a page, and the highest publication number when the first page was read."""

    boundary: Annotated[int, msgspec.Meta(ge=0)]
    score: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    published_at: datetime
    agent_id: SafeIdentifier
    version: VersionText


@dataclass(frozen=True)
class PageRequest:
    """The size of a page, and the position after which it begins."""

    size: PageSize
    after: SearchPosition | None


class Conditions:
    """Each group of conditions is about the version called `item` in the statement, or about the one named."""

    def __init__(self, filters: Filters, page: PageRequest) -> None:
        self._filters = filters
        self._after = page.after
        self._placeholders: dict[str, str] = {}
        self.values: list[Any] = []
        self.rows = self.bound("rows", page.size.rows, "bigint")

    def placed(self) -> list[str]:
        """Where an index in the order of publication starts: at the owner, and at the end of the page before."""
        after = self._after
        if after is None:
            return self._visible("item")
        moment = self.bound("moment", after.published_at, "timestamptz")
        agent_id, version = self.bound("agent", after.agent_id, "text"), self.bound("version", after.version, "text")
        return [
            *self._visible("item"),
            f"item.published_at <= {moment}",
            f"(item.published_at < {moment} OR (item.agent_id, item.version) > ({agent_id}, {version}))",
        ]

    def installable(self, name: str) -> list[str]:
        installable = self._filters.installable
        if installable is None:
            return []
        return [f"{name}.installable" if installable else f"NOT {name}.installable"]

    def fitting(self, name: str) -> list[str]:
        """The filters on the Card itself. A query that comes here is a part of a text, folded as texts are."""
        filters, conditions = self._filters, []
        if filters.capability is not None:
            conditions.append(f"{name}.skill_ids @> ARRAY[{self.bound('capability', filters.capability, 'text')}]")
        if filters.query is not None:
            text = self.bound("text", filters.query, "text")
            conditions.append(f"(strpos({name}.folded_name, {text}) > 0 OR strpos({name}.folded_text, {text}) > 0)")
        return conditions

    def latest(self, name: str) -> list[str]:
        """No higher version of the Agent meets the other filters. `name` is the relation with the Release of `item`."""
        if not self._filters.latest:
            return []
        others = " AND ".join(
            [
                "higher.agent_id = item.agent_id",
                "(higher.precedence, higher.version) > (item.precedence, item.version)",
                *self._visible("higher"),
                *self.installable("higher"),
                *self.fitting("higher"),
                # Always true. It names the Release, so that the planner checks this condition last, on versions that
                # meet all others. The nearest higher version that meets them ends the check, however many there are.
                f"{name}.installable IS NOT NULL",
            ]
        )
        # OFFSET 0 keeps it one index look-up for each version; as a join it would read all versions first. The order
        # and LIMIT 1 let the look-up climb from the version itself; else it may read all versions that the Agent has.
        nearest = "ORDER BY higher.precedence, higher.version LIMIT 1 OFFSET 0"
        return [f"NOT EXISTS (SELECT FROM registry.eligible_version AS higher WHERE {others} {nearest})"]

    def after_score(self) -> list[str]:
        """After the end of the page before in the order of relevance, for a relation with the column `score`."""
        after = self._after
        if after is None:
            return []
        score, moment = (
            self.bound("score", after.score, "bigint"),
            self.bound("moment", after.published_at, "timestamptz"),
        )
        agent_id, version = self.bound("agent", after.agent_id, "text"), self.bound("version", after.version, "text")
        later = f"(published_at = {moment} AND (agent_id, version) > ({agent_id}, {version}))"
        return [f"(score < {score} OR (score = {score} AND (published_at < {moment} OR {later})))"]

    def of_owner(self, name: str) -> list[str]:
        owner = self._filters.owner_id
        return [] if owner is None else [f"{name}.owner_id = {self.bound('owner', owner, 'text')}"]

    def boundary(self) -> str:
        if self._after is None:
            return "(SELECT number FROM registry.last_publication)"
        return self.bound("boundary", self._after.boundary, "bigint")

    def _visible(self, name: str) -> list[str]:
        """Of the owner in the filters, and not published after the first page was read."""
        conditions = self.of_owner(name)
        if self._after is not None:
            conditions.append(f"{name}.publication <= {self.boundary()}")
        return conditions

    def bound(self, name: str, value: Any, kind: str) -> str:
        """A parameter in a subselect, where the planner does not see its value: so each statement has one plan, which
        the store keeps. That costs half as much as a new plan, and none of the values would change the plan."""
        if name not in self._placeholders:
            self.values.append(value)
            self._placeholders[name] = f"(SELECT ${len(self.values)}::{kind})"
        return self._placeholders[name]
