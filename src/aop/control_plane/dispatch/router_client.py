"""The Control Plane's only way to the Router: requests with the service token, no redirect, no retry."""

import asyncio

import msgspec

from aop.base.http import HttpError
from aop.base.network_policy import NameNotResolved
from aop.base.peer import Peer
from aop.base.secret import Secret
from aop.contracts.topology import TopologyStatus

_STATUS_SECONDS = 2.0


class RouterUnavailable(Exception):
    """The Router gave no usable answer; the text is for logs."""


class RouterClient:
    def __init__(self, peer: Peer, token: Secret, answer_limit: int) -> None:
        self._peer = peer
        self._headers = ((b"authorization", f"Bearer {token.reveal()}".encode("ascii")),)
        self._answer_limit = answer_limit

    async def topology_status(self) -> TopologyStatus:
        deadline = asyncio.get_running_loop().time() + _STATUS_SECONDS
        try:
            answer = await self._peer.get(
                "/internal/v1/topology/status", self._headers, deadline=deadline, max_body=self._answer_limit
            )
            if answer.status != 200:
                raise RouterUnavailable(f"status {answer.status}")
            return msgspec.json.decode(answer.body, type=TopologyStatus)
        except (HttpError, NameNotResolved, TimeoutError, msgspec.DecodeError) as failure:
            raise RouterUnavailable(type(failure).__name__) from failure
