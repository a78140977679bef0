GRANT USAGE ON SCHEMA registry TO aop_control_plane;
GRANT SELECT ON registry.schema_version TO aop_control_plane;
