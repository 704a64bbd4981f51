-- A function is numbered: a running process keeps calling the one it knows. A function takes the time once, at its start.

-- The database's clock. Every comparison of times of several processes uses it.
CREATE FUNCTION {schema}.clock_1() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

-- The number of the advisory lock between the commits of a tenant and its holds. The empty tenant stands for all: commits
-- share its lock too, and a hold of all tenants takes it alone.
CREATE FUNCTION {schema}.holds_lock_1(p_tenant text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended('lull holds of {schema} ' || p_tenant, 0)
$$;

-- The slice of `usage` that this connection adds to.
CREATE FUNCTION {schema}.usage_slice_1() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT pg_backend_pid() % 32 $$;

-- Adds to what is stored: bytes, and tasks that went from one state (NULL: they are new) to another (NULL: they are gone).
-- The rows of a call are written in the order of their key, so two calls never wait for each other in a circle.
CREATE FUNCTION {schema}.count_1(
  p_tenant text[], p_principal text[], p_agent text[], p_bytes bigint[], p_from text[], p_to text[]) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO {schema}.usage AS x (tenant, principal, agent, slice, bytes, submitted, working, input_required, auth_required,
    user_consent_required, paused_by_client, paused_by_agent, completed, failed, canceled, rejected)
  SELECT tenant, principal, agent, {schema}.usage_slice_1(), sum(bytes),
    count(*) FILTER (WHERE new = 'submitted') - count(*) FILTER (WHERE old = 'submitted'),
    count(*) FILTER (WHERE new = 'working') - count(*) FILTER (WHERE old = 'working'),
    count(*) FILTER (WHERE new = 'input-required') - count(*) FILTER (WHERE old = 'input-required'),
    count(*) FILTER (WHERE new = 'auth-required') - count(*) FILTER (WHERE old = 'auth-required'),
    count(*) FILTER (WHERE new = 'user-consent-required') - count(*) FILTER (WHERE old = 'user-consent-required'),
    count(*) FILTER (WHERE new = 'paused-by-client') - count(*) FILTER (WHERE old = 'paused-by-client'),
    count(*) FILTER (WHERE new = 'paused-by-agent') - count(*) FILTER (WHERE old = 'paused-by-agent'),
    count(*) FILTER (WHERE new = 'completed') - count(*) FILTER (WHERE old = 'completed'),
    count(*) FILTER (WHERE new = 'failed') - count(*) FILTER (WHERE old = 'failed'),
    count(*) FILTER (WHERE new = 'canceled') - count(*) FILTER (WHERE old = 'canceled'),
    count(*) FILTER (WHERE new = 'rejected') - count(*) FILTER (WHERE old = 'rejected')
  FROM unnest(p_tenant, p_principal, p_agent, p_bytes, p_from, p_to) AS u (tenant, principal, agent, bytes, old, new)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (tenant, principal, agent, slice) DO UPDATE SET bytes = x.bytes + excluded.bytes,
    submitted = x.submitted + excluded.submitted, working = x.working + excluded.working,
    input_required = x.input_required + excluded.input_required, auth_required = x.auth_required + excluded.auth_required,
    user_consent_required = x.user_consent_required + excluded.user_consent_required,
    paused_by_client = x.paused_by_client + excluded.paused_by_client,
    paused_by_agent = x.paused_by_agent + excluded.paused_by_agent, completed = x.completed + excluded.completed,
    failed = x.failed + excluded.failed, canceled = x.canceled + excluded.canceled, rejected = x.rejected + excluded.rejected
$$;

-- Appends events of one tenant. The lock on its position is held to the end of the transaction, so its positions are in
-- commit order. The new events are undispatched, and reserved for the caller. `p_again`: an earlier attempt may have been
-- carried out; what that attempt stored counts as new.
CREATE FUNCTION {schema}.append_events_1(
  p_tenant text, p_at float8[], p_again boolean, p_reserved_ms integer,
  p_source text[], p_id text[], p_type text[], p_name text[], p_body text[])
RETURNS TABLE (pos bigint, fresh boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  base bigint;
  hidden timestamptz := {schema}.clock_1() + p_reserved_ms * interval '1 ms';
BEGIN
  SELECT p.pos INTO base FROM {schema}.event_positions p WHERE p.tenant = p_tenant FOR UPDATE;
  IF base IS NULL THEN
    INSERT INTO {schema}.event_positions (tenant, pos) VALUES (p_tenant, 0) ON CONFLICT (tenant) DO NOTHING;
    SELECT p.pos INTO base FROM {schema}.event_positions p WHERE p.tenant = p_tenant FOR UPDATE;
  END IF;
  RETURN QUERY
  WITH given AS (
    SELECT *, row_number() OVER (PARTITION BY source, event_id ORDER BY o) AS k
    FROM unnest(p_at, p_source, p_id, p_type, p_name, p_body) WITH ORDINALITY
      AS u (received_at, source, event_id, type, name, body, o)),
  old AS (
    SELECT g.source, g.event_id, e.pos, p_again AND e.received_at = g.received_at AND e.body = g.body AS ours
    FROM given g JOIN {schema}.events e ON (e.tenant, e.source, e.event_id) = (p_tenant, g.source, g.event_id)
    WHERE g.k = 1),
  new AS (
    SELECT g.*, base + row_number() OVER (ORDER BY o) AS pos FROM given g
    WHERE k = 1 AND NOT EXISTS (SELECT FROM old WHERE (old.source, old.event_id) = (g.source, g.event_id))),
  inserted AS (
    INSERT INTO {schema}.events (tenant, pos, source, event_id, type, name, received_at, body)
    SELECT p_tenant, pos, source, event_id, type, name, received_at, body FROM new),
  undispatched AS (
    INSERT INTO {schema}.undispatched_events (tenant, pos, hidden_until) SELECT p_tenant, pos, hidden FROM new),
  moved AS (
    UPDATE {schema}.event_positions p SET pos = base + (SELECT count(*) FROM new)
    WHERE p.tenant = p_tenant AND EXISTS (SELECT FROM new)),
  counted AS MATERIALIZED (
    SELECT {schema}.count_1(ARRAY[p_tenant], ARRAY[''], ARRAY[''], ARRAY[sum(octet_length(body))::bigint], ARRAY[NULL], ARRAY[NULL])
    FROM new HAVING count(*) > 0)
  SELECT coalesce(new.pos, old.pos), g.k = 1 AND coalesce(old.ours, true)
  FROM given g LEFT JOIN new USING (source, event_id) LEFT JOIN old USING (source, event_id)
    LEFT JOIN (SELECT count(*) AS n FROM counted) AS c ON true
  WHERE c.n >= 0 ORDER BY g.o;
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
  micros bigint := (extract(epoch FROM {schema}.clock_1()) * 1000000)::bigint;
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
  WITH given AS (
    SELECT u.*, greatest(micros, coalesce((
        SELECT m.pos FROM {schema}.context_messages m
        WHERE (m.tenant, m.principal, m.context_id) = (u.tenant, u.principal, u.context_id) ORDER BY m.pos DESC LIMIT 1), 0)) + u.o AS pos
    FROM unnest(m_tenant, m_principal, m_context, m_at, m_message) WITH ORDINALITY
      AS u (tenant, principal, context_id, at, message, o)
    WHERE NOT p_again OR NOT EXISTS (
      SELECT FROM {schema}.context_messages m
      WHERE (m.tenant, m.principal, m.context_id, m.at, m.message) = (u.tenant, u.principal, u.context_id, u.at, u.message))),
  added AS (
    INSERT INTO {schema}.context_messages (tenant, principal, context_id, pos, at, message)
    SELECT tenant, principal, context_id, pos, at, message FROM given
    RETURNING tenant, principal, octet_length(message) AS bytes)
  SELECT 1 INTO answered FROM (
    SELECT {schema}.count_1(array_agg(tenant), array_agg(principal), array_agg(''::text), array_agg(bytes::bigint),
      array_agg(NULL::text), array_agg(NULL::text)) FROM added HAVING count(*) > 0) AS counted;
END $$;

-- Writes a session and counts its bytes. `p_before`: only if the stored one is equal (`p_compares`; NULL: none is stored).
-- `p_again`: an earlier attempt may already have written it. Returns whether it is written.
CREATE FUNCTION {schema}.write_session_1(
  p_tenant text, p_principal text, p_id text, p_updated float8, p_deleted boolean, p_body text,
  p_compares boolean, p_before text, p_again boolean)
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  stored text;
BEGIN
  LOOP
    SELECT x.body INTO stored FROM {schema}.sessions x
      WHERE (x.tenant, x.principal, x.id) = (p_tenant, p_principal, p_id) FOR UPDATE;
    IF p_compares AND p_again AND stored = p_body THEN RETURN true; END IF;
    IF p_compares AND stored IS DISTINCT FROM p_before THEN RETURN false; END IF;
    IF stored IS NULL THEN
      INSERT INTO {schema}.sessions (tenant, principal, id, updated_at, deleted, body)
        VALUES (p_tenant, p_principal, p_id, p_updated, p_deleted, p_body) ON CONFLICT DO NOTHING;
      -- Another call has just stored one.
      IF NOT FOUND THEN CONTINUE; END IF;
    ELSE
      UPDATE {schema}.sessions x SET updated_at = p_updated, deleted = p_deleted, body = p_body
        WHERE (x.tenant, x.principal, x.id) = (p_tenant, p_principal, p_id);
    END IF;
    PERFORM {schema}.count_1(ARRAY[p_tenant], ARRAY[p_principal], ARRAY[''],
      ARRAY[(octet_length(p_body) - coalesce(octet_length(stored), 0))::bigint], ARRAY[NULL], ARRAY[NULL]);
    RETURN true;
  END LOOP;
END $$;

-- Whether the context has a task that has not ended.
CREATE FUNCTION {schema}.is_open_1(p_tenant text, p_principal text, p_context text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM {schema}.tasks WHERE tenant = p_tenant AND context_id = p_context AND principal = p_principal
      AND id <> substr(context_id, 1, 14) || '7' || substr(context_id, 16)
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
  OR EXISTS (
    SELECT FROM {schema}.tasks WHERE tenant = p_tenant AND id = substr(p_context, 1, 14) || '7' || substr(p_context, 16)
      AND context_id = p_context AND principal = p_principal
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
$$;

-- Removes ended tasks of a tenant that nothing needs any more, and keeps their rows. Returns how many.
CREATE FUNCTION {schema}.remove_tasks_1(p_tenant text, p_id text[], p_body text[], p_at float8) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  gone text[];
BEGIN
  SELECT coalesce(array_agg(id ORDER BY id), '{}') INTO gone FROM (
    SELECT id FROM {schema}.tasks WHERE tenant = p_tenant AND id = ANY (p_id)
      AND state IN ('completed', 'failed', 'canceled', 'rejected')
      AND NOT {schema}.is_open_1(tenant, principal, context_id)
      AND NOT EXISTS (
        SELECT FROM {schema}.pushes p WHERE p.tenant = p_tenant AND p.task_id = tasks.id AND p.status <> 'done')
    ORDER BY id FOR UPDATE) AS unneeded;
  IF gone = '{}' THEN RETURN 0; END IF;
  WITH ended AS MATERIALIZED (
    SELECT old.name, t.id FROM {schema}.tasks t CROSS JOIN unnest(t.waits) AS old (name)
    WHERE t.tenant = p_tenant AND t.id = ANY (gone))
  DELETE FROM {schema}.waits w USING ended WHERE (w.tenant, w.name, w.task_id) = (p_tenant, ended.name, ended.id);
  PERFORM {schema}.count_1(array_agg(p_tenant), array_agg(t.principal), array_agg(t.agent),
    array_agg(-(SELECT sum(octet_length(r.body)) FROM {schema}.records r WHERE r.tenant = p_tenant AND r.task_id = t.id)),
    array_agg(t.state), array_agg(NULL::text))
  FROM {schema}.tasks t WHERE t.tenant = p_tenant AND t.id = ANY (gone);
  DELETE FROM {schema}.records WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM {schema}.tasks WHERE tenant = p_tenant AND id = ANY (gone);
  DELETE FROM {schema}.agenda WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM {schema}.snapshots WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM {schema}.pushes WHERE tenant = p_tenant AND task_id = ANY (gone);
  INSERT INTO {schema}.removed_tasks (tenant, id, removed_at, body)
    SELECT p_tenant, id, p_at, body FROM unnest(p_id, p_body) AS u (id, body) WHERE id = ANY (gone) ORDER BY id
    ON CONFLICT (tenant, id) DO UPDATE SET removed_at = excluded.removed_at, body = excluded.body;
  RETURN cardinality(gone);
END $$;

-- Stores a hold and changes the epoch, alone among the commits of `p_tenant` (empty: of all tenants) that were decided on
-- holds. `p_epoch`: only if the epoch is still this one, which is compared under the lock. Returns whether it is written.
CREATE FUNCTION {schema}.put_hold_1(
  p_tenant text, p_id text, p_created float8, p_lifted float8, p_body text, p_epoch bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock({schema}.holds_lock_1(p_tenant));
  UPDATE {schema}.counters SET value = value + 1 WHERE name = 'holds' AND (p_epoch IS NULL OR value = p_epoch);
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO {schema}.holds (id, created_at, lifted_at, body) VALUES (p_id, p_created, p_lifted, p_body)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body;
  RETURN true;
END $$;

-- Gives a lease, and returns the clock and the epoch of the holds.
CREATE FUNCTION {schema}.register_1(p_id text, p_agents text[], p_lease_ms float8) RETURNS TABLE (now float8, hold_epoch bigint)
LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := {schema}.clock_1();
BEGIN
  INSERT INTO {schema}.workers (id, agents, lease_until, note)
    VALUES (p_id, p_agents, at + p_lease_ms * interval '1 ms', 'null')
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until;
  RETURN QUERY SELECT extract(epoch FROM {schema}.clock_1())::float8 * 1000, value FROM {schema}.counters WHERE name = 'holds';
END $$;

-- Renews a lease. No row: it has run out. The row is locked before the time is compared.
CREATE FUNCTION {schema}.beat_1(p_id text, p_lease_ms float8, p_note text) RETURNS TABLE (now float8, hold_epoch bigint)
LANGUAGE plpgsql AS $$
DECLARE
  until timestamptz;
  at timestamptz;
BEGIN
  SELECT lease_until INTO until FROM {schema}.workers WHERE id = p_id FOR UPDATE;
  at := {schema}.clock_1();
  IF until IS NULL OR until <= at THEN RETURN; END IF;
  UPDATE {schema}.workers SET lease_until = at + p_lease_ms * interval '1 ms', note = p_note WHERE id = p_id;
  RETURN QUERY SELECT extract(epoch FROM {schema}.clock_1())::float8 * 1000, value FROM {schema}.counters WHERE name = 'holds';
END $$;
