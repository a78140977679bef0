"""Cards and values that are made to cost."""
