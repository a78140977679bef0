"""Nested calls of an Agent, by way of the Gateway."""
