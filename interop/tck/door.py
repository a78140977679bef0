"""The kit at the door: which branches there are, what each must come to, and why some of it is not offered."""

import asyncio
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from interop.calls import WORKSPACE
from interop.environments import prepare
from interop.frameworks import FRAMEWORKS
from interop.session import started_session
from interop.tck.identity import CallerIdentity
from interop.tck.kit import KitRun, run_kit

AGENT = next(framework for framework in FRAMEWORKS if framework.name == "a2a-sdk-0.3")
"""The Agent behind the door: it takes a text and gives one."""

_ONE_MESSAGE = "a Task takes one message: an incoming `taskId` is -32001"
_ENDED = "message/send is answered at the end of the Task, so there is nothing left to cancel: -32001"
_LISTS = "there is no list of Tasks at the door; the Gateway lists Invocations"
_SCENARIO = (
    "the kit tells an Agent by the id of its message what to answer; that id is the caller's and reaches no Agent"
)
_RIGHT = "the door answers -32005, as the requirement says; the test itself expects a result"


@dataclass(frozen=True)
class Branch:
    """One line of the kit. `mark` is a file that only its checkouts have; `excused` says why a test may fail."""

    name: str
    version: str
    mark: str
    options: Sequence[str]
    excused: Mapping[str, str]

    def command(self, address: str) -> list[str]:
        return ["run_tck.py", *(option.format(address=address) for option in self.options)]


_PLUGIN = "interop.tck.bearer"
_PROTOCOL = "tests/mandatory/protocol"
_CORE = "tests/compatibility/core_operations"
BRANCHES = (
    Branch(
        "0.3.x",
        "0.3",
        "tests/mandatory",
        ("--sut-url", "{address}", "--category", "mandatory", "--transports", "jsonrpc"),
        {
            f"{_PROTOCOL}/test_message_send_method.py::test_message_send_continue_task": _ONE_MESSAGE,
            f"{_PROTOCOL}/test_state_transitions.py::test_task_history_length": _ONE_MESSAGE,
            f"{_PROTOCOL}/test_tasks_cancel_method.py::test_tasks_cancel_valid": _ENDED,
            f"{_PROTOCOL}/test_a2a_v030_new_methods.py::TestMethodMappingCompliance"
            "::test_core_method_mapping_compliance": _ENDED,
        },
    ),
    Branch(
        "1.0-dev",
        "1.0",
        "tests/compatibility",
        ("--sut-host", "{address}", "--transport", "jsonrpc", "--level", "must"),
        {
            **{
                f"{_CORE}/test_requirements.py::test_must_requirement[CORE-LIST-00{n}-jsonrpc]": _LISTS
                for n in range(1, 6)
            },
            f"{_CORE}/test_requirements.py::test_must_requirement[CORE-SEND-003-jsonrpc]": _RIGHT,
            f"{_CORE}/test_artifacts.py::TestTextArtifact::test_task_has_text_artifact[jsonrpc]": _SCENARIO,
            f"{_CORE}/test_artifacts.py::TestFileArtifact::test_task_has_file_artifact[jsonrpc]": _SCENARIO,
            f"{_CORE}/test_artifacts.py::TestFileUrlArtifact::test_task_has_file_url_artifact[jsonrpc]": _SCENARIO,
            f"{_CORE}/test_artifacts.py::TestDataArtifact::test_task_has_data_artifact[jsonrpc]": _SCENARIO,
            f"{_CORE}/test_artifacts.py::TestMessageResponse::test_returns_message_with_text_part[jsonrpc]": _SCENARIO,
        },
    ),
)


@dataclass(frozen=True)
class DoorResult:
    branch: Branch
    commit: str
    run: KitRun

    @property
    def unexcused(self) -> list[str]:
        return [failure for failure in self.run.failures if failure not in self.branch.excused]

    @property
    def outdated(self) -> list[str]:
        """What is excused and does not fail any more."""
        return [test for test in self.branch.excused if test not in self.run.failures]


def checkouts(kits: Sequence[Path]) -> dict[str, Path]:
    """The checkout of each branch that is there."""
    return {branch.name: kit for branch in BRANCHES for kit in kits if (kit / branch.mark).is_dir()}


async def run_door(kits: Mapping[str, Path]) -> list[DoorResult]:
    """A platform with a door and one installed Agent, and each kit at its address."""
    prepare([AGENT.folder], print)
    results = []
    with TemporaryDirectory() as folder:
        async with started_session([AGENT], Path(folder), door=True) as session, session.installed(AGENT):
            address = f"{session.run.door}/a2a/{WORKSPACE}/{AGENT.agent_id}"
            for branch in (branch for branch in BRANCHES if branch.name in kits):
                kit = kits[branch.name].resolve()
                identity = CallerIdentity(address, session.run.token, branch.version)
                written = Path(folder) / f"{branch.name}.json"
                command = branch.command(address)
                run = await asyncio.to_thread(run_kit, kit, command, _PLUGIN, identity.environment(), written)
                results.append(DoorResult(branch, commit_of(kit), run))
                print(f"door {branch.name}: {run.count} (passed/failed/skipped)", flush=True)
    return results


def commit_of(kit: Path) -> str:
    command = ["git", "-C", str(kit), "rev-parse", "--short=7", "HEAD"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "unknown"


def door_table(results: Sequence[DoorResult]) -> list[str]:
    lines = ["| Branch | Commit | Mandatory tests | Not offered |", "|---|---|---|---|"]
    found = {result.branch.name: result for result in results}
    for branch in BRANCHES:
        result = found.get(branch.name)
        cells = ["—", "not run", "—"]
        if result is not None:
            cells = [f"`{result.commit}`", str(result.run.count), str(len(result.run.failures) - len(result.unexcused))]
        lines.append(f"| {' | '.join([branch.name, *cells])} |")
    lines += ["", "| Branch | Why | Tests that fail |", "|---|---|---|"]
    for result in results:
        for why in dict.fromkeys(result.branch.excused.values()):
            failed = [test for test in result.run.failures if result.branch.excused.get(test) == why]
            tests = ", ".join(f"`{test.rpartition('::')[2]}`" for test in failed)
            lines += [f"| {result.branch.name} | {why} | {tests} |"] if failed else []
    return lines
