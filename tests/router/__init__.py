"""Tests of the Router on real sockets."""
