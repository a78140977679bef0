"""The aop command."""
