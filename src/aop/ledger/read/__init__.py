"""Reads of Invocations, Traces and lists, and the documents made from their rows."""
