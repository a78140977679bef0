"""The sample Agents and templates on frameworks keep to the types of their frameworks."""

import pytest

from tools.type_check import FRAMEWORKS, main


@pytest.mark.long
def test_agents_and_templates_on_frameworks_are_strictly_typed() -> None:
    assert main([FRAMEWORKS]) == 0
