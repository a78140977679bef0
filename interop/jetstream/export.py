"""Fills a JetStream stream with the events of a Workspace: none missing, none twice, however often it is killed.

It is an example to copy. It needs the packages `agent-operating-platform` and `nats-py`, and no other file of this
folder.
"""

import argparse
import asyncio
import os
from pathlib import Path

import msgspec
import nats
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from aop.client import AnswerLost, BrokenAnswer, Client, PlatformError, Unreachable
from aop.contracts.events import EventPage

PAUSE_SECONDS = 1.0
# Longer than an exporter can be away between the acknowledgement of a page and the next try to publish it.
DUPLICATE_SECONDS = 24 * 3600.0
PASSING = {"DEPENDENCY_ERROR", "OVERLOADED", "INTERNAL_ERROR"}


async def main() -> None:
    arguments = parsed()
    connection = await nats.connect(arguments.nats, max_reconnect_attempts=-1)
    stream = connection.jetstream()
    await require_stream(stream, arguments.stream, arguments.subject)
    token = os.environ["AOP_TOKEN"]  # noqa: TID251  (a program of its own)
    async with Client(arguments.gateway, token) as client:
        await export(client, stream, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The access token is in AOP_TOKEN.")
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--nats", default="nats://127.0.0.1:4222")
    parser.add_argument("--stream", default="AOP")
    parser.add_argument("--subject", default="aop.events")
    parser.add_argument("--position", type=Path, required=True, help="the file that keeps the position")
    return parser.parse_args()


async def require_stream(stream: JetStreamContext, name: str, subject: str) -> None:
    """A full stream refuses new messages, so that the exporter waits; the usual rule drops the oldest."""
    config = StreamConfig(
        name=name,
        subjects=[f"{subject}.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        duplicate_window=DUPLICATE_SECONDS,
    )
    try:
        await stream.stream_info(name)
    except NotFoundError:
        try:
            await stream.add_stream(config)
        except BadRequestError:
            await stream.stream_info(name)  # another exporter was faster


async def export(client: Client, stream: JetStreamContext, arguments: argparse.Namespace) -> None:
    """The position is saved after JetStream has confirmed the page. What is published again has the same id."""
    position: Path = arguments.position
    after = saved(position)
    while True:
        try:
            page = await client.read_events(arguments.workspace, after=after, limit=100)
            await publish(stream, f"{arguments.subject}.{arguments.workspace}", page)
        except PlatformError as error:
            if error.code not in PASSING:
                raise
            await asyncio.sleep(PAUSE_SECONDS)
        except (Unreachable, AnswerLost, BrokenAnswer, nats.errors.Error):
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            if page.items:
                after = page.after
                save(position, after)
            else:
                await asyncio.sleep(PAUSE_SECONDS)


async def publish(stream: JetStreamContext, subject: str, page: EventPage) -> None:
    """One after the other: an event that is confirmed is in the stream behind those before it."""
    for event in page.items:
        headers = {"Nats-Msg-Id": event.id, "Content-Type": "application/cloudevents+json"}
        await stream.publish(subject, msgspec.json.encode(event), headers=headers)


def saved(position: Path) -> str | None:
    return position.read_text("ascii").strip() if position.exists() else None


def save(position: Path, after: str) -> None:
    """All of it or nothing."""
    beside = position.with_name(f".{position.name}.new")
    with beside.open("w", encoding="ascii") as file:
        file.write(f"{after}\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(position)


if __name__ == "__main__":
    asyncio.run(main())
