"""Parts of the area `agents`."""
