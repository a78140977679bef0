"""Tests of Invocations through the Gateway, with everything real but the Agent."""
