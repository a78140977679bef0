"""Commands of those who install and invoke Agents."""
