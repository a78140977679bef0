"""The client as its users have it: against the running platform and against scripted Gateways."""
