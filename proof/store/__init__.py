"""PostgreSQL killed, frozen, cut off, filled up and locked, with the platform at work on it."""
