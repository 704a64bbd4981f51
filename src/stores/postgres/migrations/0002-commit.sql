-- The database's clock. Every comparison of times of several processes uses it.
CREATE FUNCTION {schema}.clock_1() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

-- The number of the advisory lock between commits and holds.
CREATE FUNCTION {schema}.holds_lock_1() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended('lull holds of {schema}', 0)
$$;

-- The slice of `usage` that this connection adds to.
CREATE FUNCTION {schema}.usage_slice_1() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT pg_backend_pid() % 256 $$;

CREATE FUNCTION {schema}.add_bytes_1(p_tenant text, p_principal text, p_bytes bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO {schema}.usage AS u (tenant, principal, slice, tasks, open_tasks, bytes)
    VALUES (p_tenant, p_principal, {schema}.usage_slice_1(), 0, 0, p_bytes)
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET bytes = u.bytes + excluded.bytes
$$;

CREATE FUNCTION {schema}.count_message_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM {schema}.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), coalesce(NEW.principal, OLD.principal),
    coalesce(octet_length(NEW.message), 0) - coalesce(octet_length(OLD.message), 0));
  RETURN NULL;
END $$;

CREATE FUNCTION {schema}.count_session_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM {schema}.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), coalesce(NEW.principal, OLD.principal),
    coalesce(octet_length(NEW.body), 0) - coalesce(octet_length(OLD.body), 0));
  RETURN NULL;
END $$;

CREATE FUNCTION {schema}.count_event_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM {schema}.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), '',
    coalesce(octet_length(NEW.body), 0) - coalesce(octet_length(OLD.body), 0));
  RETURN NULL;
END $$;

CREATE TRIGGER counted AFTER INSERT OR DELETE ON {schema}.context_messages
  FOR EACH ROW EXECUTE FUNCTION {schema}.count_message_1();
CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON {schema}.sessions
  FOR EACH ROW EXECUTE FUNCTION {schema}.count_session_1();
CREATE TRIGGER counted AFTER INSERT OR DELETE ON {schema}.events
  FOR EACH ROW EXECUTE FUNCTION {schema}.count_event_1();

-- Writes a batch of commits, each task and each claimed key at most once per call. Arrays have one element per commit.
-- Arrays of the row (`r_`) and of the claim (`c_`) have NULL for a commit without one, and are empty when no commit has one.
-- Webhooks (`w_`) name their commit by its place, from 1. `p_epoch`: the hold epoch on which a commit was decided, if any.
-- `p_again`: an earlier attempt may have been carried out. Returns only commits that were not written: `claimed` with the
-- claim as JSON, `conflict` with the version of the task and the body that stands at `first`, or `holds-changed`.
--
-- Each statement has a snapshot of its own, so a statement after a lost insert sees the winner. Every statement writes in
-- the order of keys, and tables are written in one order. Two calls therefore never wait for each other in a circle.
CREATE FUNCTION {schema}.commit_1(
  p_again boolean, p_epoch bigint[],
  p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[],
  r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created float8[],
  r_state text[], r_status float8[], r_held boolean[], r_waits text[],
  r_ready float8[], r_due float8[], r_owner text[],
  c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created float8[], c_reply text[],
  w_of integer[], w_id text[], w_status text[], w_body text[])
