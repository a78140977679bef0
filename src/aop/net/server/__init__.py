"""The HTTP server: a plain ASGI 3 server for HTTP/1.1 with this platform's bounds built in."""

from aop.net.server.disconnect import Disconnect
from aop.net.server.events import ConnectionEvent
from aop.net.server.exchange import ASGIApp, Message, Receive, Scope, Send
from aop.net.server.limits import ServerLimits
from aop.net.server.response import whole_answer
from aop.net.server.server import HttpServer
from aop.net.sockets import listening_socket

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
