"""The table of the matrix: for every operation whom it serves, and which objects it refuses, in the order it looks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product

Outcome = tuple[int, str]
"""The status, and the code of an error; behind FORBIDDEN of the Gateway also its reason."""


class Access(StrEnum):
    """Whom an operation serves at all."""

    ANYONE = "anyone"
    CALLER = "caller"
    ROUTER = "router"
    CONTROL_PLANE = "control plane"
    DELEGATION = "delegation"


class Relation(StrEnum):
    """What an object is to the visitor; `shared` is published by somebody else, `foreign` is hidden by them.

    `called` is a Workspace whose owner made the visitor a caller, and what is in it; in a `former` one it was a caller.
    As a principal, `called` is a caller of the visitor's own Workspace.
    """

    OWN = "own"
    CALLED = "called"
    FORMER = "former"
    FOREIGN = "foreign"
    SHARED = "shared"
    ABSENT = "absent"


OWN, CALLED, FORMER, FOREIGN, SHARED, ABSENT = Relation
NOT_FOUND, CONFLICT, UNAUTHENTICATED = (404, "NOT_FOUND"), (409, "CONFLICT"), (401, "UNAUTHENTICATED")
NOT_OWNER, NOT_CALLER = (403, "FORBIDDEN not_owner"), (403, "FORBIDDEN not_caller")
NOT_INSTALLED, MISMATCH = (404, "AGENT_NOT_INSTALLED"), (400, "VALIDATION_ERROR")
# `target`, `owner`, `binding` and `code` stand in the body; the others in the path, or in the body under the same name.
RELATIONS: Mapping[str, Sequence[Relation]] = {
    "agentId": (OWN, FOREIGN, SHARED, ABSENT),
    "releaseId": (OWN, FOREIGN, SHARED, ABSENT),
    "target": (OWN, FOREIGN, SHARED, ABSENT),
    "version": (OWN, ABSENT),
    "workspaceId": (OWN, CALLED, FORMER, FOREIGN, ABSENT),
    **dict.fromkeys(("installationId", "invocationId", "traceId", "principalId"), (OWN, CALLED, FOREIGN, ABSENT)),
    "owner": (OWN, FOREIGN),
    "code": (OWN, ABSENT),
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
    together: Mapping[tuple[Relation, ...], Outcome] = field(default_factory=dict)
    """Combinations whose answer no single object decides."""

    def combinations(self) -> Iterator[dict[str, Relation]]:
        choices = [RELATIONS.get(name, _THREE) for name in self.objects]
        for chosen in product(*choices):
            yield dict(zip(self.objects, chosen, strict=True))

    def expected(self, relations: Mapping[str, Relation]) -> Outcome:
        combination = tuple(relations.values())
        if combination in self.together:
            return self.together[combination]
        met = (outcome for name, relation, outcome in self.refusals if relations[name] is relation)
        return next(met, (self.success, ""))


Refusal = tuple[str, Relation, Outcome]
_Together = Mapping[tuple[Relation, ...], Outcome]
_ALONE: _Together = {}
_SUCCESS = (200, "")


def _absent(name: str) -> Refusal:
    return name, ABSENT, NOT_FOUND


def _hidden(name: str) -> Refusal:
    return name, FOREIGN, NOT_OWNER


def _theirs(name: str) -> Sequence[Refusal]:
    return (_hidden(name), (name, SHARED, NOT_OWNER))


def _one_of(parent: str, child: str) -> Sequence[Refusal]:
    return (_absent(parent), _hidden(parent), (child, FOREIGN, NOT_FOUND), _absent(child))


def _gateway(
    operation: str, success: int, *refusals: Refusal, body: Sequence[str] = (), together: _Together = _ALONE
) -> tuple[str, Rule]:
    """Its objects are those of the path and those named of the body; whatever is no read changes something."""
    objects = (*re.findall(r"\{(\w+)\}", operation), *body)
    return operation, Rule(Access.CALLER, success, refusals, objects, not operation.startswith("GET "), together)


def _within(child: str) -> Sequence[Refusal]:
    """What is not in the own Workspace; `_IN_CALLED` has what is not in the called one."""
    return tuple((child, elsewhere, NOT_FOUND) for elsewhere in (CALLED, FOREIGN, ABSENT))


_VERSION = (_absent("agentId"), _absent("version"))
_STRANGER = tuple(("workspaceId", relation, NOT_CALLER) for relation in (FORMER, FOREIGN))
_WORKSPACE = (_absent("workspaceId"), *_STRANGER)
_OWN_WORKSPACE = (*_WORKSPACE, ("workspaceId", CALLED, NOT_OWNER))
_IN_CALLED: _Together = {(CALLED, CALLED): _SUCCESS, (CALLED, OWN): NOT_FOUND}
_PROVIDER = (_absent("providerId"), _hidden("providerId"))
_BINDING = _one_of("providerId", "bindingId")
_CHALLENGE = (*_BINDING, ("challengeId", FOREIGN, NOT_FOUND), _absent("challengeId"))
_INSTALLATION = _within("installationId")
_RELEASE = (_absent("releaseId"), *_theirs("releaseId"))
_NOT_INSTALLED = tuple(("target", relation, NOT_INSTALLED) for relation in (FOREIGN, SHARED, ABSENT))
_RESOLVED = (
    _absent("workspaceId"),
    *(("workspaceId", relation, NOT_INSTALLED) for relation in (CALLED, FORMER, FOREIGN)),
    *_NOT_INSTALLED,
)
# The Router's questions are not those of an owner or a caller: what is installed is found.
_RESOLUTION = Rule(
    Access.ROUTER,
    200,
    _RESOLVED,
    ("workspaceId", "target"),
    together=dict.fromkeys(((FOREIGN, SHARED), (CALLED, SHARED)), _SUCCESS),
)
_INVOKED: _Together = {(CALLED, SHARED): _SUCCESS, (CALLED, OWN): NOT_INSTALLED}
_CARD = "/v1/agents/{agentId}/versions/{version}"
_AGENT = "/v1/providers/{providerId}/agents/{agentId}"
_BINDINGS = "/v1/providers/{providerId}/endpoint-bindings"
_CHALLENGES = f"{_BINDINGS}/{{bindingId}}/challenges"
_OF_RELEASE = ("POST verify", "POST publish", "POST suspend", "POST revoke", "GET reach", "GET observation")
_SPACE = "/v1/workspaces/{workspaceId}"
_OF_WORKSPACE = ("invocations", "traces", "figures", "events")
_INSTALLATIONS = f"{_SPACE}/installations"
_CALLERS = f"{_SPACE}/callers"
_OPEN = Rule(Access.ANYONE)
_NEW_BINDING = (_absent("agentId"), *_theirs("agentId"), _hidden("providerId"), ("providerId", ABSENT, CONFLICT))
_NEW_RELEASE = (
    *_one_of("providerId", "binding"),
    *(("agentId", other, MISMATCH) for other in (FOREIGN, SHARED, ABSENT)),
)
_INSTALLED = (*_OWN_WORKSPACE, ("target", OWN, CONFLICT), ("target", FOREIGN, NOT_FOUND), _absent("target"))

GATEWAY: Mapping[str, Rule] = {
    **dict(
        [
            _gateway("POST /v1/agents", 201, _hidden("owner"), body=["owner"]),
            _gateway("GET /v1/agents", 200),
            _gateway("GET /v1/agents/{agentId}", 200, _absent("agentId"), _hidden("agentId")),
            _gateway(f"GET {_CARD}", 200, *_VERSION, _hidden("agentId")),
            _gateway(f"GET {_CARD}/compatibility", 200, *_VERSION, _hidden("agentId")),
            _gateway(f"POST {_CARD}/publish", 200, *_VERSION, *_theirs("agentId")),
            _gateway(f"POST {_CARD}/disable", 200, *_VERSION, *_theirs("agentId")),
            _gateway(f"POST {_AGENT}/endpoint-bindings", 201, *_NEW_BINDING),
            _gateway(f"GET {_BINDINGS}", 200, *_PROVIDER),
            _gateway(f"GET {_BINDINGS}/{{bindingId}}", 200, *_BINDING),
            _gateway(f"POST {_CHALLENGES}", 201, *_BINDING),
            _gateway(f"POST {_CHALLENGES}/{{challengeId}}/complete", 200, *_CHALLENGE),
            _gateway(f"POST {_AGENT}/releases", 201, *_NEW_RELEASE, body=["binding"]),
            _gateway("GET /v1/providers/{providerId}/releases", 200, *_PROVIDER),
            _gateway("GET /v1/providers/{providerId}/agents", 200, _hidden("providerId")),
            *(_gateway(act.replace(" ", " /v1/releases/{releaseId}/"), 200, *_RELEASE) for act in _OF_RELEASE),
            _gateway("GET /v1/releases/{releaseId}", 200, _absent("releaseId"), _hidden("releaseId")),
            *(_gateway(f"GET /v1/{path}", 200) for path in ("status", "me", "me/agents", "me/tokens")),
            _gateway("POST /v1/me/tokens", 201),
            _gateway("POST /v1/me/sign-in-codes", 201),
            _gateway("POST /v1/workspaces", 201),
            _gateway("GET /v1/workspaces", 200),
            _gateway(f"GET {_SPACE}", 200, *_WORKSPACE),
            _gateway(f"POST {_INSTALLATIONS}", 201, *_INSTALLED, body=["target"]),
            _gateway(f"GET {_INSTALLATIONS}", 200, *_WORKSPACE),
            _gateway(f"GET {_INSTALLATIONS}/{{installationId}}", 200, *_WORKSPACE, *_INSTALLATION, together=_IN_CALLED),
            *(
                _gateway(f"{method} {_INSTALLATIONS}/{{installationId}}", 200, *_OWN_WORKSPACE, *_INSTALLATION)
                for method in ("PATCH", "DELETE")
            ),
            _gateway(f"GET {_CALLERS}", 200, *_WORKSPACE),
            _gateway(
                f"PUT {_CALLERS}/{{principalId}}",
                201,
                *_OWN_WORKSPACE,
                ("principalId", OWN, CONFLICT),
                together={(OWN, CALLED): _SUCCESS},
            ),
            _gateway(
                f"DELETE {_CALLERS}/{{principalId}}",
                200,
                *_OWN_WORKSPACE,
                *(("principalId", other, NOT_FOUND) for other in (OWN, FOREIGN, ABSENT)),
            ),
            _gateway(
                f"POST {_SPACE}/invocations", 200, *_WORKSPACE, *_NOT_INSTALLED, body=["target"], together=_INVOKED
            ),
            *(_gateway(f"GET {_SPACE}/{what}", 200, *_WORKSPACE) for what in _OF_WORKSPACE),
            *(
                _gateway(f"GET {_SPACE}/{path}/{{{name}}}{of}", 200, *_WORKSPACE, *_within(name), together=_IN_CALLED)
                for path, name in (("invocations", "invocationId"), ("traces", "traceId"))
                for of in ("", "/bundle", "/bundle/pages")
            ),
            _gateway("DELETE /v1/me/tokens/{tokenId}", 200, ("tokenId", FOREIGN, NOT_FOUND), _absent("tokenId")),
            _gateway("DELETE /v1/me/token", 200),  # the very last: after it the caller has no token
        ]
    ),
    "POST /v1/sign-in": Rule(Access.ANYONE, 201, (("code", ABSENT, UNAUTHENTICATED),), ("code",), changes=True),
    "GET /v1/public/agents/{publicAgentId}": Rule(
        Access.ANYONE, 200, (_absent("publicAgentId"),), objects=("publicAgentId",)
    ),
    **{f"GET {path}": _OPEN for path in ("/livez", "/readyz", "/metrics", "/openapi.json")},
}

CONTROL_PLANE_INTERNAL: Mapping[str, Rule] = {
    "POST /internal/v1/resolve-agent": _RESOLUTION,
    "POST /internal/v1/resolve-installed-version": _RESOLUTION,
    "GET /internal/v1/topology/watch": Rule(Access.ROUTER),
}


def _lineage(name: str) -> Rule:
    """The Router knows neither owners nor callers: a record belongs to a Workspace and is found there alone."""
    others = tuple(("workspaceId", other, NOT_FOUND) for other in (CALLED, FORMER, FOREIGN, ABSENT))
    together: _Together = dict.fromkeys(((FOREIGN, FOREIGN), (CALLED, CALLED)), _SUCCESS)
    objects = ("workspaceId", name)
    return Rule(Access.CONTROL_PLANE, 200, (*others, *_within(name)), objects, together=together)


_READ = "GET /internal/v1/workspaces/{workspaceId}"
ROUTER_INTERNAL: Mapping[str, Rule] = {
    "POST /internal/v1/invocations": Rule(Access.CONTROL_PLANE, changes=True),
    **{f"{_READ}/{what}": Rule(Access.CONTROL_PLANE, objects=("workspaceId",)) for what in _OF_WORKSPACE},
    **{f"{_READ}/invocations/{{invocationId}}{of}": _lineage("invocationId") for of in ("", "/proof", "/proof/pages")},
    **{f"{_READ}/traces/{{traceId}}{of}": _lineage("traceId") for of in ("", "/proof", "/proof/pages")},
    "GET /internal/v1/releases/{releaseId}/reach": Rule(Access.CONTROL_PLANE, objects=("releaseId",)),
    **{f"GET /internal/v1/{what}": Rule(Access.CONTROL_PLANE) for what in ("topology/status", "status")},
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
