-- Writes a batch of commits, each task and each claimed key at most once per call. Arrays have one element per commit.
-- Arrays of the row (`r_`) and of the claim (`c_`) have NULL for a commit without one, and are empty when no commit has one.
-- Webhooks (`w_`) and amounts of budgets (`b_`) name their commit by its place, from 1. `p_epoch`: the hold epoch on which a
-- commit was decided, if any. `p_event`: the highest event position that it names. `p_anchor`: NULL leaves the stored one.
-- `p_again`: an earlier attempt may have been carried out. Returns only commits that were not written: `claimed` with the
-- claim as JSON, `conflict` with the version of the task and the body that stands at `first`, or `outdated`.
--
-- Each statement has a snapshot of its own, so a statement after a lost insert sees the winner. Tables are written in one
-- order. `claims`, `records`, `usage` and `spending` are written in the order of keys. The other tables have rows of the
-- tasks of this call alone, and no other call writes those tasks before this one ends. Two calls therefore never wait for
-- each other in a circle.
--
-- The function has two forms, made from this text (`commit-forms.ts`). In this one each commit names its tenant. In the
-- other one `p_tenant` is one tenant, so that a node of a distributed engine takes the call whole.
CREATE FUNCTION {schema}.commit_1(
  p_tenant text[], p_again boolean,
  p_task text[], p_first integer[], p_last integer[], p_body text[],
  p_epoch bigint[], p_event bigint[], p_snapshot text[], p_anchor text[],
  r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created float8[],
  r_state text[], r_status float8[], r_held boolean[], r_waits text[],
  r_ready float8[], r_due float8[], r_owner text[],
  c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created float8[], c_reply text[],
  w_of integer[], w_id text[], w_status text[], w_body text[],
  b_of integer[], b_id text[], b_period float8[], b_amount bigint[])
