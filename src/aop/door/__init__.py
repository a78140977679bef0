"""The door: a process of its own that lets A2A clients and MCP hosts call what is installed, as a plain caller."""
