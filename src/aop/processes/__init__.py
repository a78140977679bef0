"""Processes that this one starts: how each begins and ends, and what they say to each other."""
