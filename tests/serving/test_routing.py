"""The table of routes: what a path leads to is kept for a while, and nothing of one request reaches another."""

from aop.serving.edge.request import Request
from aop.serving.edge.response import Response
from aop.serving.edge.routing import Route, RouteTable


async def nothing(request: Request) -> Response:
    return Response(204)


def test_a_path_leads_to_the_same_however_often_and_among_how_many_others_it_is_asked() -> None:
    route = Route("GET", "/things/:thingId", nothing)
    table = RouteTable([route])
    for _ in range(2):
        for number in range(3000):
            found = {"GET": route, "HEAD": route}, {"thingId": f"a:{number}"}
            assert table.find(b"/things/a%%3A%d" % number) == found
    assert table.find(b"/things/" + b"a" * 5000) == table.find(b"/things/" + b"a" * 5000)
    for _ in range(2):
        assert table.find(b"/things") is None
        assert table.find(b"/things/a/b") is None


def test_what_is_done_to_the_values_of_one_request_is_not_seen_by_the_next() -> None:
    table = RouteTable([Route("GET", "/things/:thingId", nothing)])
    first = table.find(b"/things/a")
    assert first is not None
    first[1]["thingId"] = "b"
    assert table.find(b"/things/a") == (first[0], {"thingId": "a"})
