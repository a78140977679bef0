"""Agents that misbehave on purpose, and what must come of it."""
