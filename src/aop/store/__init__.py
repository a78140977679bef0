"""PostgreSQL: connections, migrations, the check of a schema, typed rows, grouped reads."""
