"""Reads the Ledger again and reports every broken invariant that the store should have refused."""
