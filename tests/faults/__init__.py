"""Faults: processes killed and frozen, stores cut off, at every point that matters."""
