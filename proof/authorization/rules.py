"""The table of the matrix: for every operation whom it serves, and which objects it refuses, in the order it looks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

Outcome = tuple[int, str]
"""The status, and the code of an error."""


class Access(StrEnum):
    """Whom an operation serves at all."""

    ANYONE = "anyone"
    CALLER = "caller"
    ROUTER = "router"
    CONTROL_PLANE = "control plane"
    DELEGATION = "delegation"


class Relation(StrEnum):
    """What an object is to the caller; `shared` is published by somebody else, `foreign` is hidden by them."""

    OWN = "own"
    FOREIGN = "foreign"
    SHARED = "shared"
    ABSENT = "absent"


OWN, FOREIGN, SHARED, ABSENT = Relation
NOT_FOUND, FORBIDDEN, CONFLICT = (404, "NOT_FOUND"), (403, "FORBIDDEN"), (409, "CONFLICT")
NOT_INSTALLED, MISMATCH = (404, "AGENT_NOT_INSTALLED"), (400, "VALIDATION_ERROR")
# `target`, `owner` and `binding` stand in the body; the others in the path, or in the body under the same name.
RELATIONS: Mapping[str, Sequence[Relation]] = {
    "agentId": (OWN, FOREIGN, SHARED, ABSENT),
    "releaseId": (OWN, FOREIGN, SHARED, ABSENT),
    "target": (OWN, FOREIGN, SHARED, ABSENT),
    "version": (OWN, ABSENT),
    "owner": (OWN, FOREIGN),
}
_THREE = (OWN, FOREIGN, ABSENT)


@dataclass(frozen=True)
class Rule:
    """`refusals` are looked at in order; the first whose object has the relation is the answer."""

    access: Access
    success: int = 200
    refusals: Sequence[tuple[str, Relation, Outcome]] = ()
    objects: Sequence[str] = ()
    changes: bool = False
    found: Sequence[tuple[Relation, ...]] = ()
    """Combinations that belong together after all: the Router's questions are not those of an owner."""

    def combinations(self) -> Iterator[dict[str, Relation]]:
        choices = [RELATIONS.get(name, _THREE) for name in self.objects]
        for chosen in product(*choices):
            yield dict(zip(self.objects, chosen, strict=True))

    def expected(self, relations: Mapping[str, Relation]) -> Outcome:
        if tuple(relations.values()) in self.found:
            return self.success, ""
        met = (outcome for name, relation, outcome in self.refusals if relations[name] is relation)
        return next(met, (self.success, ""))


def _absent(name: str) -> tuple[str, Relation, Outcome]:
    return name, ABSENT, NOT_FOUND


def _hidden(name: str) -> tuple[str, Relation, Outcome]:
    return name, FOREIGN, FORBIDDEN


def _theirs(name: str) -> Sequence[tuple[str, Relation, Outcome]]:
    return (_hidden(name), (name, SHARED, FORBIDDEN))


def _one_of(parent: str, child: str) -> Sequence[tuple[str, Relation, Outcome]]:
    return (_absent(parent), _hidden(parent), (child, FOREIGN, NOT_FOUND), _absent(child))


def _gateway(success: int, *refusals: tuple[str, Relation, Outcome], objects: str = "", changes: bool = False) -> Rule:
    return Rule(Access.CALLER, success, refusals, tuple(objects.split()), changes)


def _move(verb: str) -> tuple[str, Rule]:
    rule = _gateway(200, _absent("releaseId"), *_theirs("releaseId"), objects="releaseId", changes=True)
    return f"POST /v1/releases/{{releaseId}}/{verb}", rule


_VERSION = (_absent("agentId"), _absent("version"))
_WORKSPACE = (_absent("workspaceId"), _hidden("workspaceId"))
_PROVIDER = (_absent("providerId"), _hidden("providerId"))
_BINDING = _one_of("providerId", "bindingId")
_INSTALLATION = _one_of("workspaceId", "installationId")
_NOT_INSTALLED = tuple(("target", relation, NOT_INSTALLED) for relation in (FOREIGN, SHARED, ABSENT))
_RESOLVED = (_absent("workspaceId"), ("workspaceId", FOREIGN, NOT_INSTALLED), *_NOT_INSTALLED)
_RESOLUTION = Rule(Access.ROUTER, 200, _RESOLVED, ("workspaceId", "target"), found=((FOREIGN, SHARED),))
_CARD = "/v1/agents/{agentId}/versions/{version}"
_BINDINGS = "/v1/providers/{providerId}/endpoint-bindings"
_INSTALLATIONS = "/v1/workspaces/{workspaceId}/installations"
_SPACE = "/v1/workspaces/{workspaceId}"
_OPEN = Rule(Access.ANYONE)

