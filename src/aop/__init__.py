"""Agent Operating Platform: trust, routing and lineage for AI Agents that speak A2A."""

__version__ = "0.3.0"
__distribution__ = "agent-operating-platform"
"""By which `aop.base.own_package` knows this file from that of another package named aop."""
