"""A ready A2A server around the Skills of an Agent."""
