"""The files of the balancers in deploy/: the same units behind each, and nothing is sent a second time."""

import re
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.mark.rows("HA-06")
def test_no_balancer_sends_anything_again_and_all_of_them_send_to_the_same_units() -> None:
    haproxy, envoy = ((DEPLOY / name).read_text("utf-8") for name in ("haproxy.cfg", "envoy.yaml"))
    directives = [line.split() for line in haproxy.splitlines()]
    assert ["retries", "0"] in directives
    assert ["no", "option", "redispatch"] in directives
    assert not any(words[:1] == ["retry-on"] for words in directives)
    assert "retry_policy" not in envoy
    assert "retry_back_off" not in envoy
    nginx = set(re.findall(r"(?:server|http://) ?([\w-]+):(\d{4})", (DEPLOY / "balancer.conf").read_text("utf-8")))
    assert set(re.findall(r"server \S+ ([\w-]+):(\d+)", haproxy)) == nginx
    assert set(re.findall(r"address: ([a-z][\w-]+), port_value: (\d+)", envoy)) == nginx
    for text in (haproxy, envoy):
        for name in ("gateway", "router", "console", "door"):
            assert f"{name}.example.com" in text
