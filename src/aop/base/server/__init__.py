"""The HTTP server: a plain ASGI 3 server for HTTP/1.1 with this platform's bounds built in."""

from aop.base.server.disconnect import Disconnect
from aop.base.server.events import ConnectionEvent
from aop.base.server.exchange import ASGIApp, Message, Receive, Scope, Send
from aop.base.server.limits import ServerLimits
from aop.base.server.response import whole_answer
from aop.base.server.server import HttpServer
from aop.base.sockets import listening_socket

__all__ = [
    "ASGIApp",
    "ConnectionEvent",
    "Disconnect",
    "HttpServer",
    "Message",
    "Receive",
    "Scope",
    "Send",
    "ServerLimits",
    "listening_socket",
    "whole_answer",
]
