"""Readers of the language-neutral documents in /contracts; the documents are the source, these are consumers."""
