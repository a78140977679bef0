"""Load on the whole platform: an Agent and generators of calls, each in a process of its own."""
