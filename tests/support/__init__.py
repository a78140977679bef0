"""Tests of the platform/support."""
