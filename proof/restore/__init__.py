"""Backups that are taken under load and restored elsewhere, and a migration of a large Ledger under load."""
