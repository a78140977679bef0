"""A2A over JSON-RPC on the wire: what Agents, the front and the door share, in both versions of the protocol."""