RETURNS TABLE (place integer, status text, version integer, detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  new_claims integer[] := '{}';
  skip integer[] := '{}';
  stale integer[] := '{}';
  lost integer[];
  -- What stands in `tasks` before this call.
  k_principal text[];
  k_agent text[];
  k_state text[];
BEGIN
  -- `put_hold_1` takes the lock of its tenant, or that of all, alone. It therefore waits for commits that have passed the
  -- comparison, and commits that come later see the epoch it has written.
  IF cardinality(p_epoch) > 0 THEN
    PERFORM pg_advisory_xact_lock_shared({schema}.holds_lock_1(''));
    PERFORM pg_advisory_xact_lock_shared(hash) FROM (
      SELECT DISTINCT {schema}.holds_lock_1(u.tenant) AS hash
      FROM unnest(p_tenant, p_epoch) AS u (tenant, epoch) WHERE u.epoch IS NOT NULL ORDER BY 1) AS locks;
    SELECT coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_epoch) WITH ORDINALITY AS u (epoch, o) JOIN {schema}.counters c ON c.name = 'holds' AND c.value <> u.epoch;
  END IF;

  -- An event at a position that the tenant has not reached was lost when another server took over. Its position is given again.
  IF cardinality(p_event) > 0 THEN
    SELECT stale || coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_tenant, p_event) WITH ORDINALITY AS u (tenant, event, o)
    WHERE u.event > coalesce((SELECT e.pos FROM {schema}.event_positions e WHERE e.tenant = u.tenant), 0);
  END IF;

  IF cardinality(c_key) > 0 THEN
    WITH given AS (
      SELECT u.tenant AS tenant, u.principal, u.agent, u.key, u.task_id, u.digest, u.created_at, u.reply, u.o
      FROM unnest(p_tenant, c_principal, c_agent, c_key, p_task, c_digest, c_created, c_reply) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, digest, created_at, reply, o) WHERE u.key IS NOT NULL),
    taken AS (
      INSERT INTO {schema}.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
      SELECT tenant, principal, agent, key, task_id, digest, created_at, reply FROM given
      ORDER BY tenant, principal, agent, key
      ON CONFLICT DO NOTHING RETURNING tenant, principal, agent, key)
    SELECT coalesce(array_agg(o::integer), '{}') INTO new_claims FROM given JOIN taken USING (tenant, principal, agent, key);
    -- A key that was claimed for the task that is created is not in the way, nor is one of our own earlier attempt.
    FOR place, detail IN
      SELECT u.o::integer, row_to_json(c)::text
      FROM unnest(p_tenant, c_principal, c_agent, c_key, p_task, p_first, p_body) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, first, body, o)
      JOIN {schema}.claims c ON c.tenant = u.tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key)
      WHERE u.o <> ALL (new_claims) AND (c.task_id <> u.task_id OR u.first > 1)
        AND NOT (p_again AND EXISTS (
          SELECT FROM {schema}.records r
          WHERE r.tenant = u.tenant AND r.task_id = u.task_id AND r.first = u.first AND r.body = u.body))
    LOOP
      skip := skip || place; status := 'claimed'; version := 0; RETURN NEXT;
    END LOOP;
  END IF;

  -- The row before must end at `first - 1`. This refuses gaps, for example after a failover that lost commits.
  WITH given AS (
    SELECT u.tenant AS tenant, u.task_id, u.first, u.last, u.body, u.o
    FROM unnest(p_tenant, p_task, p_first, p_last, p_body) WITH ORDINALITY AS u (tenant, task_id, first, last, body, o)
    WHERE u.o <> ALL (skip)),
  written AS (
    INSERT INTO {schema}.records (tenant, task_id, first, last, body)
    SELECT tenant, task_id, first, last, body FROM given
    WHERE o <> ALL (stale) AND (first = 1 OR first - 1 = (
      SELECT r.last FROM {schema}.records r
      WHERE r.tenant = given.tenant AND r.task_id = given.task_id AND r.first < given.first ORDER BY r.first DESC LIMIT 1))
    ORDER BY tenant, task_id
    ON CONFLICT DO NOTHING RETURNING tenant, task_id)
  SELECT coalesce(array_agg(o::integer), '{}') INTO lost FROM given
  WHERE NOT EXISTS (SELECT FROM written WHERE (written.tenant, written.task_id) = (given.tenant, given.task_id));

  IF cardinality(lost) > 0 THEN
    RETURN QUERY SELECT u.o::integer, CASE WHEN u.o = ANY (stale) AND v.last = u.first - 1 THEN 'outdated' ELSE 'conflict' END,
      v.last, (SELECT r.body FROM {schema}.records r WHERE r.tenant = u.tenant AND r.task_id = u.task_id AND r.first = u.first)
      FROM unnest(p_tenant, p_task, p_first) WITH ORDINALITY AS u (tenant, task_id, first, o)
      CROSS JOIN LATERAL (SELECT coalesce((
        SELECT r.last FROM {schema}.records r
        WHERE r.tenant = u.tenant AND r.task_id = u.task_id ORDER BY r.first DESC LIMIT 1), 0) AS last) v
      WHERE u.o = ANY (lost);
    DELETE FROM {schema}.claims c USING unnest(p_tenant, c_principal, c_agent, c_key) WITH ORDINALITY
        AS u (tenant, principal, agent, key, o)
      WHERE u.o = ANY (lost) AND u.o = ANY (new_claims)
        AND c.tenant = u.tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key);
    skip := skip || lost;
    IF cardinality(skip) = cardinality(p_task) THEN RETURN; END IF;
  END IF;

  SELECT array_agg(t.principal ORDER BY u.o), array_agg(t.agent ORDER BY u.o), array_agg(t.state ORDER BY u.o)
  INTO k_principal, k_agent, k_state
  FROM unnest(p_tenant, p_task, p_first) WITH ORDINALITY AS u (tenant, task_id, first, o)
  LEFT JOIN {schema}.tasks t ON t.tenant = u.tenant AND t.id = u.task_id AND u.first > 1;

  IF cardinality(r_state) > 0 THEN
    -- MATERIALIZED keeps the planner from looking for rows by task id alone, which scans all waits of the tenant.
    WITH gone AS MATERIALIZED (
      SELECT u.tenant AS tenant, old.name, u.task_id
      FROM unnest(p_tenant, p_task, p_first, r_waits) WITH ORDINALITY AS u (tenant, task_id, first, waits, o)
      JOIN {schema}.tasks t ON t.tenant = u.tenant AND t.id = u.task_id CROSS JOIN unnest(t.waits) AS old (name)
      WHERE u.waits IS NOT NULL AND u.first > 1 AND u.o <> ALL (skip) AND old.name <> ALL (u.waits::text[]))
    DELETE FROM {schema}.waits w USING gone WHERE (w.tenant, w.name, w.task_id) = (gone.tenant, gone.name, gone.task_id);
    INSERT INTO {schema}.waits (tenant, name, task_id)
      SELECT u.tenant, name, u.task_id
      FROM unnest(p_tenant, p_task, r_waits) WITH ORDINALITY AS u (tenant, task_id, waits, o)
      CROSS JOIN unnest(u.waits::text[]) AS name
      WHERE u.waits <> '{}' AND u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING;
    INSERT INTO {schema}.tasks (tenant, id, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor)
      SELECT u.tenant, u.task_id, u.principal, u.agent, u.context_id, u.parent_id, u.created_at, u.state, u.status_at, u.held,
        u.waits::text[], u.anchor
      FROM unnest(p_tenant, p_task, p_first, r_principal, r_agent, r_context, r_parent, r_created, r_state, r_status, r_held,
        r_waits, p_anchor) WITH ORDINALITY
        AS u (tenant, task_id, first, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor, o)
      WHERE u.first = 1 AND u.o <> ALL (skip) ORDER BY 1, 2;
    UPDATE {schema}.tasks t SET state = u.state, status_at = u.status_at, held = u.held, waits = u.waits::text[],
        anchor = coalesce(u.anchor, t.anchor)
      FROM unnest(p_tenant, p_task, p_first, r_state, r_status, r_held, r_waits, p_anchor) WITH ORDINALITY
        AS u (tenant, task_id, first, state, status_at, held, waits, anchor, o)
      WHERE t.tenant = u.tenant AND t.id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip);
    -- An ended task has a row here only if it has something to do.
    DELETE FROM {schema}.agenda a
      USING unnest(p_tenant, p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (tenant, task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = u.tenant AND a.task_id = u.task_id AND u.first > 1 AND u.o <> ALL (skip)
        AND u.state IN ('completed', 'failed', 'canceled', 'rejected') AND coalesce(u.ready_at, u.due_at) IS NULL AND u.owner IS NULL;
    UPDATE {schema}.agenda a SET ready_at = u.ready_at, due_at = u.due_at, owner = u.owner, hidden_until = NULL
      FROM unnest(p_tenant, p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (tenant, task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = u.tenant AND a.task_id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip)
        AND (a.hidden_until IS NOT NULL OR (a.ready_at, a.due_at, a.owner) IS DISTINCT FROM (u.ready_at, u.due_at, u.owner));
    INSERT INTO {schema}.agenda (tenant, task_id, agent, ready_at, due_at, owner)
      SELECT u.tenant, u.task_id, u.agent, u.ready_at, u.due_at, u.owner
      FROM unnest(p_tenant, p_task, p_first, r_agent, r_state, r_ready, r_due, r_owner, k_state) WITH ORDINALITY
        AS u (tenant, task_id, first, agent, state, ready_at, due_at, owner, old, o)
      WHERE u.o <> ALL (skip) AND (u.state NOT IN ('completed', 'failed', 'canceled', 'rejected')
          OR coalesce(u.ready_at, u.due_at) IS NOT NULL OR u.owner IS NOT NULL)
        AND (u.first = 1 OR u.old IN ('completed', 'failed', 'canceled', 'rejected'))
      ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(p_anchor) > 0 THEN
    UPDATE {schema}.tasks t SET anchor = u.anchor
      FROM unnest(p_tenant, p_task, p_anchor, r_state) WITH ORDINALITY AS u (tenant, task_id, anchor, state, o)
      WHERE t.tenant = u.tenant AND t.id = u.task_id AND u.anchor IS NOT NULL AND u.state IS NULL AND u.o <> ALL (skip);
  END IF;

  IF cardinality(p_snapshot) > 0 THEN
    INSERT INTO {schema}.snapshots (tenant, task_id, seq, body)
      SELECT u.tenant, u.task_id, u.seq, u.body
      FROM unnest(p_tenant, p_task, p_last, p_snapshot) WITH ORDINALITY AS u (tenant, task_id, seq, body, o)
      WHERE u.body IS NOT NULL AND u.o <> ALL (skip) ORDER BY 1, 2
      ON CONFLICT (tenant, task_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  END IF;

  IF cardinality(w_of) > 0 THEN
    INSERT INTO {schema}.pushes (tenant, task_id, id, status, body)
      SELECT u.tenant, u.task_id, w.id, w.status, w.body
      FROM unnest(p_tenant, p_task) WITH ORDINALITY AS u (tenant, task_id, o)
      JOIN unnest(w_of, w_id, w_status, w_body) AS w (o, id, status, body) ON w.o = u.o
      WHERE u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT (tenant, task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body;
  END IF;

  PERFORM {schema}.count_1(array_agg(u.tenant), array_agg(coalesce(u.principal, u.new_principal)),
      array_agg(coalesce(u.agent, u.new_agent)), array_agg(octet_length(u.body)::bigint),
      array_agg(CASE WHEN u.new_state IS NOT NULL THEN u.state END), array_agg(u.new_state))
    FROM unnest(p_tenant, p_body, k_principal, k_agent, k_state, r_principal, r_agent, r_state) WITH ORDINALITY
      AS u (tenant, body, principal, agent, state, new_principal, new_agent, new_state, o)
    WHERE u.o <> ALL (skip) AND coalesce(u.principal, u.new_principal) IS NOT NULL
    HAVING count(*) > 0;

  IF cardinality(b_of) > 0 THEN
    WITH given AS (
      SELECT u.tenant AS tenant, b.id, b.period, b.amount
      FROM unnest(p_tenant, p_task) WITH ORDINALITY AS u (tenant, task_id, o)
      JOIN unnest(b_of, b_id, b_period, b_amount) AS b (o, id, period, amount) ON b.o = u.o
      WHERE u.o <> ALL (skip))
    INSERT INTO {schema}.spending AS s (tenant, budget_id, period, amount)
      SELECT tenant, id, period, least(9007199254740991, sum(amount)) FROM given
      WHERE period = (SELECT max(g.period) FROM given g WHERE (g.tenant, g.id) = (given.tenant, given.id))
      GROUP BY 1, 2, 3 ORDER BY 1, 2
      ON CONFLICT (tenant, budget_id) DO UPDATE SET period = excluded.period,
        amount = least(9007199254740991, excluded.amount + CASE WHEN s.period = excluded.period THEN s.amount ELSE 0 END)
      WHERE s.period <= excluded.period;
  END IF;
END $$;
