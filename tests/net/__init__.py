"""HTTP as client and server, server-sent events, addresses and names: what goes over a socket."""
