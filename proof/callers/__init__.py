"""Callers who are slow on purpose."""
