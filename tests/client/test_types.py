"""The types a checker sees: awaited values in one client, plain ones in the other, from one description."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE_SECONDS
from tools.environments import ROOT

pytestmark = pytest.mark.second_ring

PROGRAM = """
from dataclasses import dataclass
from typing import Any, TypedDict, assert_type

import msgspec
from pydantic import BaseModel

from aop.client import Client, Listing, Result, ResultStream, SyncClient, SyncListing, SyncResultStream
from aop.contracts.catalog import DiscoveryItem
from aop.contracts.invocation import InvocationResult
from aop.contracts.workspace import Workspace


class Struct(msgspec.Struct):
    sum: int


@dataclass
class Data:
    sum: int


class Dict(TypedDict):
    sum: int


class Model(BaseModel):
    sum: int


async def use(a: Client, s: SyncClient) -> None:
    assert_type(await a.read_workspace("demo"), Workspace)
    assert_type(s.read_workspace("demo"), Workspace)
    assert_type(a.discover_agents(capability="add"), Listing[DiscoveryItem])
    assert_type(s.discover_agents(capability="add"), SyncListing[DiscoveryItem])
    assert_type(await a.invoke("w", "a", "c", {}, timeout=1), InvocationResult)
    assert_type(s.within(2).invoke("w", "a", "c", b"{}"), InvocationResult)
    assert_type(a.stream("w", "a", "c", {}), ResultStream[Any])
    assert_type(s.stream("w", "a", "c", {}), SyncResultStream[Any])
    assert_type(await a.invoke("w", "a", "c", {}, result_type=Struct, timeout=1), Result[Struct])
    assert_type(s.invoke("w", "a", "c", {}, result_type=Data).value, Data)
    assert_type(s.invoke("w", "a", "c", {}, result_type=Dict).value["sum"], int)
    assert_type(s.invoke("w", "a", "c", {}, result_type=Model).value.sum, int)
    assert_type(s.invoke("w", "a", "c", {}, result_type=list[Struct]).value, list[Struct])
    assert_type([chunk async for chunk in a.stream("w", "a", "c", {}, result_type=Model)], list[Model])
    assert_type(list(s.stream("w", "a", "c", {}, result_type=Data)), list[Data])
    s.invoke("w", "a", "c", {}, result_type=3)  # type: ignore[call-overload]  # no type
    assert_type([item async for item in a.discover_agents()], list[DiscoveryItem])
    s.read_workspace(7)  # type: ignore[arg-type]  # no text
    s.read_workspace(workspace="demo")  # type: ignore[call-arg]  # by position only
    s.discover_agents(limit=7)  # type: ignore[call-arg]  # pages are followed
"""


def test_a_strict_checker_knows_every_argument_and_every_result(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
