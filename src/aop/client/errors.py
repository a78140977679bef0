"""What a call ends in when it gives no result, as one family of exceptions."""

from typing import Any, Final

import msgspec

from aop.contracts.catalog import CatalogEntry
from aop.contracts.errors import ErrorCode, Reason, Violation, code_entries
from aop.contracts.expected import expected
from aop.contracts.invocation import CorrelatedError
from aop.contracts.platform_error import InvocationError
from aop.contracts.recovery import Recovery, RecoveryOwner, Situation, recoveries, recovery_of
from aop.net.origin import InvalidEndpoint

_PROVIDER: Final = RecoveryOwner.PROVIDER
_CALLER: Final = RecoveryOwner.CALLER


class ClientError(Exception):
    """A call failed. `recovery` says who acts next and how. The client never sends a request again.

    `trace_id` and `invocation_id` are None where they are not known. `cause` is the error below it, for debugging. It
    is no part of the traceback, which ends at the call that failed.
    """

    cause: BaseException | None = None

    def __init__(
        self, text: str, recovery: Recovery, *, trace_id: str | None = None, invocation_id: str | None = None
    ) -> None:
        super().__init__(text)
        self.recovery = recovery
        self.trace_id = trace_id
        self.invocation_id = invocation_id

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is rebuilt from its text by default, which these are not made from; pools of processes pickle.
        # A cause may be of a kind that cannot be pickled, so it stays behind.
        members = {name: value for name, value in vars(self).items() if name != "cause"}
        return _restored, (type(self), self.args, members)


class PlatformError(ClientError):
    """The platform answered with an error: `code`, its fixed `message` and `status`, and what was wrong where.

    `reason` is one word of the contract's closed list that says more than the code, or None; `recovery` is then that of
    the reason, with its sentence.

    >>> from aop.client import PlatformError
    >>> try:
    ...     client.read_workspace("nowhere")
    ... except PlatformError as error:
    ...     print(error.code, error.reason, error.recovery.owner)
    ...     print(error.recovery.sentence, error.recovery.action)
    NOT_FOUND workspace_unknown caller
    There is no Workspace with this id. Check the Workspace id; list the Workspaces to find it.
    """

    def __init__(self, error: InvocationError, *, retry_after: int | None = None) -> None:
        self.violations: tuple[Violation, ...] = error.violations or ()
        self.reason: Reason | None = error.reason or None
        recovery = recovery_of(error.code, self.reason)
        more = "".join(f"; {item.pointer or 'body'}: {_said(item)}" for item in self.violations)
        if recovery.sentence is not None:
            more += f"; {self.reason}: {recovery.sentence.removesuffix('.')}"
        super().__init__(
            f"{error.code}: {error.message.removesuffix('.')}{more} (trace {error.trace_id})",
            recovery,
            trace_id=error.trace_id,
            invocation_id=error.invocation_id or None,
        )
        self.code = error.code
        self.message = error.message
        self.status = code_entries()[error.code].status
        self.root_task_id = error.root_task_id or None
        self.retry_after = retry_after
        """Seconds; only with OVERLOADED."""

    @staticmethod
    def of(error: InvocationError | CorrelatedError, *, retry_after: int | None = None) -> "PlatformError":
        """InvocationFailed when an Invocation had been accepted."""
        if isinstance(error, CorrelatedError):
            error = InvocationError(**msgspec.structs.asdict(error))
        kind = PlatformError if error.invocation_id is msgspec.UNSET else InvocationFailed
        return kind(error, retry_after=retry_after)


class InvocationFailed(PlatformError):
    """An accepted Invocation did not succeed. Its outcome is final and is in the Ledger."""


class Unreachable(ClientError):
    """There was no connection to the Gateway, so nothing was sent."""

    def __init__(self, text: str, recovery: Recovery | None = None) -> None:
        super().__init__(text, recovery or recoveries()[Situation.UNREACHABLE])


class InvalidAddress(ClientError, InvalidEndpoint):
    """The text given as the Gateway's address is not one, so there is no client."""

    def __init__(self, address: str, problem: str) -> None:
        # User info may hold a password.
        named = "the text given" if "@" in address else repr(address[:200])
        action = "Give the address of the Gateway, for example http://127.0.0.1:8080 or https://agents.example.com."
        super().__init__(f"{named} is not the address of a Gateway: {problem}", Recovery(_CALLER, action))


class AuthoritiesNotUsable(ClientError):
    """The file of certificate authorities cannot be read or holds none, so there is no client."""

    def __init__(self, path: str, problem: str) -> None:
        action = "Name a readable file of PEM certificates: that of the authority that issued the Gateway's."
        super().__init__(f"the CA file {path} {problem}", Recovery(_CALLER, action))


