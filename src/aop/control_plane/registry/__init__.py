"""Agent Cards, Endpoint Bindings, Challenges and Releases; never runs an Agent."""
