"""Attacks on the Router's credential: against the kit, the sample Agents and the replay memory."""
