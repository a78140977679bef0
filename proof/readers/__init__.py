"""Readers who take a little now and then, and peers who hold idle connections."""
