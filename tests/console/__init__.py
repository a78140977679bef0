"""Tests of the Console in a real browser against the real stack."""
