"""Requests at a unit: routes, heads, bodies, answers, and what is logged and counted of them."""
