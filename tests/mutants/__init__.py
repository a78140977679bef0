"""Mutants: the product with one small mistake each, and the ordinary tests that must notice it."""
