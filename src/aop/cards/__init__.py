"""Agent Cards and Skill schemas: which are allowed, what a check can cost, and checks that delay no other request."""
