GRANT USAGE ON SCHEMA workspace TO aop_control_plane;
GRANT SELECT ON workspace.schema_version TO aop_control_plane;
