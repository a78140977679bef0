"""Sample Agent: finds the action items in meeting notes."""
