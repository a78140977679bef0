"""Workspaces, Installations and accepted permissions; never contacts an Agent."""
