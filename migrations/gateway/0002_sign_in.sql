-- A token says who made it, whose word began it, and with which other token it ends.
ALTER TABLE gateway.access_token
    ADD COLUMN made_by   text COLLATE "C" NOT NULL DEFAULT 'operator',
    ADD COLUMN origin    text COLLATE "C" NOT NULL DEFAULT 'operator',
    ADD COLUMN ends_with text COLLATE "C",
    ADD CONSTRAINT access_token_made_by CHECK (made_by IN ('operator', 'openid', 'token', 'code')),
    ADD CONSTRAINT access_token_origin CHECK (
        origin IN ('operator', 'openid')
        AND (made_by <> 'operator' OR origin = 'operator')
        AND (made_by <> 'openid' OR origin = 'openid')
    ),
    -- What the operator or a caller of the OpenID provider made stands alone.
    ADD CONSTRAINT access_token_ends CHECK (ends_with IS NULL OR (made_by IN ('token', 'code') AND ends_with <> token_id)),
    ADD CONSTRAINT access_token_ends_with FOREIGN KEY (ends_with) REFERENCES gateway.access_token (token_id);

CREATE INDEX access_token_of_principal ON gateway.access_token (principal_id, created_at);
CREATE INDEX access_token_ending ON gateway.access_token (ends_with) WHERE ends_with IS NOT NULL;

-- Sign-in codes: the store knows a code only by the SHA-256 of its text. Each is redeemed once, or revoked.
CREATE TABLE gateway.sign_in_code (
    code_sha256   bytea CONSTRAINT sign_in_code_key PRIMARY KEY,
    principal_id  text COLLATE "C" NOT NULL,
    made_by       text COLLATE "C" NOT NULL,
    origin        text COLLATE "C" NOT NULL,
    made_with     text COLLATE "C" CONSTRAINT sign_in_code_made_with REFERENCES gateway.access_token (token_id),
    session_until timestamptz,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    redeemed_at   timestamptz,
    revoked_at    timestamptz,
    CONSTRAINT sign_in_code_sha256_length CHECK (octet_length(code_sha256) = 32),
    CONSTRAINT sign_in_code_made_by CHECK (made_by IN ('operator', 'openid', 'token')),
    CONSTRAINT sign_in_code_origin CHECK (
        origin IN ('operator', 'openid')
        AND (made_by <> 'operator' OR origin = 'operator')
        AND (made_by <> 'openid' OR origin = 'openid')
    ),
    CONSTRAINT sign_in_code_maker CHECK (
        (made_by = 'token') = (made_with IS NOT NULL) AND (made_with IS NULL) = (session_until IS NULL)
    ),
    CONSTRAINT sign_in_code_lives CHECK (expires_at > created_at),
    CONSTRAINT sign_in_code_ends_once CHECK (redeemed_at IS NULL OR revoked_at IS NULL)
);

CREATE INDEX sign_in_code_of_principal ON gateway.sign_in_code (principal_id, created_at);
CREATE INDEX sign_in_code_of_token ON gateway.sign_in_code (made_with) WHERE made_with IS NOT NULL;
CREATE INDEX sign_in_code_by_expiry ON gateway.sign_in_code (expires_at);

-- A code is written once; it is removed a day after it expired.
GRANT SELECT, INSERT, DELETE ON gateway.sign_in_code TO aop_control_plane;
GRANT UPDATE (redeemed_at, revoked_at) ON gateway.sign_in_code TO aop_control_plane;
