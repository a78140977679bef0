"""Sample Agent: shortens texts and reads them out, without any framework."""
