"""One-line bugs planted in a copy of the product, each to be caught by a test that is named beside it."""
