"""What an Invocation runs against: the exact Card, and what the topology says of its Release."""
