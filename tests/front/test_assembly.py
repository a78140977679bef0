"""The answer that is made of a stream stays within the limit of the Card, whatever the stream consists of."""

from collections.abc import Iterable

import msgspec
import pytest

from aop.a2a.v0_3 import AgentArtifact, AgentResult, AgentStatus, Kind
from aop.front.assembly import Assembly
from aop.front.faults import UpstreamTooLarge

MAX_BYTES = 10_000


@pytest.mark.parametrize("name", ["{}", "an-artifact-with-a-rather-long-name-{}"])
@pytest.mark.parametrize("parts", [(), (msgspec.Raw(b'{"kind":"data","data":1}'),)], ids=["no parts", "a small part"])
def test_artifacts_without_end_are_refused_once_the_answer_is_full(name: str, parts: tuple[msgspec.Raw, ...]) -> None:
    """Names alone would fill the memory of the front as well."""
    assembly = Assembly(MAX_BYTES)
    assembly.take(AgentResult(kind=Kind.TASK, id="t-1", status=AgentStatus("working")))
    with pytest.raises(UpstreamTooLarge):
        _take_all(assembly, (AgentArtifact(name.format(number), parts) for number in range(MAX_BYTES)))
    made = assembly.answer("1")
    assert made is not None
    assert MAX_BYTES / 2 < len(made) < 1.1 * MAX_BYTES


def _take_all(assembly: Assembly, artifacts: Iterable[AgentArtifact]) -> None:
    for artifact in artifacts:
        assembly.take(AgentResult(kind=Kind.ARTIFACT, artifact=artifact))
