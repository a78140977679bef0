"""Results as the type that the caller asks for: what fits is of that type, what does not is told and kept."""

import asyncio
import enum
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest

from aop.client import Client, Result, ResultMismatch, SyncClient
from tests.client.calling import calling
from tests.client.gateway import TRACE, saying, scripted_gateway
from tests.client.streams import ACCEPTED, IDS, a_stream, event
from tests.support.every import every


class Struct(msgspec.Struct):
    sum: int


@dataclass
class Data:
    sum: int


class Dict(TypedDict):
    sum: int


class Model(pydantic.BaseModel):
    sum: int


class Colour(enum.Enum):
    RED = "red"


CALL = ("demo", "acme:adder", "add", {"numbers": [1]})
KINDS = [(Struct, Struct(3)), (Data, Data(3)), (Dict, {"sum": 3}), (Model, Model(sum=3)), (dict[str, int], {"sum": 3})]


def giving(result: Any) -> Any:
    return saying({"schemaVersion": "1", **IDS, "status": "succeeded", "result": result})


def streaming(*values: Any) -> Any:
    chunks = [event(n + 1, "chunk", "running", chunkIndex=n, chunk=value) for n, value in enumerate(values)]
    return a_stream(ACCEPTED, *chunks, event(len(values) + 1, "completed", "succeeded"))


@pytest.mark.parametrize(("kind", "value"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])
async def test_a_result_and_each_chunk_are_of_the_type_that_was_asked_for(kind: type[Any], value: Any) -> None:
    async with calling(giving({"sum": 3})) as (client, _):
        found = await client.invoke(*CALL, result_type=kind)
    assert found == Result(value, IDS["invocationId"], IDS["rootTaskId"], TRACE, found.result)
    assert type(found.value) is type(value)
    async with calling(streaming({"sum": 3})) as (client, _), client.stream(*CALL, result_type=kind) as chunks:
        assert [chunk async for chunk in chunks] == [value]


@every("kind", [Struct, Data, Dict, Model], ids=lambda kind: kind.__name__)
@every("result", [{"sum": "secret"}, {}, "secret"], ids=["another type", "missing", "no object"])
async def test_a_result_that_does_not_fit_is_told_with_its_trace_and_kept(kind: type[Any], result: Any) -> None:
    async with calling(giving(result)) as (client, gateway):
        with pytest.raises(ResultMismatch) as raised:
            await client.invoke(*CALL, result_type=kind)
    error = raised.value
    assert f"the Invocation succeeded, but its result is not a {kind.__name__}: at $" in str(error)
    assert (error.trace_id, error.invocation_id) == (TRACE, IDS["invocationId"])
    assert msgspec.json.decode(error.result) == result
    assert "secret" not in f"{error} {error.recovery}"
    assert len(gateway.received) == 1


async def test_a_name_that_the_model_does_not_declare_is_not_repeated() -> None:
    class Sums(pydantic.BaseModel, extra="forbid"):
        named: dict[str, int] = {}

    for result, place in (({"secret": 1}, r"\$\.\*: "), ({"named": {"secret": "x"}}, r"\$\.named\.\*: ")):
        async with calling(giving(result)) as (client, _):
            with pytest.raises(ResultMismatch, match=place) as raised:
                await client.invoke(*CALL, result_type=Sums)
        assert "secret" not in str(raised.value)


async def test_a_value_outside_an_enumeration_is_not_repeated() -> None:
    async with calling(giving("secret")) as (client, _):
        with pytest.raises(ResultMismatch, match=r"is not a Colour: at \$ \(") as raised:
            await client.invoke(*CALL, result_type=Colour)
    assert "secret" not in str(raised.value)


async def test_a_chunk_that_does_not_fit_ends_the_stream() -> None:
    behave = streaming({"sum": 1}, {"sum": None})
    async with calling(behave) as (client, _), client.stream(*CALL, result_type=Struct) as chunks:
        assert await anext(chunks) == Struct(1)
        with pytest.raises(ResultMismatch, match=r"a chunk of the stream is not a Struct: at \$\.sum") as raised:
            await anext(chunks)
    assert raised.value.trace_id == TRACE


async def test_the_synchronous_client_gives_the_same() -> None:
    def invoked(url: str) -> Model:
        with SyncClient(url, "token") as client:
            return client.invoke(*CALL, result_type=Model).value

    def streamed(url: str) -> list[Data]:
        with SyncClient(url, "token") as client, client.stream(*CALL, result_type=Data) as chunks:
            return list(chunks)

    async with scripted_gateway(giving({"sum": 3})) as gateway:
        assert await asyncio.to_thread(invoked, gateway.origin) == Model(sum=3)
    async with scripted_gateway(streaming({"sum": 3}, {"sum": 4})) as gateway:
        assert await asyncio.to_thread(streamed, gateway.origin) == [Data(3), Data(4)]


@pytest.mark.parametrize("kind", [Client, object()])
async def test_a_type_that_no_json_has_is_told_before_anything_is_sent(kind: Any) -> None:
    async with calling(giving({})) as (client, gateway):
        with pytest.raises(TypeError, match="result_type"):
            await client.invoke(*CALL, result_type=kind)
        with pytest.raises(TypeError, match="result_type"):
            client.stream(*CALL, result_type=kind)
    assert not gateway.received
