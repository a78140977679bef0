"""What a principal may do in a Workspace: the owner everything, a current caller reads and invokes, others nothing."""

from typing import Protocol, TypeVar

from aop.contracts.errors import Forbidden, NotFound, Reason
from aop.contracts.workspace import WorkspaceRole


class WithRole(Protocol):
    """What was read of a Workspace for one principal, together with its role there."""

    @property
    def role(self) -> WorkspaceRole | None: ...


S = TypeVar("S", bound=WithRole)


def require_known(seen: S | None) -> S:
    if seen is None:
        raise NotFound("no such Workspace", reason=Reason.WORKSPACE_UNKNOWN)
    return seen


def require_caller(seen: S | None) -> S:
    """The owner may call as well."""
    known = require_known(seen)
    if known.role is None:
        raise Forbidden("neither owner nor caller of the Workspace", reason=Reason.NOT_CALLER)
    return known


def require_owner(seen: S | None) -> S:
    known = require_caller(seen)
    if known.role is not WorkspaceRole.OWNER:
        raise Forbidden("the Workspace belongs to another principal", reason=Reason.NOT_OWNER)
    return known
