"""Sample Agent: prepares meetings and briefs people about them, with the work of other Agents."""
