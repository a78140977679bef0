"""Agent Cards, Endpoint Bindings, Challenges and Releases. Runs no Agent."""
