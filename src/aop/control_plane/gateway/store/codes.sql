-- name: remove_expired
-- At most $2 codes that expired before $1.
DELETE FROM gateway.sign_in_code
 WHERE code_sha256 IN (SELECT code_sha256 FROM gateway.sign_in_code
                        WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)

-- name: redeem
-- Spends the code $1, if it is open at the time $2, for a session with the id $3 and the token $5, which ends at $4 or
-- with the token that the code was made with. Of many at once, one finds the code open.
WITH redeemed AS (
    UPDATE gateway.sign_in_code SET redeemed_at = $2
     WHERE code_sha256 = $1 AND redeemed_at IS NULL AND revoked_at IS NULL AND expires_at > $2
       AND (session_until IS NULL OR session_until > $2)
    RETURNING principal_id, origin, made_with, session_until)
INSERT INTO gateway.access_token (token_id, principal_id, label, created_at, expires_at, made_by, origin, ends_with,
                                  token_sha256)
SELECT $3, principal_id, '', $2, least($4, session_until), 'code', origin, made_with, $5 FROM redeemed
RETURNING principal_id, expires_at

-- name: made_by_callers
-- How many tokens and codes callers made for the principal $1 that can be used at the time $2, and how many after $3.
-- Sessions of codes that the operator made are the operator's doing as well.
SELECT tokens.usable + codes.usable, tokens.of_last_day + codes.of_last_day
  FROM (SELECT count(*) FILTER (WHERE revoked_at IS NULL AND expires_at > $2) AS usable,
               count(*) FILTER (WHERE made_by <> 'code' AND created_at > $3) AS of_last_day
          FROM gateway.access_token
         WHERE principal_id = $1 AND made_by <> 'operator'
           AND NOT (made_by = 'code' AND origin = 'operator' AND ends_with IS NULL)) AS tokens,
       (SELECT count(*) FILTER (WHERE redeemed_at IS NULL AND revoked_at IS NULL AND expires_at > $2) AS usable,
               count(*) FILTER (WHERE created_at > $3) AS of_last_day
          FROM gateway.sign_in_code WHERE principal_id = $1 AND made_by <> 'operator') AS codes
