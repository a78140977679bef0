"""A2A at the door: what callers write and read, against vectors and with the clients of the official SDKs."""
