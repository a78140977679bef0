"""HTTP and everything around it: client, server, address policy, server-sent events, header syntax."""