GATEWAY: Mapping[str, Rule] = {
    "POST /v1/agents": _gateway(201, _hidden("owner"), objects="owner", changes=True),
    "GET /v1/agents": _gateway(200),
    "GET /v1/agents/{agentId}": _gateway(200, _absent("agentId"), _hidden("agentId"), objects="agentId"),
    f"GET {_CARD}": _gateway(200, *_VERSION, _hidden("agentId"), objects="agentId version"),
    f"POST {_CARD}/publish": _gateway(200, *_VERSION, *_theirs("agentId"), objects="agentId version", changes=True),
    f"POST {_CARD}/disable": _gateway(200, *_VERSION, *_theirs("agentId"), objects="agentId version", changes=True),
    "GET /v1/public/agents/{publicAgentId}": Rule(
        Access.ANYONE, 200, (_absent("publicAgentId"),), objects=("publicAgentId",)
    ),
    "POST /v1/providers/{providerId}/agents/{agentId}/endpoint-bindings": _gateway(
        201,
        *(_absent("agentId"), *_theirs("agentId"), _hidden("providerId"), ("providerId", ABSENT, CONFLICT)),
        objects="providerId agentId",
        changes=True,
    ),
    f"GET {_BINDINGS}": _gateway(200, *_PROVIDER, objects="providerId"),
    f"GET {_BINDINGS}/{{bindingId}}": _gateway(200, *_BINDING, objects="providerId bindingId"),
    f"POST {_BINDINGS}/{{bindingId}}/challenges": _gateway(
        201, *_BINDING, objects="providerId bindingId", changes=True
    ),
    f"POST {_BINDINGS}/{{bindingId}}/challenges/{{challengeId}}/complete": _gateway(
        200,
        *(*_BINDING, ("challengeId", FOREIGN, NOT_FOUND), _absent("challengeId")),
        objects="providerId bindingId challengeId",
        changes=True,
    ),
    "POST /v1/providers/{providerId}/agents/{agentId}/releases": _gateway(
        201,
        *(*_one_of("providerId", "binding"), *(("agentId", other, MISMATCH) for other in (FOREIGN, SHARED, ABSENT))),
        objects="providerId agentId binding",
        changes=True,
    ),
    "GET /v1/providers/{providerId}/releases": _gateway(200, *_PROVIDER, objects="providerId"),
    "GET /v1/providers/{providerId}/agents": _gateway(200, _hidden("providerId"), objects="providerId"),
    **dict(map(_move, ("verify", "publish", "suspend", "revoke"))),
    "GET /v1/releases/{releaseId}": _gateway(200, _absent("releaseId"), _hidden("releaseId"), objects="releaseId"),
    "GET /v1/status": _gateway(200),
    "POST /v1/workspaces": _gateway(201, changes=True),
    "GET /v1/workspaces": _gateway(200),
    f"GET {_SPACE}": _gateway(200, *_WORKSPACE, objects="workspaceId"),
    f"POST {_INSTALLATIONS}": _gateway(
        201,
        *(*_WORKSPACE, ("target", OWN, CONFLICT), ("target", FOREIGN, NOT_FOUND), _absent("target")),
        objects="workspaceId target",
        changes=True,
    ),
    f"GET {_INSTALLATIONS}": _gateway(200, *_WORKSPACE, objects="workspaceId"),
    f"GET {_INSTALLATIONS}/{{installationId}}": _gateway(200, *_INSTALLATION, objects="workspaceId installationId"),
    f"PATCH {_INSTALLATIONS}/{{installationId}}": _gateway(
        200, *_INSTALLATION, objects="workspaceId installationId", changes=True
    ),
    f"DELETE {_INSTALLATIONS}/{{installationId}}": _gateway(
        200, *_INSTALLATION, objects="workspaceId installationId", changes=True
    ),
    f"POST {_SPACE}/invocations": _gateway(
        200, *_WORKSPACE, *_NOT_INSTALLED, objects="workspaceId target", changes=True
    ),
    f"GET {_SPACE}/invocations": _gateway(200, *_WORKSPACE, objects="workspaceId"),
    f"GET {_SPACE}/invocations/{{invocationId}}": _gateway(
        200, *_one_of("workspaceId", "invocationId"), objects="workspaceId invocationId"
    ),
    f"GET {_SPACE}/traces/{{traceId}}": _gateway(
        200, *_one_of("workspaceId", "traceId"), objects="workspaceId traceId"
    ),
    **{f"GET {path}": _OPEN for path in ("/livez", "/readyz", "/metrics")},
}

CONTROL_PLANE_INTERNAL: Mapping[str, Rule] = {
    "POST /internal/v1/resolve-agent": _RESOLUTION,
    "POST /internal/v1/resolve-installed-version": _RESOLUTION,
    "GET /internal/v1/topology/watch": Rule(Access.ROUTER),
}


def _lineage(name: str) -> Rule:
    """The Router knows no owners: a record belongs to a Workspace and is found there alone."""
    mine = ("workspaceId", FOREIGN, NOT_FOUND), _absent("workspaceId"), (name, FOREIGN, NOT_FOUND), _absent(name)
    return Rule(Access.CONTROL_PLANE, 200, mine, ("workspaceId", name), found=((FOREIGN, FOREIGN),))


ROUTER_INTERNAL: Mapping[str, Rule] = {
    "POST /internal/v1/invocations": Rule(Access.CONTROL_PLANE, changes=True),
    "GET /internal/v1/workspaces/{workspaceId}/invocations": Rule(Access.CONTROL_PLANE, objects=("workspaceId",)),
    "GET /internal/v1/workspaces/{workspaceId}/invocations/{invocationId}": _lineage("invocationId"),
    "GET /internal/v1/workspaces/{workspaceId}/traces/{traceId}": _lineage("traceId"),
    "GET /internal/v1/topology/status": Rule(Access.CONTROL_PLANE),
    **{f"GET {path}": _OPEN for path in ("/livez", "/readyz", "/metrics")},
}

ROUTER_AGENT: Mapping[str, Rule] = {
    "POST /agent/v1/invocations": Rule(Access.DELEGATION, 200, _NOT_INSTALLED, ("target",), changes=True),
}

RULES: Mapping[str, Mapping[str, Rule]] = {
    "gateway.v1": GATEWAY,
    "control-plane-internal.v1": CONTROL_PLANE_INTERNAL,
    "router-internal.v1": ROUTER_INTERNAL,
    "router-agent.v1": ROUTER_AGENT,
}
"""By OpenAPI document, then by method and path."""
