"""Callers that go away: at every stage of an invocation, in every way a connection can end."""
