"""SQL of the Gateway's own tables: access tokens and sign-in codes, both stored as digests only."""
