"""Three PostgreSQL under Patroni with etcd, each in a network of its own, and what can happen to them."""
