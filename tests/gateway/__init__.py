"""Tests of the platform/gateway."""
