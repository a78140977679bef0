"""Tests of the aop command."""
