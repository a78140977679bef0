"""A2A over JSON-RPC in both versions of the protocol: read, written and judged for Router, Agents, front and door."""
