"""How a command ends when it does not succeed: the exit codes, and the problem that is shown."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from aop.contracts.errors import Violation
from aop.contracts.expected import expected

EXIT_REFUSED = 1
"""The platform refused or failed, an Invocation did not succeed, or a check found something."""
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
"""No answer, or one that is not the platform's."""
EXIT_CONFIGURATION = 78
"""A setting or a package is missing; supervisors do not start the command again."""
EXIT_INTERRUPTED = 130

EXIT_CODES: Mapping[int, str] = {
    0: "done",
    EXIT_REFUSED: "refused or failed: the platform said no, an Invocation did not succeed, a check found something",
    EXIT_USAGE: "wrong usage: an option or argument is missing or not understood",
    EXIT_UNREACHABLE: "the platform did not answer, or something else answered in its place",
    EXIT_CONFIGURATION: "a PLATFORM_… setting is missing or unreadable, or a package that the command needs is missing",
    EXIT_INTERRUPTED: "stopped with Ctrl-C; an Invocation that ran is canceled",
}


class CommandProblem(Exception):
    """Ends the command with its text and its exit code, without a traceback."""

    def __init__(self, text: str, *, code: str = "failed", recovery: str = "", exit_code: int = EXIT_REFUSED) -> None:
        super().__init__(text)
        self.code = code
        self.recovery = recovery
        self.exit_code = exit_code
        self.reason: str | None = None
        self.sentence: str | None = None
        """What the reason says."""
        self.trace_id: str | None = None
        self.invocation_id: str | None = None
        self.violations: Sequence[Violation] = ()
        self.forms: Mapping[str, str] = {}
        """What belongs at the pointer of a violation, where that is known better than from the contract."""
        self.hint: str | None = None
        """What the command adds itself, such as names that look alike."""

    def expected(self, violation: Violation) -> str | None:
        return expected(violation, self.forms.get(violation.pointer))

    def _place(self, one: Violation) -> dict[str, str]:
        words = self.expected(one)
        return {"pointer": one.pointer, "rule": one.rule} | ({} if words is None else {"expected": words})

    def document(self) -> dict[str, Any]:
        """What `--json` writes to stderr."""
        members = {
            "code": self.code,
            "message": str(self),
            "reason": self.reason,
            "sentence": self.sentence,
            "traceId": self.trace_id,
            "invocationId": self.invocation_id,
            "violations": [self._place(one) for one in self.violations] or None,
            "hint": self.hint,
            "recovery": self.recovery or None,
        }
        return {"error": {name: value for name, value in members.items() if value is not None}}


class UsageProblem(CommandProblem):
    """The command line makes no sense; nothing was done."""

    def __init__(self, text: str, recovery: str = "") -> None:
        super().__init__(text, code="usage", recovery=recovery, exit_code=EXIT_USAGE)


@contextmanager
def file_problems(path: Path | str, act: Literal["read", "written"]) -> Iterator[None]:
    """A file that cannot be read or written inside is the problem of the command."""
    try:
        yield
    except OSError as problem:
        raise CommandProblem(f"{path} cannot be {act}: {problem.strerror}") from None
