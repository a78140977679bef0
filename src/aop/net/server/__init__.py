"""The HTTP server: a plain ASGI 3 server for HTTP/1.1 with this platform's limits built in."""

from aop.net.server.limits import ConnectionEvent, ServerLimits
from aop.net.server.neighbours import Neighbours, NoNeighbours, WorkerSocket
from aop.net.server.response import whole_answer
from aop.net.server.server import HttpServer
from aop.net.sockets import listening_socket

__all__ = [
    "ConnectionEvent",
    "HttpServer",
    "Neighbours",
    "NoNeighbours",
    "ServerLimits",
    "WorkerSocket",
    "listening_socket",
    "whole_answer",
]
