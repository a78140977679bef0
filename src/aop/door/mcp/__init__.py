"""MCP at the door: every usable Skill of a Workspace is a tool, over streamable HTTP and on stdio."""
