"""Writes the id of every message of a JetStream stream, in its order; the test of the example judges by it."""

import asyncio
import json
import sys

import nats


async def main(address: str, stream: str) -> None:
    connection = await nats.connect(address)
    jetstream = connection.jetstream()
    messages = (await jetstream.stream_info(stream)).state.messages
    subscription = await jetstream.subscribe(f"{sys.argv[3]}.>", ordered_consumer=True)
    ids = []
    for _ in range(messages):
        message = await subscription.next_msg(timeout=60)
        ids.append(json.loads(message.data)["id"])
    print(json.dumps(ids))
    await connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
