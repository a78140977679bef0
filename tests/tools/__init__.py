"""The project's own rules: each is shown to find what it forbids."""
