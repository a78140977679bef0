"""The names of OpenTelemetry's conventions: the page has the table of the code, and each name comes with ours."""

import re

from aop.telemetry.conventions import CALL, VERSION, WHO, named_by
from aop.telemetry.spans import Attribute
from tools.environments import ROOT

PAGE = (ROOT / "docs" / "guides" / "observability.md").read_text("utf-8")
_ROW = re.compile(r"^\| `((?:gen_ai|a2a)\.[a-z_.]+)` \| `(aop\.[a-z_.]+)` \| .* \| (.*) \|$", re.MULTILINE)


def test_the_page_has_the_table_and_the_version_of_the_code() -> None:
    expected = [(one.name, one.beside, "every one with ours") for one in WHO]
    expected += [(one.name, one.beside, "`agent`") for one in CALL]
    assert _ROW.findall(PAGE) == expected
    assert f"version {VERSION}" in PAGE


def test_a_name_stands_only_beside_ours_and_has_its_value() -> None:
    ours: dict[str, Attribute] = {
        "aop.agent.id": "acme:a",
        "aop.agent.name": "A",
        "aop.agent.version": "1.0.0",
        "aop.stream": True,
    }
    assert named_by(WHO, {}) == named_by(CALL, {}) == {}
    assert named_by(WHO, {"aop.agent.id": "acme:a"}) == {"gen_ai.agent.id": "acme:a"}
    assert list(named_by(WHO, ours).values()) == ["acme:a", "A", "1.0.0"]
    assert list(named_by(CALL, ours).values()) == ["invoke_agent", "SendStreamingMessage", "0.3.0"]
    assert named_by(CALL, ours | {"aop.stream": False})["a2a.method.name"] == "SendMessage"
