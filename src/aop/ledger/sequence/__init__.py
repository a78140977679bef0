"""The one sequence over all events of the Ledger: numbers without a gap, given by the Router that holds the lock."""
