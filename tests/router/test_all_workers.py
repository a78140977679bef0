"""What a Router with workers says of itself, made of what each worker says."""

from typing import Any

import msgspec
import pytest

from aop.base.share import WorkerShare
from aop.contracts.router_status import RouterStatus
from aop.contracts.topology import SourceState, TopologySource, TopologyStatus
from aop.router.api.status import status_of_all
from aop.router.api.topology_status import View, least_advanced
from aop.router.settings import read_router_settings
from tests.support.settings import router_environment


def a_view(revision: int, state: SourceState = SourceState.LIVE) -> View:
    source = TopologySource(state=state, since=f"2026-01-01T00:00:{revision:02}.000Z")
    return View(revision, TopologyStatus(schema_version="1", source=source, observations=()))


@pytest.mark.rows("HA-05")
def test_the_topology_is_that_of_the_least_advanced_worker() -> None:
    behind = a_view(4)
    assert least_advanced([a_view(5), behind, a_view(6)]) == behind.status
    lost = a_view(9, SourceState.LOST)
    assert least_advanced([behind, lost]) == lost.status
    starting = a_view(0, SourceState.INITIALIZING)
    assert least_advanced([lost, starting, behind]) == starting.status
    assert least_advanced([behind, None]).source.state is SourceState.LOST
    assert least_advanced([None, None]).source.state is SourceState.LOST


def a_status(**changes: Any) -> RouterStatus:
    said = {
        "routerId": "router-1.1",
        "instanceId": "one",
        "status": "ok",
        "topology": {"state": "live", "since": "2026-01-01T00:00:00.000Z", "ageMs": 10},
        "schemaWork": {"processes": 1, "running": 1, "waiting": 2},
        "facts": {"unconfirmed": 1, "deferred": 0, "denied": 0, "oldestMs": 7},
    }
    return msgspec.convert({**said, **changes}, RouterStatus)


def test_the_status_of_a_router_adds_its_workers_up_and_is_as_ready_as_the_worst() -> None:
    other = a_status(
        routerId="router-1.2",
        instanceId="two",
        topology={"state": "lost", "since": "2026-01-01T00:00:00.000Z"},
        facts={"unconfirmed": 0, "deferred": 3, "denied": 0},
        sequence={"lagMs": 5},
    )
    whole = status_of_all([a_status(), other])
    assert (whole.router_id, whole.instance_id, whole.status) == ("router-1", "one", "ok")
    assert whole.topology.state is SourceState.LOST
    assert (whole.schema_work.processes, whole.schema_work.waiting) == (2, 4)
    assert (whole.facts.unconfirmed, whole.facts.deferred, whole.facts.oldest_ms) == (1, 3, 7)
    assert whole.sequence == other.sequence
    assert status_of_all([a_status(), None]).status == "not_ready"
    assert status_of_all([a_status(), a_status(status="not_ready")]).status == "not_ready"


@pytest.mark.rows("HA-05")
def test_a_worker_has_its_share_of_every_limit_and_a_name_of_its_own() -> None:
    settings = read_router_settings(
        router_environment(
            PLATFORM_ROUTER_MAX_IN_FLIGHT_INVOCATIONS="10",
            PLATFORM_ROUTER_MAX_IN_FLIGHT_CHILDREN="2",
            PLATFORM_DATABASE_POOL_SIZE="9",
            PLATFORM_MAX_CONNECTIONS="4000",
        )
    )
    workers = [settings.for_worker(WorkerShare(number, 4)) for number in (1, 2, 3, 4)]
    assert [one.router_id for one in workers] == ["router-1.1", "router-1.2", "router-1.3", "router-1.4"]
    assert [one.max_in_flight_invocations for one in workers] == [3, 3, 2, 2]
    assert [one.max_in_flight_children for one in workers] == [1, 1, 1, 1]
    assert [one.unit.database_pool_size for one in workers] == [3, 2, 2, 2]
    assert {one.unit.max_connections for one in workers} == {1000}
