"""A sequencer whose turns a test takes one by one, and the statements it sends."""

from aop.ledger.model import Writer
from aop.ledger.sequence.sequencer import Sequencer
from aop.store.database import Connection, connect
from tests.ledger.writing import new_epoch


class Holder:
    """A sequencer whose turns are taken one by one, and the statements it sent."""

    def __init__(self, url: str, writer: Writer) -> None:
        self._url = url
        self.statements = list[str]()
        self.sequencer = Sequencer(self._connected, writer, pause_seconds=0)

    @classmethod
    async def of(cls, url: str, router_id: str) -> "Holder":
        return cls(url, Writer(router_id, await new_epoch(url, router_id)))

    async def _connected(self) -> Connection:
        connection = await connect(self._url, application="test sequencer")
        connection.add_query_logger(lambda record: self.statements.append(record.query))
        return connection

    def sent(self, text: str) -> int:
        """How many statements have this text."""
        return sum(text in statement for statement in self.statements)

    async def take_turns(self) -> None:
        await self.sequencer.turn()
        while not self.sequencer.is_holder:  # the lock of a session that ended is free a moment later
            await self.sequencer.turn()
        assert self.sequencer.unproven == 0

    def end(self) -> None:
        self.sequencer._drop()  # as a process that dies
