"""Tests of the agent kit."""
