"""Invocation identity and pre-dispatch authorization; owns no table and no A2A execution."""
