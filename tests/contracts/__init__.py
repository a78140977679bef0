"""Tests of the platform/contracts."""
