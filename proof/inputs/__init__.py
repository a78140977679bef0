"""Hostile input: generated calls, JSON at every entry point, HTTP framing, lives of objects, and fuzzed readers."""
