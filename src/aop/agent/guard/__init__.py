"""What every Agent needs in front of it: the check of credentials, memory of those used, and the proof page."""
