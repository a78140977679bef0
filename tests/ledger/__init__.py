"""Tests of the Ledger against a real store."""
