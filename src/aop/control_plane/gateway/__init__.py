"""Northbound HTTP boundary: callers, tokens and response shapes; owns no Card and no A2A transport."""
