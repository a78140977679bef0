"""Requests to one Agent for one Skill, as bytes: what all of them have in common is checked and written once."""

from collections.abc import Sequence

from aop.base.recent import RecentlyUsed
from aop.contracts.credential import CONTEXT_HEADERS
from aop.contracts.identity import InvocationContext, Lineage, Pin
from aop.net.http import Headers, Target, request_head
from aop.net.origin import Endpoint
from aop.router.a2a.credential import Credentials, SkillClaims, bound_claims

JSON_ANSWER, STREAM_ANSWER = b"application/json", b"text/event-stream"
_MAX_KEPT = 1024
_SENT = ((b"content-type", b"application/json"), (b"accept-encoding", b"identity"))
_HEADER_OF_CLAIM = {claim: header.encode("ascii") for header, claim in CONTEXT_HEADERS.items()}
_PARENT = b"\r\n%b: %%b" % _HEADER_OF_CLAIM["parentInvocationId"]
_REQUEST = (
    b"%%b\r\nauthorization: Bearer %%b\r\n%b: %%b\r\n%b: %%b\r\n%b: %%b%%b\r\ncontent-length: %%d\r\n\r\n%%b"
) % tuple(_HEADER_OF_CLAIM[claim] for claim in ("traceId", "invocationId", "rootTaskId"))


class SkillRequests:
    """What a credential binds is repeated in headers. Those of the Release and its Skill are in the stored head;
    the ids of an Invocation have passed their schema, and a token is base64url, so that no line can hold another."""

    __slots__ = ("_claims", "_credentials", "_heads", "admitted", "endpoint")

    def __init__(self, credentials: Credentials, endpoint: Endpoint, pin: Pin, capability: str) -> None:
        self.endpoint = endpoint
        self.admitted: tuple[Sequence[str], Target] | None = None
        """The addresses of the endpoint that were judged last, and where to connect then."""
        self._credentials = credentials
        self._claims = SkillClaims(credentials.issuer, endpoint.origin, pin, capability)
        target = Target(endpoint.scheme, endpoint.host, endpoint.port, endpoint.host)
        bound = bound_claims(pin, capability).items()
        lines = [*_SENT, *((_HEADER_OF_CLAIM[claim], value.encode("ascii")) for claim, value in bound)]
        self._heads = {
            accept: request_head(target, "POST", endpoint.path, [*lines, (b"accept", accept)])
            for accept in (JSON_ANSWER, STREAM_ANSWER)
        }

    def delegation(self, lineage: Lineage, expires_at: float) -> bytes:
        """The right of the Agent to make nested calls until then."""
        return self._credentials.delegation(self._claims.of_delegation(lineage, expires_at))

    def request(
        self, lineage: Lineage, body: bytes, accept: bytes, delegation: bytes | None, trace_headers: Headers
    ) -> bytes:
        """With a credential for exactly this body; `trace_headers` name its span."""
        more = b"" if lineage.parent is None else _PARENT % lineage.parent.encode("ascii")
        if delegation is not None:
            more += b"\r\nx-platform-delegation: " + delegation
        for line in trace_headers:
            more += b"\r\n%b: %b" % line
        return _REQUEST % (
            self._heads[accept],
            self._credentials.credential(self._claims.of_credential(lineage, body)),
            lineage.trace.encode("ascii"),
            lineage.invocation.encode("ascii"),
            lineage.root_task.encode("ascii"),
            more,
            len(body),
            body,
        )


class RequestsOfSkills:
    """Those used last."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._kept: RecentlyUsed[tuple[Pin, str], SkillRequests] = RecentlyUsed(max_items=_MAX_KEPT)

    def of(self, context: InvocationContext, endpoint: Endpoint) -> SkillRequests:
        """The endpoint is that of the Card whose digest the pin has."""
        key = context.pin, context.capability
        found = self._kept.find(key)
        if found is not None and (found.endpoint is endpoint or found.endpoint == endpoint):
            return found
        made = SkillRequests(self._credentials, endpoint, *key)
        self._kept.keep(key, made)
        return made
