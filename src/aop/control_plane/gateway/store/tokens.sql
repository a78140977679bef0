-- name: revoke_codes
-- The open codes that were made with the token $1, or with one that ends with it, at any depth.
WITH RECURSIVE ending AS (
    SELECT $1::text COLLATE "C" AS token_id UNION
    SELECT made.token_id FROM gateway.access_token AS made JOIN ending ON made.ends_with = ending.token_id)
UPDATE gateway.sign_in_code SET revoked_at = $2
 WHERE made_with IN (SELECT token_id FROM ending) AND redeemed_at IS NULL AND revoked_at IS NULL

-- name: revoke_tokens
-- The token $1 and those that end with it, at any depth. A token that was revoked before keeps its time.
WITH RECURSIVE ending AS (
    SELECT $1::text COLLATE "C" AS token_id UNION
    SELECT made.token_id FROM gateway.access_token AS made JOIN ending ON made.ends_with = ending.token_id)
UPDATE gateway.access_token SET revoked_at = coalesce(revoked_at, $2)
 WHERE token_id IN (SELECT token_id FROM ending) RETURNING token_sha256
