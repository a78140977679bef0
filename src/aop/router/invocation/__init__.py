"""One Invocation in the Router: accepted, run, supervised, recorded."""
