"""Old months of the Ledger: exported to files that others can check, then detached, and what reads say of them."""
