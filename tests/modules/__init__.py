"""Tests of the platform/modules."""
