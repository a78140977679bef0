GRANT USAGE ON SCHEMA ledger TO aop_router;
GRANT SELECT ON ledger.schema_version TO aop_router;
