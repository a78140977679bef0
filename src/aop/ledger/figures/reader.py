"""Reads the figures of a Workspace in one statement, and so from one snapshot."""

from typing import Final

from aop.contracts.figures import Figures, Window
from aop.ledger.figures.document import NAMED_IN_BUCKET, NAMED_IN_TOTAL, Counted, FigureRow, Tally
from aop.ledger.figures.latency_buckets import LOWER_BOUNDS
from aop.store.database import Database
from aop.store.rows import to_rows

# A call is counted once when it was accepted, without an outcome, and once more when it ended.
_ROWS: Final = """
SELECT invocation.created_at, invocation.target_agent_id, invocation.capability, NULL::text AS outcome,
       NULL::text AS error_code, NULL::text AS reason, NULL::bigint AS latency_ms
  FROM ledger.invocation
 WHERE invocation.workspace_id = $1 AND invocation.created_at >= $2 AND invocation.created_at < $3
UNION ALL
SELECT invocation.created_at, invocation.target_agent_id, invocation.capability, ended.type, ended.error_code,
       ended.reason, ended.latency_ms
  FROM ledger.invocation JOIN ledger.event AS ended USING (invocation_id)
 WHERE invocation.workspace_id = $1 AND invocation.created_at >= $2 AND invocation.created_at < $3
   AND ended.type <> 'stream'
"""
_BUCKET: Final = "floor(extract(epoch FROM {} - $2) / $4)::integer"
_FIGURES: Final = f"""
WITH late AS MATERIALIZED ({_ROWS}),
tally AS MATERIALIZED (
    SELECT {_BUCKET.format("created_at")} AS bucket, target_agent_id, capability, outcome, error_code, reason,
           count(*)::bigint AS calls
      FROM late GROUP BY 1, 2, 3, 4, 5, 6),
agents AS (
    SELECT target_agent_id, row_number() OVER (
               ORDER BY sum(calls) FILTER (WHERE outcome IS NULL) DESC, target_agent_id) AS rank
      FROM tally GROUP BY 1),
skills AS (
    SELECT target_agent_id, capability, row_number() OVER (
               ORDER BY sum(calls) FILTER (WHERE outcome IS NULL) DESC, target_agent_id, capability) AS rank
      FROM tally GROUP BY 1, 2),
ranked AS MATERIALIZED (
    SELECT bucket, agents.rank AS agent, skills.rank AS skill, outcome, error_code, reason, calls
      FROM tally JOIN agents USING (target_agent_id) JOIN skills USING (target_agent_id, capability)),
latency AS (
    SELECT {_BUCKET.format("created_at")} AS bucket, width_bucket(latency_ms, $5::bigint[]) AS latency,
           count(*)::bigint AS calls, max(latency_ms) AS longest
      FROM late WHERE latency_ms IS NOT NULL GROUP BY 1, 2)
SELECT '{Counted.FOUND}' AS kind, NULL::integer AS bucket, (SELECT count(*) FROM agents) AS rank, NULL::text AS outcome,
       NULL::text AS error_code, NULL::text AS reason, (SELECT count(*) FROM skills)::bigint AS calls,
       NULL::text AS agent_id, NULL::text AS capability, NULL::bigint[] AS latencies, NULL::bigint[] AS latency_calls
UNION ALL
SELECT '{Counted.AGENT_NAME}', NULL, rank, NULL, NULL, NULL, NULL, target_agent_id, NULL, NULL, NULL
  FROM agents WHERE rank <= {NAMED_IN_TOTAL}
UNION ALL
SELECT '{Counted.SKILL_NAME}', NULL, rank, NULL, NULL, NULL, NULL, target_agent_id, capability, NULL, NULL
  FROM skills WHERE rank <= {NAMED_IN_TOTAL}
UNION ALL
SELECT '{Counted.AGENT}', NULL, least(agent, {NAMED_IN_TOTAL + 1}), outcome, NULL, NULL, sum(calls)::bigint,
       NULL, NULL, NULL, NULL
  FROM ranked GROUP BY 3, 4
UNION ALL
SELECT '{Counted.SKILL}', NULL, least(skill, {NAMED_IN_TOTAL + 1}), outcome, NULL, NULL, sum(calls)::bigint,
       NULL, NULL, NULL, NULL
  FROM ranked GROUP BY 3, 4
UNION ALL
SELECT '{Counted.CODE}', NULL, NULL, NULL, error_code, reason, sum(calls)::bigint, NULL, NULL, NULL, NULL
  FROM ranked WHERE error_code IS NOT NULL GROUP BY error_code, reason
UNION ALL
SELECT '{Counted.AGENT}', bucket, least(agent, {NAMED_IN_BUCKET + 1}), outcome, NULL, NULL, sum(calls)::bigint,
       NULL, NULL, NULL, NULL
  FROM ranked GROUP BY 2, 3, 4
UNION ALL
SELECT '{Counted.SKILL}', bucket, least(skill, {NAMED_IN_BUCKET + 1}), outcome, NULL, NULL, sum(calls)::bigint,
       NULL, NULL, NULL, NULL
  FROM ranked GROUP BY 2, 3, 4
UNION ALL
SELECT '{Counted.CODE}', bucket, NULL, NULL, error_code, reason, sum(calls)::bigint, NULL, NULL, NULL, NULL
  FROM ranked WHERE error_code IS NOT NULL GROUP BY bucket, error_code, reason
UNION ALL
SELECT '{Counted.LATENCY}', bucket, NULL, NULL, NULL, NULL, max(longest), NULL, NULL, array_agg(latency::bigint),
       array_agg(calls)
  FROM latency GROUP BY bucket
"""  # noqa: S608  parts of our own


class FiguresReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, workspace_id: str, window: Window) -> Figures:
        async with self._database.connection() as connection:
            records = await connection.fetch(
                _FIGURES, workspace_id, window.since, window.until, window.step, LOWER_BOUNDS
            )
        return Tally(to_rows(FigureRow, records)).figures(workspace_id, window)
