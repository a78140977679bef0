"""The whole platform on one machine: embedded PostgreSQL and a supervisor of the units."""
