"""My Agent: an Agent of the Agent Operating Platform."""
