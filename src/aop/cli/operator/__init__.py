"""Commands of those who run the platform."""
