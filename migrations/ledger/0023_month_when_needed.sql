-- A month that is missing all the same is made when a call first needs it.
--
-- The function of before has two differences now. It also makes the month of a root task that it is given, within a year of now and
-- behind every month that was detached: a clock that is further off is refused as before. And whoever needs a month waits for another one
-- that makes it, and must find it there. Without a root task it is what former versions call.

CREATE FUNCTION ledger.make_months(needed uuid) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog SET lock_timeout = '300ms' AS $$
DECLARE
    this   date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
    made   integer := 0;
    wanted date;
BEGIN
    FOR wanted IN
        SELECT (this + step * interval '1 month')::date FROM generate_series(-1, 2) AS step
         UNION
        SELECT asked.month FROM (SELECT ledger.month_of(needed) AS month) AS asked
         WHERE asked.month BETWEEN this - interval '1 year' AND this + interval '1 year'
           AND asked.month > coalesce((SELECT max(month) FROM ledger.detached_month), '-infinity')
         ORDER BY 1
    LOOP
        CONTINUE WHEN to_regclass('ledger.event' || to_char(wanted, '_YYYY_MM')) IS NOT NULL
                   OR EXISTS (SELECT FROM ledger.detached_month WHERE month = wanted);
        -- 'aopmon' as a number. Of several Routers one makes them.
        IF needed IS NULL THEN
            EXIT WHEN NOT pg_try_advisory_xact_lock(x'616f706d6f6e'::bigint);
        ELSE
            PERFORM pg_advisory_xact_lock(x'616f706d6f6e'::bigint);
        END IF;
        CONTINUE WHEN to_regclass('ledger.event' || to_char(wanted, '_YYYY_MM')) IS NOT NULL;
        PERFORM ledger.make_month(wanted);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

REVOKE ALL ON FUNCTION ledger.make_months(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger.make_months(uuid) TO aop_router;

CREATE OR REPLACE FUNCTION ledger.make_months() RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT ledger.make_months(NULL);
$$;
