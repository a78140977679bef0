"""The life of a unit: settings, listeners, background loops, readiness, start and end."""