RETURNS TABLE (place integer, status text, version integer, detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  new_claims integer[] := '{}';
  skip integer[] := '{}';
  stale integer[] := '{}';
  ended integer[] := '{}';
  lost integer[];
BEGIN
  -- `put_hold_1` takes this lock alone. It therefore waits for commits that have passed the comparison, and commits that
  -- come later see the epoch it has written.
  IF cardinality(p_epoch) > 0 THEN
    PERFORM pg_advisory_xact_lock_shared({schema}.holds_lock_1());
    SELECT coalesce(array_agg(o::integer), '{}') INTO stale
    FROM unnest(p_epoch) WITH ORDINALITY AS u (epoch, o) JOIN {schema}.counters c ON c.name = 'holds' AND c.value <> u.epoch;
  END IF;

  IF cardinality(c_key) > 0 THEN
    WITH given AS (
      SELECT * FROM unnest(c_tenant, c_principal, c_agent, c_key, p_task, c_digest, c_created, c_reply) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, digest, created_at, reply, o) WHERE key IS NOT NULL),
    taken AS (
      INSERT INTO {schema}.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
      SELECT tenant, principal, agent, key, task_id, digest, created_at, reply FROM given
      ORDER BY tenant, principal, agent, key
      ON CONFLICT DO NOTHING RETURNING tenant, principal, agent, key)
    SELECT coalesce(array_agg(o::integer), '{}') INTO new_claims FROM given JOIN taken USING (tenant, principal, agent, key);
    -- A key that was claimed for the task that is created is not in the way, nor is one of our own earlier attempt.
    FOR place, detail IN
      SELECT u.o::integer, row_to_json(c)::text
      FROM unnest(c_tenant, c_principal, c_agent, c_key, p_task, p_first, p_body) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, first, body, o)
      JOIN {schema}.claims c ON (c.tenant, c.principal, c.agent, c.key) = (u.tenant, u.principal, u.agent, u.key)
      WHERE u.o <> ALL (new_claims) AND (c.task_id <> u.task_id OR u.first > 1)
        AND NOT (p_again AND EXISTS (
          SELECT FROM {schema}.records r WHERE r.task_id = u.task_id AND r.first = u.first AND r.body = u.body))
    LOOP
      skip := skip || place; status := 'claimed'; version := 0; RETURN NEXT;
    END LOOP;
  END IF;

  -- The row before must end at `first - 1`. This refuses gaps, for example after a failover that lost commits.
  WITH given AS (
    SELECT * FROM unnest(p_task, p_first, p_last, p_body) WITH ORDINALITY AS u (task_id, first, last, body, o)
    WHERE o <> ALL (skip)),
  written AS (
    INSERT INTO {schema}.records (task_id, first, last, body)
    SELECT task_id, first, last, body FROM given
    WHERE o <> ALL (stale) AND (first = 1 OR first - 1 = (
      SELECT r.last FROM {schema}.records r WHERE r.task_id = given.task_id AND r.first < given.first ORDER BY r.first DESC LIMIT 1))
    ORDER BY task_id
    ON CONFLICT DO NOTHING RETURNING task_id)
  SELECT coalesce(array_agg(o::integer), '{}') INTO lost FROM given
  WHERE NOT EXISTS (SELECT FROM written WHERE written.task_id = given.task_id);

  IF cardinality(lost) > 0 THEN
    RETURN QUERY SELECT x, CASE WHEN x = ANY (stale) AND v.last = p_first[x] - 1 THEN 'holds-changed' ELSE 'conflict' END,
      v.last, (SELECT r.body FROM {schema}.records r WHERE r.task_id = p_task[x] AND r.first = p_first[x])
      FROM unnest(lost) x CROSS JOIN LATERAL (SELECT coalesce((
        SELECT r.last FROM {schema}.records r WHERE r.task_id = p_task[x] ORDER BY r.first DESC LIMIT 1), 0) AS last) v;
    DELETE FROM {schema}.claims c USING unnest(lost) x WHERE x = ANY (new_claims)
      AND (c.tenant, c.principal, c.agent, c.key) = (c_tenant[x], c_principal[x], c_agent[x], c_key[x]);
    skip := skip || lost;
  END IF;

  IF cardinality(r_state) > 0 THEN
    -- MATERIALIZED keeps the planner from looking for rows by task id alone, which scans all waits of the tenant.
    WITH gone AS MATERIALIZED (
      SELECT t.tenant, old.name, t.id FROM unnest(p_task, p_first, r_waits) WITH ORDINALITY AS u (id, first, waits, o)
      JOIN {schema}.tasks t ON t.id = u.id CROSS JOIN unnest(t.waits) AS old (name)
      WHERE u.waits IS NOT NULL AND u.first > 1 AND u.o <> ALL (skip) AND old.name <> ALL (u.waits::text[]))
    DELETE FROM {schema}.waits w USING gone
      WHERE (w.tenant, w.name, w.task_id) = (gone.tenant, gone.name, gone.id);
    INSERT INTO {schema}.waits (tenant, name, task_id)
      SELECT u.tenant, name, u.id FROM unnest(p_task, r_tenant, r_waits) WITH ORDINALITY AS u (id, tenant, waits, o)
      CROSS JOIN unnest(u.waits::text[]) AS name
      WHERE u.waits <> '{}' AND u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING;
    SELECT coalesce(array_agg(u.o::integer), '{}') INTO ended
    FROM unnest(p_task, p_first, r_state) WITH ORDINALITY AS u (id, first, state, o) LEFT JOIN {schema}.tasks t ON t.id = u.id
    WHERE u.state IN ('completed', 'failed', 'canceled', 'rejected') AND u.o <> ALL (skip)
      AND (u.first = 1 OR t.state NOT IN ('completed', 'failed', 'canceled', 'rejected'));
    INSERT INTO {schema}.tasks (id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits)
      SELECT id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits::text[]
      FROM unnest(p_task, r_tenant, r_principal, r_agent, r_context, r_parent, r_created, r_state, r_status, r_held, r_waits)
        WITH ORDINALITY
        AS u (id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, o)
      WHERE state IS NOT NULL AND o <> ALL (skip) ORDER BY id
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, status_at = excluded.status_at, held = excluded.held,
        waits = excluded.waits;
    DELETE FROM {schema}.agenda a USING unnest(p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.task_id = u.task_id AND first > 1 AND state IS NOT NULL AND coalesce(u.ready_at, u.due_at) IS NULL
        AND u.owner IS NULL AND o <> ALL (skip);
    INSERT INTO {schema}.agenda (task_id, tenant, agent, ready_at, due_at, owner)
      SELECT task_id, tenant, agent, ready_at, due_at, owner
      FROM unnest(p_task, r_tenant, r_agent, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, tenant, agent, ready_at, due_at, owner, o)
      WHERE (coalesce(ready_at, due_at) IS NOT NULL OR owner IS NOT NULL) AND o <> ALL (skip) ORDER BY task_id
      ON CONFLICT (task_id) DO UPDATE SET ready_at = excluded.ready_at, due_at = excluded.due_at, owner = excluded.owner,
        hidden_until = NULL;
  END IF;

  IF cardinality(p_snapshot) > 0 THEN
    INSERT INTO {schema}.snapshots (task_id, seq, body)
      SELECT task_id, seq, body FROM unnest(p_task, p_last, p_snapshot) WITH ORDINALITY AS u (task_id, seq, body, o)
      WHERE body IS NOT NULL AND o <> ALL (skip) ORDER BY task_id
      ON CONFLICT (task_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  END IF;

  IF cardinality(w_of) > 0 THEN
    INSERT INTO {schema}.pushes (task_id, id, status, body)
      SELECT p_task[u.o], u.id, u.status, u.body FROM unnest(w_of, w_id, w_status, w_body) AS u (o, id, status, body)
      WHERE u.o <> ALL (skip) ORDER BY 1, 2
      ON CONFLICT (task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body;
  END IF;

  INSERT INTO {schema}.usage AS x (tenant, principal, slice, tasks, open_tasks, bytes)
    SELECT t.tenant, t.principal, {schema}.usage_slice_1(), count(*) FILTER (WHERE u.first = 1),
      count(*) FILTER (WHERE u.first = 1) - count(*) FILTER (WHERE u.o = ANY (ended)), sum(octet_length(u.body))
    FROM unnest(p_task, p_first, p_body) WITH ORDINALITY AS u (id, first, body, o) JOIN {schema}.tasks t ON t.id = u.id
    WHERE u.o <> ALL (skip) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET tasks = x.tasks + excluded.tasks,
      open_tasks = x.open_tasks + excluded.open_tasks, bytes = x.bytes + excluded.bytes;
END $$;

-- Appends events of one tenant. The lock on the counter is held to the end of the transaction, so positions are in commit
-- order. The new events are undispatched, and reserved for the caller. `p_again`: an earlier attempt may have been carried out;
-- what that attempt stored counts as new.
CREATE FUNCTION {schema}.append_events_1(
  p_tenant text, p_at float8, p_again boolean, p_reserved_ms integer,
  p_source text[], p_id text[], p_type text[], p_name text[], p_body text[])
RETURNS TABLE (pos bigint, fresh boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  base bigint;
BEGIN
  SELECT value INTO base FROM {schema}.counters WHERE name = 'events' FOR UPDATE;
  RETURN QUERY
  WITH given AS (
    SELECT *, row_number() OVER (PARTITION BY source, event_id ORDER BY o) AS k
    FROM unnest(p_source, p_id, p_type, p_name, p_body) WITH ORDINALITY AS u (source, event_id, type, name, body, o)),
  old AS (
    SELECT g.source, g.event_id, e.pos, p_again AND e.received_at = p_at AND e.body = g.body AS ours
    FROM given g JOIN {schema}.events e ON (e.tenant, e.source, e.event_id) = (p_tenant, g.source, g.event_id)
    WHERE g.k = 1),
  new AS (
    SELECT g.*, base + row_number() OVER (ORDER BY o) AS pos FROM given g
    WHERE k = 1 AND NOT EXISTS (SELECT FROM old WHERE (old.source, old.event_id) = (g.source, g.event_id))),
  inserted AS (
    INSERT INTO {schema}.events (pos, tenant, source, event_id, type, name, received_at, body)
    SELECT pos, p_tenant, source, event_id, type, name, p_at, body FROM new),
  undispatched AS (
    INSERT INTO {schema}.undispatched_events (pos, hidden_until)
    SELECT pos, {schema}.clock_1() + p_reserved_ms * interval '1 ms' FROM new),
  counted AS (UPDATE {schema}.counters SET value = base + (SELECT count(*) FROM new) WHERE name = 'events')
  SELECT coalesce(new.pos, old.pos), g.k = 1 AND coalesce(old.ours, true)
  FROM given g LEFT JOIN new USING (source, event_id) LEFT JOIN old USING (source, event_id) ORDER BY g.o;
END $$;

-- Stores the first reply of a claim with its messages. A second reply, or a reply to a claim of another task, writes
-- nothing. The lock on the context is held to the end of the transaction, so positions within it are in commit order.
CREATE FUNCTION {schema}.reply_1(
  p_again boolean,
  c_tenant text, c_principal text, c_agent text, c_key text, c_task text, c_digest text, c_created float8, c_reply text,
  m_tenant text[], m_principal text[], m_context text[], m_at float8[], m_message text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  answered integer;
BEGIN
  IF c_key IS NOT NULL THEN
    INSERT INTO {schema}.claims AS c (tenant, principal, agent, key, task_id, digest, created_at, reply)
      VALUES (c_tenant, c_principal, c_agent, c_key, c_task, c_digest, c_created, c_reply)
      ON CONFLICT (tenant, principal, agent, key) DO UPDATE SET reply = excluded.reply
      WHERE c.task_id = excluded.task_id AND c.reply IS NULL;
    GET DIAGNOSTICS answered = ROW_COUNT;
    IF answered = 0 THEN RETURN; END IF;
  END IF;
  PERFORM pg_advisory_xact_lock(hash) FROM (
    SELECT DISTINCT hashtextextended(concat_ws(E'\n', tenant, principal, context), 0) AS hash
    FROM unnest(m_tenant, m_principal, m_context) AS u (tenant, principal, context) ORDER BY 1) AS contexts;
  INSERT INTO {schema}.context_messages (tenant, principal, context_id, at, message)
    SELECT tenant, principal, context_id, at, message
    FROM unnest(m_tenant, m_principal, m_context, m_at, m_message) WITH ORDINALITY
      AS u (tenant, principal, context_id, at, message, o)
    WHERE NOT p_again OR NOT EXISTS (
      SELECT FROM {schema}.context_messages m
      WHERE (m.tenant, m.principal, m.context_id, m.at, m.message) = (u.tenant, u.principal, u.context_id, u.at, u.message))
    ORDER BY o;
END $$;

-- Whether the context has a task that has not ended.
CREATE FUNCTION {schema}.is_open_1(p_tenant text, p_principal text, p_context text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM {schema}.tasks WHERE context_id = p_context AND tenant = p_tenant AND principal = p_principal
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
$$;

-- Removes ended tasks that nothing needs any more, and keeps their rows. Returns how many.
CREATE FUNCTION {schema}.remove_tasks_1(p_id text[], p_body text[], p_at float8) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  gone text[];
BEGIN
  SELECT coalesce(array_agg(id ORDER BY id), '{}') INTO gone FROM (
    SELECT id FROM {schema}.tasks WHERE id = ANY (p_id)
      AND state IN ('completed', 'failed', 'canceled', 'rejected')
      AND NOT {schema}.is_open_1(tenant, principal, context_id)
      AND NOT EXISTS (SELECT FROM {schema}.pushes p WHERE p.task_id = tasks.id AND p.status <> 'done')
    ORDER BY id FOR UPDATE) AS unneeded;
  WITH ended AS MATERIALIZED (
    SELECT t.tenant, old.name, t.id FROM {schema}.tasks t CROSS JOIN unnest(t.waits) AS old (name) WHERE t.id = ANY (gone))
  DELETE FROM {schema}.waits w USING ended WHERE (w.tenant, w.name, w.task_id) = (ended.tenant, ended.name, ended.id);
  INSERT INTO {schema}.usage AS x (tenant, principal, slice, tasks, open_tasks, bytes)
    SELECT t.tenant, t.principal, {schema}.usage_slice_1(), -count(DISTINCT t.id), 0, -sum(octet_length(r.body))
    FROM {schema}.tasks t JOIN {schema}.records r ON r.task_id = t.id WHERE t.id = ANY (gone) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET tasks = x.tasks + excluded.tasks, bytes = x.bytes + excluded.bytes;
  DELETE FROM {schema}.records WHERE task_id = ANY (gone);
  DELETE FROM {schema}.tasks WHERE id = ANY (gone);
  DELETE FROM {schema}.agenda WHERE task_id = ANY (gone);
  DELETE FROM {schema}.snapshots WHERE task_id = ANY (gone);
  DELETE FROM {schema}.pushes WHERE task_id = ANY (gone);
  INSERT INTO {schema}.removed_tasks (id, removed_at, body)
    SELECT id, p_at, body FROM unnest(p_id, p_body) AS u (id, body) WHERE id = ANY (gone) ORDER BY id
    ON CONFLICT (id) DO UPDATE SET removed_at = excluded.removed_at, body = excluded.body;
  RETURN cardinality(gone);
END $$;

-- Stores a hold and changes the epoch, alone among the commits that were decided on holds.
CREATE FUNCTION {schema}.put_hold_1(p_id text, p_created float8, p_lifted float8, p_body text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock({schema}.holds_lock_1());
  INSERT INTO {schema}.holds (id, created_at, lifted_at, body) VALUES (p_id, p_created, p_lifted, p_body)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body;
  UPDATE {schema}.counters SET value = value + 1 WHERE name = 'holds';
END $$;
