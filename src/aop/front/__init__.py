"""The front: a process before an Agent that knows nothing of the platform; to the Router it is an ordinary Agent."""
