"""`aop demo`: a stream and a tree of calls on the sample Agents, or how to have them."""

import pytest

from tests.cli.conftest import Aop

pytestmark = pytest.mark.second_ring


def test_it_shows_a_stream_and_a_tree_with_a_way_to_each_trace(aop: Aop) -> None:
    console = "http://127.0.0.1:8082"
    done = aop("demo", AOP_CONSOLE=console)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert any("harbour" in line for line in lines)
    assert any(line.startswith("├─ aop:meeting-brief brief-meeting") for line in lines)
    links = [line.rpartition(" ")[2] for line in lines if line.startswith("see it: ")]
    (trace,) = [line.split()[1] for line in lines if line.startswith("trace ")]
    assert links[1] == f"{console}/workspaces/demo/traces/{trace}"
    assert links[0] != links[1]


def test_without_the_sample_agents_it_says_how_to_have_them(aop: Aop, workspace: str) -> None:
    done = aop("demo", "-w", workspace)
    assert (done.code, "aop up --samples" in done.err, done.out) == (1, True, "")
