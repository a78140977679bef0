"""Tests of what units tell a collector and a scraper, and of what they keep to themselves."""
