"""The real Router in a world of fake time: Agents, Ledger and callers misbehave as a seed says."""
