"""Where an origin that the operator named is reached: its name as the system resolves it."""

import asyncio
import socket

from aop.net.http import Target
from aop.net.origin import Endpoint


async def target_of(endpoint: Endpoint) -> Target:
    """The first address the system gives; OSError when it gives none."""
    found = await asyncio.get_running_loop().getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return Target(endpoint.scheme, endpoint.host, endpoint.port, str(found[0][4][0]))
