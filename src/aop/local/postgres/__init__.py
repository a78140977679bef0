"""The embedded PostgreSQL: a real server from a bin directory, run as a child, never as a daemon."""

from aop.local.postgres.server import EmbeddedPostgres, Login

__all__ = ["EmbeddedPostgres", "Login"]
