-- Access tokens: the store knows a token only by the SHA-256 of its text.
CREATE TABLE gateway.access_token (
    token_id     text COLLATE "C" CONSTRAINT access_token_key PRIMARY KEY,
    principal_id text COLLATE "C" NOT NULL,
    label        text NOT NULL,
    token_sha256 bytea NOT NULL CONSTRAINT access_token_sha256_once UNIQUE,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    CONSTRAINT access_token_sha256_length CHECK (octet_length(token_sha256) = 32),
    CONSTRAINT access_token_lives CHECK (expires_at > created_at)
);

-- Everything but revocation and use is written once.
GRANT USAGE ON SCHEMA gateway TO aop_control_plane;
GRANT SELECT ON gateway.schema_version TO aop_control_plane;
GRANT SELECT, INSERT ON gateway.access_token TO aop_control_plane;
GRANT UPDATE (revoked_at, last_used_at) ON gateway.access_token TO aop_control_plane;
