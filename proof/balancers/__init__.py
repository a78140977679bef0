"""Balancers with the files of deploy/, in front of units as processes."""
