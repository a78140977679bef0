"""Agent Operating Platform: trust, routing and lineage for AI Agents that speak A2A."""

__version__ = "0.2.0"
