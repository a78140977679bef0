"""A unit of several processes: their parent, the link between them, and what they count together."""
