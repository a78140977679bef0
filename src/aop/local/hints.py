"""Tells a call of `aop up` that gave no result as one message with a way out on this machine."""

from aop.client import ClientError, PlatformError
from aop.contracts.errors import ErrorCode

_HINTS = {
    ErrorCode.FORBIDDEN: "it belongs to another principal; use another data folder or database, or --no-agents",
    ErrorCode.UNAUTHENTICATED: "the access token was not accepted; does PLATFORM_OIDC_… replace access tokens?",
    ErrorCode.DISALLOWED_NETWORK: "its address is not on the allow-list; add it with --allow HOST:PORT",
    ErrorCode.ENDPOINT_UNAVAILABLE: "the Agent did not answer at its address; its log file says why",
    ErrorCode.WRONG_PROOF: "another program answers at the Agent's address; stop it and start again",
    ErrorCode.CHALLENGE_EXPIRED: "the machine's clock may have jumped; start again",
    ErrorCode.VALIDATION_ERROR: "correct card.json and start again",
}
_USUAL_HINT = "the log files of the units say why; start again, or leave the Agents out with --no-agents"


def with_hint(problem: ClientError) -> str:
    hint = _HINTS.get(problem.code, _USUAL_HINT) if isinstance(problem, PlatformError) else _USUAL_HINT
    return f"{problem}\n  {hint}"
