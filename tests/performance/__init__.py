"""Costs that must not quietly grow."""
