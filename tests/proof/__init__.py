"""Tests of the proof: the command, the checker, and the faults it sets."""
