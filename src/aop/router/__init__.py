"""The A2A Router unit: transport to Agents, deadlines, cancellation and event emission."""
