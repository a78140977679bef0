"""What an Agent author uses: the guard in front of an Agent, its proof page and nested calls."""
