"""Commands of those who publish Agents."""
