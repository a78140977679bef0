"""Workspaces, Installations and accepted permissions. Contacts no Agent."""
