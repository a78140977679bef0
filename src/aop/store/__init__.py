"""PostgreSQL: connections, migrations, the check of a schema, grouped reads."""
