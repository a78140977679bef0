"""What the Skills take and give, as the Card's schemas say it."""

from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Text = Annotated[str, Field(min_length=1, max_length=200_000)]
Line = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1, le=20, strict=True)]
Pace = Annotated[int, Field(ge=0, le=1_000, strict=True)]
Minutes = Annotated[int, Field(ge=5, le=480, strict=True)]


class Document(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=False)


class AgendaRequest(Document):
    topics: Annotated[tuple[Line, ...], Field(min_length=1, max_length=20)]
    minutes: Minutes = 60


class Slot(Document):
    topic: str
    start_minute: int
    minutes: int


class Agenda(Document):
    slots: tuple[Slot, ...]


class Meeting(Document):
    notes: Text
    meeting_date: date | None = None
    sentences: Count = 3
    pace_ms: Pace = 0


class Missing(Document):
    """A part of a result that another Agent did not deliver, and the code the platform gave for it."""

    agent_id: str
    code: str


class Brief(Document):
    """What is missing is null here and named there."""

    title: str
    summary: str | None
    action_items: tuple[dict[str, Any], ...] | None
    missing: tuple[Missing, ...]


class DigestRequest(Document):
    meetings: Annotated[tuple[Meeting, ...], Field(min_length=1, max_length=10)]


class Digest(Document):
    """The briefs that came, in the order of the meetings, and what each person has to do after all of them."""

    briefs: tuple[Brief, ...]
    tasks_by_owner: dict[str, tuple[str, ...]]
    missing: tuple[Missing, ...]
