"""Tests of the platform/base."""
