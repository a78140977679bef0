"""The results of `aop agent check` for people: what matters first, and one row for many of one kind."""

from collections.abc import Sequence
from typing import Any

from aop.agent.check.check import CheckResult
from aop.cli.provider.probe import Probe
from aop.cli.shell.output import Line, status, table

AGREEMENT = "is what its Card says"
_CREDENTIAL = "rejects: "
_MAX_CREDENTIAL_ROWS = 5
"""More failures of this kind have one cause: the Agent does not check its callers, or believes another key."""


def agreement(probe: Probe) -> CheckResult:
    if probe.problem is not None:
        return CheckResult(AGREEMENT, f"not compared with the Card: {probe.problem}")
    breaking = probe.breaking
    return CheckResult(AGREEMENT, breaking[0].text if breaking else None)


def document_of(finding: CheckResult) -> dict[str, Any]:
    return {"check": finding.name, "passed": finding.problem is None, "problem": finding.problem}


def lines_of(findings: Sequence[CheckResult]) -> list[Line]:
    failed = [one for one in findings if one.problem is not None]
    credential = [one for one in failed if one.name.startswith(_CREDENTIAL)]
    others = sorted((one for one in failed if one not in credential), key=_rank)
    rows = [(one.name, status("failed"), one.problem or "") for one in others]
    if len(credential) > _MAX_CREDENTIAL_ROWS:
        text = f"{len(credential)} requests that must be refused; the first: {credential[0].problem}"
        rows.append((f"{_CREDENTIAL}wrong credentials", status("failed"), text))
    else:
        rows += [(one.name, status("failed"), one.problem or "") for one in credential]
    rows += [(one.name, status("ok"), "") for one in findings if one.problem is None]
    return [*table(["check", "", "problem"], rows), f"{_count(len(findings))}, {len(failed)} failed"]


def _count(checks: int) -> str:
    return "1 check" if checks == 1 else f"{checks} checks"


def _rank(finding: CheckResult) -> int:
    """Agreement with the Card, then the work of the Skills, then the rest."""
    if finding.name == AGREEMENT:
        return 0
    return 1 if ": message/" in finding.name else 2
