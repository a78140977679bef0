"""Tests of every sample Agent against the A2A profile."""
