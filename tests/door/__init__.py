"""The door before a running platform."""
