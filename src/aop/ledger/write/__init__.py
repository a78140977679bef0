"""The writers of a Router: acceptances and facts, its epochs, and what keeps a second process from writing."""
