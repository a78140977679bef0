"""The HTTP edge both units share: routes, order of checks, error envelopes, health, drain."""
