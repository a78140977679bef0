"""Tests of the proof: each area in its quick form, the checker, and the faults it sets."""
