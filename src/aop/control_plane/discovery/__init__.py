"""Search of published Cards and the public share. Reads views of the Registry and owns no table."""
