"""Tests of the simulated Router: seeds that repeat, the store in memory, and what earlier seeds found."""
