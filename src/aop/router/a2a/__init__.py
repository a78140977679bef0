"""A2A 0.3.0 over JSON-RPC as the Router speaks it to Agents."""
