"""Agents on the official SDKs of A2A behind a running platform: the short part of `./dev interop`."""