class TokenNeeded(ClientError, ValueError):
    """The call needs an access token, and the client has none that can be sent. Nothing was sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Recovery(_CALLER, "Give the client an access token: Client(url, token)."))


class AnswerLost(ClientError):
    """The request was sent, but no complete answer came. It may have taken effect."""

    def __init__(self, text: str, *, trace_id: str | None = None) -> None:
        super().__init__(text, recoveries()[Situation.ANSWER_LOST], trace_id=trace_id)


class DeadlinePassed(AnswerLost, TimeoutError):
    """The time that the caller gave was over before the answer came."""


class BrokenAnswer(ClientError):
    """The answer is not one of the contract: another program, the page of a proxy, or a changed body.

    It is never taken for an empty list or for something that does not exist.
    """

    def __init__(self, text: str, *, status: int, trace_id: str | None = None) -> None:
        super().__init__(text, recoveries()[Situation.BROKEN_ANSWER], trace_id=trace_id)
        self.status = status


class StreamInterrupted(ClientError):
    """A stream ended early or broke a rule before a valid terminal came; the chunks before it are incomplete.

    `rule` is that of the conformance vectors (`sequence`, `chunk_index`, `ids`, `error_ids`, `accepted_first`,
    `after_terminal`, `schema`), or one of `framing`, `frame_size`, `lineage`, `interrupted` (an end without terminal),
    `transfer`, `silence` and `deadline`.
    """

    def __init__(self, rule: str, *, trace_id: str | None, invocation_id: str | None) -> None:
        text = f"the result stream is not whole: {rule} (invocation {invocation_id}, trace {trace_id})"
        situation = recoveries()[Situation.STREAM_INTERRUPTED]
        super().__init__(text, situation, trace_id=trace_id, invocation_id=invocation_id)
        self.rule = rule


class ResultMismatch(ClientError):
    """What the Agent returned does not fit the type that the caller asked for with `result_type`.

    The platform did its part: an Invocation without stream succeeded, and its outcome is in the Ledger. `result` holds
    what came, as it cannot be fetched again.
    """

    def __init__(self, text: str, result: msgspec.Raw, *, trace_id: str | None, invocation_id: str | None) -> None:
        action = "Compare the type with the outputSchema of the Skill. `result` of this error holds what came."
        super().__init__(
            f"{text} (invocation {invocation_id}, trace {trace_id})",
            Recovery(_CALLER, action),
            trace_id=trace_id,
            invocation_id=invocation_id,
        )
        self.result = result


class PublishStopped(ClientError):
    """Publishing cannot continue: the version or its Release was taken out of use. `entry` is the Catalog's record.

    `code` is the one that the platform itself refuses such a version with.
    """

    def __init__(self, code: ErrorCode, text: str, entry: CatalogEntry) -> None:
        super().__init__(text, recoveries()[code])
        self.code = code
        self.entry = entry


class CardChanged(ClientError):
    """The version is registered already, with other content than the Card to publish."""

    def __init__(self, entry: CatalogEntry) -> None:
        action = "A registered version never changes: raise `version` in the Card and publish that."
        super().__init__(
            f"{entry.agent_id} {entry.version} is registered already, with other content",
            Recovery(_PROVIDER, action),
        )
        self.entry = entry


class ProofNeeded(ClientError):
    """The endpoint is not proved yet, and the caller did not say how a proof is served."""

    def __init__(self, endpoint: str) -> None:
        action = "Say how the Agent serves proofs, for example with the folder that its proof page reads."
        super().__init__(f"{endpoint} must be proved first", Recovery(_PROVIDER, action))


class ProofNotServed(ClientError):
    """The proof was not found at its `url`, so the platform did not fetch it and the challenge is unused.

    `problem` says what is there instead.
    """

    def __init__(self, url: str, problem: str) -> None:
        action = "Start the Agent, make sure that it serves the proof at this address, and publish again."
        super().__init__(f"the Agent does not serve the proof at {url}: {problem}", Recovery(_PROVIDER, action))
        self.url = url
        self.problem = problem


def brief(error: ClientError) -> ClientError:
    """The error as it leaves this package: without the frames that it passed, and with its cause beside it."""
    error.cause = error.cause or error.__cause__
    return error.with_traceback(None)


def _said(violation: Violation) -> str:
    words = expected(violation)
    return violation.rule if words is None else f"{violation.rule} ({words})"


def _restored(kind: type[ClientError], args: tuple[Any, ...], members: dict[str, Any]) -> ClientError:
    error = kind.__new__(kind, *args)
    vars(error).update(members)
    return error
