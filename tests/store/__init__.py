"""Connections to the store, its migrations, and reads that share one statement."""
