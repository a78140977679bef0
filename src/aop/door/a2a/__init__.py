"""A2A at the door: an installed Agent as an A2A server, in the versions 0.3.0 and 1.0 of the protocol."""
