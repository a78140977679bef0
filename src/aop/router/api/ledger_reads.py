"""What all reads of the Ledger for the Control Plane have in common: their routes, and how the Ledger refuses them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import msgspec

from aop.contracts.errors import (
    Conflict,
    DependencyFailed,
    Envelope,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    Reason,
    Violation,
)
from aop.ledger.months import Archived
from aop.ledger.read.traces import LineageBroken
from aop.ledger.tree.reader import NotInTree, PartUnknown, TooManyLeaves
from aop.ledger.tree.store import TreeBroken
from aop.serving.edge.bearer import ServicePrincipals
from aop.serving.edge.query import QueryRules
from aop.serving.edge.routing import Call, Route, Spanned

WORKSPACE: Final = "/internal/v1/workspaces/:workspaceId"
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A part of a position."""


def read_route(principals: ServicePrincipals, path: str, call: Call, query: QueryRules | None = None) -> Route:
    """It has a trace of its own, so that its span would stand alone beside the Gateway's."""
    authenticate = principals.authenticate
    return Route("GET", path, call, Envelope.INVOCATION, authenticate, query=query or {}, spanned=Spanned.NOT)


@contextmanager
def ledger_refusals() -> Iterator[None]:
    try:
        yield
    except NotInTree as early:
        raise Conflict(str(early), reason=Reason.NOT_NUMBERED_YET) from None
    except TooManyLeaves:
        raise PayloadTooLarge("the proof") from None
    except PartUnknown:
        raise InvalidRequest(Violation("/cursor", "cursor")) from None
    except Archived:
        raise NotFound("archived", reason=Reason.ARCHIVED) from None
    except (LineageBroken, TreeBroken) as broken:
        raise DependencyFailed(str(broken)) from None
