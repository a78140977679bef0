"""Tests of the platform/serving."""
