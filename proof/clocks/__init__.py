"""Clocks that jump: of the Agent, of the Routers and of the Control Planes, each by itself."""
