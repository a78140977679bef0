"""The tree over the sequence (RFC 6962): leaves, tiles, heads and proofs, by which others can check the Ledger."""
