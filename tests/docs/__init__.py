"""The documentation is true: its commands and programs run, its reference is current, its deployments fit the units."""
