"""Tests of `aop up`, its database and its supervisor, and of ./dev."""
