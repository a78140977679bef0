"""The door as an MCP server: tools, calls and lists, over HTTP and on stdio, with the clients of the SDK."""
