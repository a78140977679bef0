"""Callers with an access token of an OpenID provider."""
