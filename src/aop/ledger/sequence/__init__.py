"""The one sequence over all events of the Ledger: numbers without a gap, given by whoever holds the lock."""
