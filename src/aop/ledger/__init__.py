"""Append-only invocation facts and their projection; decides neither routing nor authorization."""
