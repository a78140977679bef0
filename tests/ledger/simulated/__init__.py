"""A store of the Ledger without PostgreSQL, in time that jumps: tables, connections, and what goes wrong with both."""
