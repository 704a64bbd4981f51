CREATE TABLE lull.agenda (
  task_id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ready_at double precision,
  due_at double precision,
  owner text COLLATE "C",
  hidden_until timestamp with time zone
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.audit (
  pos bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C",
  task_id text COLLATE "C",
  body text NOT NULL
);
CREATE TABLE lull.claims (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  created_at double precision NOT NULL,
  reply text
);
CREATE TABLE lull.context_messages (
  pos bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  message text NOT NULL
);
CREATE TABLE lull.counters (
  name text COLLATE "C" NOT NULL,
  value bigint NOT NULL
) WITH (fillfactor=10);
CREATE TABLE lull.duties (
  name text COLLATE "C" NOT NULL,
  worker_id text COLLATE "C" NOT NULL,
  until timestamp with time zone NOT NULL
) WITH (fillfactor=10);
CREATE TABLE lull.events (
  pos bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  received_at double precision NOT NULL,
  body text NOT NULL
);
CREATE TABLE lull.holds (
  pos bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  id text COLLATE "C" NOT NULL,
  created_at double precision NOT NULL,
  lifted_at double precision,
  body text NOT NULL
);
CREATE TABLE lull.key_values (
  name text COLLATE "C" NOT NULL,
  value text NOT NULL
);
CREATE TABLE lull.policies (
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL
);
CREATE TABLE lull.principal_tasks (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL
) WITH (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.pushes (
  task_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  body text NOT NULL
) WITH (fillfactor=80);
CREATE TABLE lull.records (
  task_id text COLLATE "C" NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  body text NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor=0.05);
CREATE TABLE lull.removed_tasks (
  id text COLLATE "C" NOT NULL,
  removed_at double precision NOT NULL,
  body text NOT NULL
);
CREATE TABLE lull.schema (
  number integer NOT NULL,
  readable_from integer NOT NULL
);
CREATE TABLE lull.sessions (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  updated_at double precision NOT NULL,
  deleted boolean NOT NULL,
  body text NOT NULL
);
CREATE TABLE lull.snapshots (
  task_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  body text NOT NULL
) WITH (fillfactor=80);
CREATE TABLE lull.spending (
  budget_id text COLLATE "C" NOT NULL,
  period double precision NOT NULL,
  amount bigint NOT NULL
);
CREATE TABLE lull.task_moves (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.tasks (
  id text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  created_at double precision NOT NULL,
  state text COLLATE "C" NOT NULL,
  status_at double precision NOT NULL,
  held boolean NOT NULL,
  waits text[] COLLATE "C" NOT NULL,
  anchor text COLLATE "C"
) WITH (fillfactor=90);
CREATE TABLE lull.tenant_tasks (
  tenant text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL
) WITH (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.undispatched_events (
  pos bigint NOT NULL,
  hidden_until timestamp with time zone NOT NULL
);
CREATE TABLE lull.usage (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  slice integer NOT NULL,
  tasks bigint NOT NULL,
  open_tasks bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (fillfactor=10, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.waits (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL
);
CREATE TABLE lull.workers (
  id text COLLATE "C" NOT NULL,
  agents text[] NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  note text NOT NULL
) WITH (fillfactor=10);

ALTER TABLE lull.agenda ADD CONSTRAINT agenda_pkey PRIMARY KEY (task_id);
ALTER TABLE lull.audit ADD CONSTRAINT audit_id_key UNIQUE (id);
ALTER TABLE lull.audit ADD CONSTRAINT audit_pkey PRIMARY KEY (pos);
ALTER TABLE lull.claims ADD CONSTRAINT claims_pkey PRIMARY KEY (tenant, principal, agent, key);
ALTER TABLE lull.context_messages ADD CONSTRAINT context_messages_pkey PRIMARY KEY (pos);
ALTER TABLE lull.counters ADD CONSTRAINT counters_pkey PRIMARY KEY (name);
ALTER TABLE lull.duties ADD CONSTRAINT duties_pkey PRIMARY KEY (name);
ALTER TABLE lull.events ADD CONSTRAINT events_pkey PRIMARY KEY (pos);
ALTER TABLE lull.events ADD CONSTRAINT events_tenant_source_event_id_key UNIQUE (tenant, source, event_id);
ALTER TABLE lull.holds ADD CONSTRAINT holds_id_key UNIQUE (id);
ALTER TABLE lull.holds ADD CONSTRAINT holds_pkey PRIMARY KEY (pos);
ALTER TABLE lull.key_values ADD CONSTRAINT key_values_pkey PRIMARY KEY (name);
ALTER TABLE lull.policies ADD CONSTRAINT policies_pkey PRIMARY KEY (id);
ALTER TABLE lull.principal_tasks ADD CONSTRAINT principal_tasks_pkey PRIMARY KEY (tenant, principal, agent, state);
ALTER TABLE lull.pushes ADD CONSTRAINT pushes_pkey PRIMARY KEY (task_id, id);
ALTER TABLE lull.records ADD CONSTRAINT records_pkey PRIMARY KEY (task_id, first);
ALTER TABLE lull.removed_tasks ADD CONSTRAINT removed_tasks_pkey PRIMARY KEY (id);
ALTER TABLE lull.sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (tenant, principal, id);
ALTER TABLE lull.snapshots ADD CONSTRAINT snapshots_pkey PRIMARY KEY (task_id);
ALTER TABLE lull.spending ADD CONSTRAINT spending_pkey PRIMARY KEY (budget_id);
ALTER TABLE lull.tasks ADD CONSTRAINT tasks_pkey PRIMARY KEY (id);
ALTER TABLE lull.tenant_tasks ADD CONSTRAINT tenant_tasks_pkey PRIMARY KEY (tenant, agent, state);
ALTER TABLE lull.undispatched_events ADD CONSTRAINT undispatched_events_pkey PRIMARY KEY (pos);
ALTER TABLE lull.usage ADD CONSTRAINT usage_pkey PRIMARY KEY (tenant, principal, slice);
ALTER TABLE lull.waits ADD CONSTRAINT waits_pkey PRIMARY KEY (tenant, name, task_id);
ALTER TABLE lull.workers ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX agenda_due ON lull.agenda USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX agenda_owned ON lull.agenda USING btree (owner) WHERE (owner IS NOT NULL);
CREATE INDEX agenda_ready ON lull.agenda USING btree (agent, tenant, ready_at, task_id) WHERE (ready_at IS NOT NULL);
CREATE INDEX audit_by_age ON lull.audit USING btree (at);
CREATE INDEX audit_by_principal ON lull.audit USING btree (principal, pos) WHERE (principal IS NOT NULL);
CREATE INDEX audit_by_task ON lull.audit USING btree (task_id, pos) WHERE (task_id IS NOT NULL);
CREATE INDEX audit_by_tenant ON lull.audit USING btree (tenant, pos);
CREATE INDEX audit_by_tenant_and_principal ON lull.audit USING btree (tenant, principal, pos) WHERE (principal IS NOT NULL);
CREATE INDEX claims_by_age ON lull.claims USING btree (created_at);
CREATE INDEX context_messages_by_context ON lull.context_messages USING btree (tenant, principal, context_id, pos);
CREATE INDEX events_by_age ON lull.events USING btree (received_at);
CREATE INDEX events_by_name ON lull.events USING btree (tenant, name, pos) WHERE (name IS NOT NULL);
CREATE INDEX events_by_tenant ON lull.events USING btree (tenant, pos);
CREATE INDEX events_by_type ON lull.events USING btree (tenant, type, pos);
CREATE INDEX pushes_by_status ON lull.pushes USING btree (status, task_id, id) WHERE (status <> 'done'::text);
CREATE INDEX removed_tasks_by_age ON lull.removed_tasks USING btree (removed_at);
CREATE INDEX sessions_by_update ON lull.sessions USING btree (tenant, principal, updated_at, id) WHERE (NOT deleted);
CREATE INDEX tasks_by_context ON lull.tasks USING btree (context_id);
CREATE INDEX tasks_by_parent ON lull.tasks USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX tasks_by_principal ON lull.tasks USING btree (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON lull.tasks USING btree (state, status_at, id);
CREATE INDEX tasks_held ON lull.tasks USING btree (status_at, id) WHERE held;
CREATE INDEX tasks_held_by_context ON lull.tasks USING btree (context_id, id) WHERE held;
CREATE INDEX tasks_open ON lull.tasks USING btree (context_id, id) WHERE (state <> ALL (ARRAY['completed'::text, 'failed'::text, 'canceled'::text, 'rejected'::text]));

CREATE OR REPLACE FUNCTION lull.add_bytes_1(p_tenant text, p_principal text, p_bytes bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO lull.usage AS u (tenant, principal, slice, tasks, open_tasks, bytes)
    VALUES (p_tenant, p_principal, lull.usage_slice_1(), 0, 0, p_bytes)
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET bytes = u.bytes + excluded.bytes
$function$
;
CREATE OR REPLACE FUNCTION lull.append_audit_1(p_id text[], p_at double precision[], p_tenant text[], p_principal text[], p_task text[], p_body text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  base bigint;
BEGIN
  SELECT value INTO base FROM lull.counters WHERE name = 'audit' FOR UPDATE;
  INSERT INTO lull.audit (pos, id, at, tenant, principal, task_id, body)
    SELECT base + o, id, at, tenant, principal, task_id, body
    FROM unnest(p_id, p_at, p_tenant, p_principal, p_task, p_body)
      WITH ORDINALITY AS u (id, at, tenant, principal, task_id, body, o)
    ON CONFLICT (id) DO NOTHING;
  UPDATE lull.counters SET value = base + cardinality(p_id) WHERE name = 'audit';
END $function$
;
CREATE OR REPLACE FUNCTION lull.append_events_1(p_tenant text, p_at double precision, p_again boolean, p_reserved_ms integer, p_source text[], p_id text[], p_type text[], p_name text[], p_body text[])
 RETURNS TABLE(pos bigint, fresh boolean)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  base bigint;
BEGIN
  SELECT value INTO base FROM lull.counters WHERE name = 'events' FOR UPDATE;
  RETURN QUERY
  WITH given AS (
    SELECT *, row_number() OVER (PARTITION BY source, event_id ORDER BY o) AS k
    FROM unnest(p_source, p_id, p_type, p_name, p_body) WITH ORDINALITY AS u (source, event_id, type, name, body, o)),
  old AS (
    SELECT g.source, g.event_id, e.pos, p_again AND e.received_at = p_at AND e.body = g.body AS ours
    FROM given g JOIN lull.events e ON (e.tenant, e.source, e.event_id) = (p_tenant, g.source, g.event_id)
    WHERE g.k = 1),
  new AS (
    SELECT g.*, base + row_number() OVER (ORDER BY o) AS pos FROM given g
    WHERE k = 1 AND NOT EXISTS (SELECT FROM old WHERE (old.source, old.event_id) = (g.source, g.event_id))),
  inserted AS (
    INSERT INTO lull.events (pos, tenant, source, event_id, type, name, received_at, body)
    SELECT pos, p_tenant, source, event_id, type, name, p_at, body FROM new),
  undispatched AS (
    INSERT INTO lull.undispatched_events (pos, hidden_until)
    SELECT pos, lull.clock_1() + p_reserved_ms * interval '1 ms' FROM new),
  counted AS (UPDATE lull.counters SET value = base + (SELECT count(*) FROM new) WHERE name = 'events')
  SELECT coalesce(new.pos, old.pos), g.k = 1 AND coalesce(old.ours, true)
  FROM given g LEFT JOIN new USING (source, event_id) LEFT JOIN old USING (source, event_id) ORDER BY g.o;
END $function$
;
CREATE OR REPLACE FUNCTION lull.clock_1()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ SELECT clock_timestamp() $function$
;
CREATE OR REPLACE FUNCTION lull.commit_1(p_again boolean, p_epoch bigint[], p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[], r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created double precision[], r_state text[], r_status double precision[], r_held boolean[], r_waits text[], r_ready double precision[], r_due double precision[], r_owner text[], c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created double precision[], c_reply text[], w_of integer[], w_id text[], w_status text[], w_body text[])
 RETURNS TABLE(place integer, status text, version integer, detail text)
 LANGUAGE plpgsql
AS $function$
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
    PERFORM pg_advisory_xact_lock_shared(lull.holds_lock_1());
    SELECT coalesce(array_agg(o::integer), '{}') INTO stale
    FROM unnest(p_epoch) WITH ORDINALITY AS u (epoch, o) JOIN lull.counters c ON c.name = 'holds' AND c.value <> u.epoch;
  END IF;

  IF cardinality(c_key) > 0 THEN
    WITH given AS (
      SELECT * FROM unnest(c_tenant, c_principal, c_agent, c_key, p_task, c_digest, c_created, c_reply) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, digest, created_at, reply, o) WHERE key IS NOT NULL),
    taken AS (
      INSERT INTO lull.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
      SELECT tenant, principal, agent, key, task_id, digest, created_at, reply FROM given
      ORDER BY tenant, principal, agent, key
      ON CONFLICT DO NOTHING RETURNING tenant, principal, agent, key)
    SELECT coalesce(array_agg(o::integer), '{}') INTO new_claims FROM given JOIN taken USING (tenant, principal, agent, key);
    -- A key that was claimed for the task that is created is not in the way, nor is one of our own earlier attempt.
    FOR place, detail IN
      SELECT u.o::integer, row_to_json(c)::text
      FROM unnest(c_tenant, c_principal, c_agent, c_key, p_task, p_first, p_body) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, first, body, o)
      JOIN lull.claims c ON (c.tenant, c.principal, c.agent, c.key) = (u.tenant, u.principal, u.agent, u.key)
      WHERE u.o <> ALL (new_claims) AND (c.task_id <> u.task_id OR u.first > 1)
        AND NOT (p_again AND EXISTS (
          SELECT FROM lull.records r WHERE r.task_id = u.task_id AND r.first = u.first AND r.body = u.body))
    LOOP
      skip := skip || place; status := 'claimed'; version := 0; RETURN NEXT;
    END LOOP;
  END IF;

  -- The row before must end at `first - 1`. This refuses gaps, for example after a failover that lost commits.
  WITH given AS (
    SELECT * FROM unnest(p_task, p_first, p_last, p_body) WITH ORDINALITY AS u (task_id, first, last, body, o)
    WHERE o <> ALL (skip)),
  written AS (
    INSERT INTO lull.records (task_id, first, last, body)
    SELECT task_id, first, last, body FROM given
    WHERE o <> ALL (stale) AND (first = 1 OR first - 1 = (
      SELECT r.last FROM lull.records r WHERE r.task_id = given.task_id AND r.first < given.first ORDER BY r.first DESC LIMIT 1))
    ORDER BY task_id
    ON CONFLICT DO NOTHING RETURNING task_id)
  SELECT coalesce(array_agg(o::integer), '{}') INTO lost FROM given
  WHERE NOT EXISTS (SELECT FROM written WHERE written.task_id = given.task_id);

  IF cardinality(lost) > 0 THEN
    RETURN QUERY SELECT x, CASE WHEN x = ANY (stale) AND v.last = p_first[x] - 1 THEN 'holds-changed' ELSE 'conflict' END,
      v.last, (SELECT r.body FROM lull.records r WHERE r.task_id = p_task[x] AND r.first = p_first[x])
      FROM unnest(lost) x CROSS JOIN LATERAL (SELECT coalesce((
        SELECT r.last FROM lull.records r WHERE r.task_id = p_task[x] ORDER BY r.first DESC LIMIT 1), 0) AS last) v;
    DELETE FROM lull.claims c USING unnest(lost) x WHERE x = ANY (new_claims)
      AND (c.tenant, c.principal, c.agent, c.key) = (c_tenant[x], c_principal[x], c_agent[x], c_key[x]);
    skip := skip || lost;
  END IF;

  IF cardinality(r_state) > 0 THEN
    -- MATERIALIZED keeps the planner from looking for rows by task id alone, which scans all waits of the tenant.
    WITH gone AS MATERIALIZED (
      SELECT t.tenant, old.name, t.id FROM unnest(p_task, p_first, r_waits) WITH ORDINALITY AS u (id, first, waits, o)
      JOIN lull.tasks t ON t.id = u.id CROSS JOIN unnest(t.waits) AS old (name)
      WHERE u.waits IS NOT NULL AND u.first > 1 AND u.o <> ALL (skip) AND old.name <> ALL (u.waits::text[]))
    DELETE FROM lull.waits w USING gone
      WHERE (w.tenant, w.name, w.task_id) = (gone.tenant, gone.name, gone.id);
    INSERT INTO lull.waits (tenant, name, task_id)
      SELECT u.tenant, name, u.id FROM unnest(p_task, r_tenant, r_waits) WITH ORDINALITY AS u (id, tenant, waits, o)
      CROSS JOIN unnest(u.waits::text[]) AS name
      WHERE u.waits <> '{}' AND u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING;
    SELECT coalesce(array_agg(u.o::integer), '{}') INTO ended
    FROM unnest(p_task, p_first, r_state) WITH ORDINALITY AS u (id, first, state, o) LEFT JOIN lull.tasks t ON t.id = u.id
    WHERE u.state IN ('completed', 'failed', 'canceled', 'rejected') AND u.o <> ALL (skip)
      AND (u.first = 1 OR t.state NOT IN ('completed', 'failed', 'canceled', 'rejected'));
    INSERT INTO lull.tasks (id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits)
      SELECT id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits::text[]
      FROM unnest(p_task, r_tenant, r_principal, r_agent, r_context, r_parent, r_created, r_state, r_status, r_held, r_waits)
        WITH ORDINALITY
        AS u (id, tenant, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, o)
      WHERE state IS NOT NULL AND o <> ALL (skip) ORDER BY id
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, status_at = excluded.status_at, held = excluded.held,
        waits = excluded.waits;
    DELETE FROM lull.agenda a USING unnest(p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.task_id = u.task_id AND first > 1 AND state IS NOT NULL AND coalesce(u.ready_at, u.due_at) IS NULL
        AND u.owner IS NULL AND o <> ALL (skip);
    INSERT INTO lull.agenda (task_id, tenant, agent, ready_at, due_at, owner)
      SELECT task_id, tenant, agent, ready_at, due_at, owner
      FROM unnest(p_task, r_tenant, r_agent, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, tenant, agent, ready_at, due_at, owner, o)
      WHERE (coalesce(ready_at, due_at) IS NOT NULL OR owner IS NOT NULL) AND o <> ALL (skip) ORDER BY task_id
      ON CONFLICT (task_id) DO UPDATE SET ready_at = excluded.ready_at, due_at = excluded.due_at, owner = excluded.owner,
        hidden_until = NULL;
  END IF;

  IF cardinality(p_snapshot) > 0 THEN
    INSERT INTO lull.snapshots (task_id, seq, body)
      SELECT task_id, seq, body FROM unnest(p_task, p_last, p_snapshot) WITH ORDINALITY AS u (task_id, seq, body, o)
      WHERE body IS NOT NULL AND o <> ALL (skip) ORDER BY task_id
      ON CONFLICT (task_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  END IF;

  IF cardinality(w_of) > 0 THEN
    INSERT INTO lull.pushes (task_id, id, status, body)
      SELECT p_task[u.o], u.id, u.status, u.body FROM unnest(w_of, w_id, w_status, w_body) AS u (o, id, status, body)
      WHERE u.o <> ALL (skip) ORDER BY 1, 2
      ON CONFLICT (task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body;
  END IF;

  INSERT INTO lull.usage AS x (tenant, principal, slice, tasks, open_tasks, bytes)
    SELECT t.tenant, t.principal, lull.usage_slice_1(), count(*) FILTER (WHERE u.first = 1),
      count(*) FILTER (WHERE u.first = 1) - count(*) FILTER (WHERE u.o = ANY (ended)), sum(octet_length(u.body))
    FROM unnest(p_task, p_first, p_body) WITH ORDINALITY AS u (id, first, body, o) JOIN lull.tasks t ON t.id = u.id
    WHERE u.o <> ALL (skip) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET tasks = x.tasks + excluded.tasks,
      open_tasks = x.open_tasks + excluded.open_tasks, bytes = x.bytes + excluded.bytes;
END $function$
;
CREATE OR REPLACE FUNCTION lull.commit_2(p_again boolean, p_epoch bigint[], p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[], r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created double precision[], r_state text[], r_status double precision[], r_held boolean[], r_waits text[], r_ready double precision[], r_due double precision[], r_owner text[], c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created double precision[], c_reply text[], w_of integer[], w_id text[], w_status text[], w_body text[], b_of integer[], b_id text[], b_period double precision[], b_amount bigint[], p_anchor text[])
 RETURNS TABLE(place integer, status text, version integer, detail text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  refused integer[] := '{}';
BEGIN
  FOR place, status, version, detail IN SELECT c.place, c.status, c.version, c.detail FROM lull.commit_1(
    p_again, p_epoch, p_task, p_first, p_last, p_body, p_snapshot, r_tenant, r_principal, r_agent, r_context,
    r_parent, r_created, r_state, r_status, r_held, r_waits, r_ready, r_due, r_owner, c_tenant, c_principal,
    c_agent, c_key, c_digest, c_created, c_reply, w_of, w_id, w_status, w_body) AS c
  LOOP
    refused := refused || place; RETURN NEXT;
  END LOOP;
  UPDATE lull.tasks t SET anchor = u.anchor
    FROM unnest(p_task, p_anchor) WITH ORDINALITY AS u (id, anchor, o)
    WHERE t.id = u.id AND u.anchor IS NOT NULL AND u.o <> ALL (refused);
  INSERT INTO lull.spending AS s (budget_id, period, amount)
    SELECT u.id, u.period, least(9007199254740991, sum(u.amount))
    FROM unnest(b_of, b_id, b_period, b_amount) AS u (o, id, period, amount)
    WHERE u.o <> ALL (refused)
      AND u.period = (SELECT max(v.period) FROM unnest(b_of, b_id, b_period) AS v (o, id, period)
        WHERE v.id = u.id AND v.o <> ALL (refused))
    GROUP BY 1, 2 ORDER BY 1
    ON CONFLICT (budget_id) DO UPDATE SET period = excluded.period,
      amount = least(9007199254740991, excluded.amount + CASE WHEN s.period = excluded.period THEN s.amount ELSE 0 END)
    WHERE s.period <= excluded.period;
END $function$
;
CREATE OR REPLACE FUNCTION lull.commit_3(p_again boolean, p_epoch bigint[], p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[], r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created double precision[], r_state text[], r_status double precision[], r_held boolean[], r_waits text[], r_ready double precision[], r_due double precision[], r_owner text[], c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created double precision[], c_reply text[], w_of integer[], w_id text[], w_status text[], w_body text[], b_of integer[], b_id text[], b_period double precision[], b_amount bigint[], p_anchor text[], p_event bigint[])
 RETURNS TABLE(place integer, status text, version integer, detail text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  unknown integer[];
BEGIN
  SELECT array_agg(o::integer) INTO unknown
  FROM unnest(p_event) WITH ORDINALITY AS u (pos, o) JOIN lull.counters c ON c.name = 'events' AND c.value < u.pos;
  IF unknown IS NOT NULL THEN
    SELECT array_agg(CASE WHEN o = ANY (unknown) THEN -1 ELSE p_epoch[o] END ORDER BY o) INTO p_epoch
    FROM generate_series(1, cardinality(p_task)) AS o;
  END IF;
  RETURN QUERY SELECT c.place, c.status, c.version, c.detail FROM lull.commit_2(
    p_again, p_epoch, p_task, p_first, p_last, p_body, p_snapshot, r_tenant, r_principal, r_agent, r_context,
    r_parent, r_created, r_state, r_status, r_held, r_waits, r_ready, r_due, r_owner, c_tenant, c_principal,
    c_agent, c_key, c_digest, c_created, c_reply, w_of, w_id, w_status, w_body,
    b_of, b_id, b_period, b_amount, p_anchor) AS c;
END $function$
;
CREATE OR REPLACE FUNCTION lull.count_event_1()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM lull.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), '',
    coalesce(octet_length(NEW.body), 0) - coalesce(octet_length(OLD.body), 0));
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION lull.count_message_1()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM lull.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), coalesce(NEW.principal, OLD.principal),
    coalesce(octet_length(NEW.message), 0) - coalesce(octet_length(OLD.message), 0));
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION lull.count_session_1()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM lull.add_bytes_1(coalesce(NEW.tenant, OLD.tenant), coalesce(NEW.principal, OLD.principal),
    coalesce(octet_length(NEW.body), 0) - coalesce(octet_length(OLD.body), 0));
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION lull.count_tasks_1()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO lull.task_moves SELECT tenant, principal, agent, state, count(*) FROM added GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO lull.task_moves SELECT tenant, principal, agent, state, -count(*) FROM gone GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO lull.task_moves
      SELECT tenant, principal, agent, state, sum(n) FROM (
        SELECT tenant, principal, agent, state, 1 AS n FROM added
        UNION ALL SELECT tenant, principal, agent, state, -1 FROM gone) AS both_tables
      GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0;
  END IF;
  IF random() < 0.02 THEN PERFORM lull.fold_task_moves_1(); END IF;
  RETURN NULL;
END $function$
;
CREATE OR REPLACE FUNCTION lull.fold_task_moves_1()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  m_tenant text[];
  m_principal text[];
  m_agent text[];
  m_state text[];
  m_tasks bigint[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('lull task counts of lull', 0)) THEN RETURN; END IF;
  WITH gone AS (DELETE FROM lull.task_moves RETURNING *)
  SELECT array_agg(tenant), array_agg(principal), array_agg(agent), array_agg(state), array_agg(tasks)
  INTO m_tenant, m_principal, m_agent, m_state, m_tasks
  FROM (SELECT tenant, principal, agent, state, sum(tasks) AS tasks FROM gone GROUP BY 1, 2, 3, 4) AS moved
  WHERE tasks <> 0;
  INSERT INTO lull.tenant_tasks AS c (tenant, agent, state, tasks)
    SELECT tenant, agent, state, sum(tasks)
    FROM unnest(m_tenant, m_agent, m_state, m_tasks) AS u (tenant, agent, state, tasks) GROUP BY 1, 2, 3
    ON CONFLICT (tenant, agent, state) DO UPDATE SET tasks = c.tasks + excluded.tasks;
  INSERT INTO lull.principal_tasks AS c (tenant, principal, agent, state, tasks)
    SELECT * FROM unnest(m_tenant, m_principal, m_agent, m_state, m_tasks)
    ON CONFLICT (tenant, principal, agent, state) DO UPDATE SET tasks = c.tasks + excluded.tasks;
  DELETE FROM lull.principal_tasks c
    USING unnest(m_tenant, m_principal, m_agent, m_state) AS u (tenant, principal, agent, state)
    WHERE (c.tenant, c.principal, c.agent, c.state) = (u.tenant, u.principal, u.agent, u.state) AND c.tasks = 0;
END $function$
;
CREATE OR REPLACE FUNCTION lull.holds_lock_1()
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT hashtextextended('lull holds of lull', 0)
$function$
;
CREATE OR REPLACE FUNCTION lull.is_open_1(p_tenant text, p_principal text, p_context text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT EXISTS (
    SELECT FROM lull.tasks WHERE context_id = p_context AND tenant = p_tenant AND principal = p_principal
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
$function$
;
CREATE OR REPLACE FUNCTION lull.put_hold_1(p_id text, p_created double precision, p_lifted double precision, p_body text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(lull.holds_lock_1());
  INSERT INTO lull.holds (id, created_at, lifted_at, body) VALUES (p_id, p_created, p_lifted, p_body)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body;
  UPDATE lull.counters SET value = value + 1 WHERE name = 'holds';
END $function$
;
CREATE OR REPLACE FUNCTION lull.remove_tasks_1(p_id text[], p_body text[], p_at double precision)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  gone text[];
BEGIN
  SELECT coalesce(array_agg(id ORDER BY id), '{}') INTO gone FROM (
    SELECT id FROM lull.tasks WHERE id = ANY (p_id)
      AND state IN ('completed', 'failed', 'canceled', 'rejected')
      AND NOT lull.is_open_1(tenant, principal, context_id)
      AND NOT EXISTS (SELECT FROM lull.pushes p WHERE p.task_id = tasks.id AND p.status <> 'done')
    ORDER BY id FOR UPDATE) AS unneeded;
  WITH ended AS MATERIALIZED (
    SELECT t.tenant, old.name, t.id FROM lull.tasks t CROSS JOIN unnest(t.waits) AS old (name) WHERE t.id = ANY (gone))
  DELETE FROM lull.waits w USING ended WHERE (w.tenant, w.name, w.task_id) = (ended.tenant, ended.name, ended.id);
  INSERT INTO lull.usage AS x (tenant, principal, slice, tasks, open_tasks, bytes)
    SELECT t.tenant, t.principal, lull.usage_slice_1(), -count(DISTINCT t.id), 0, -sum(octet_length(r.body))
    FROM lull.tasks t JOIN lull.records r ON r.task_id = t.id WHERE t.id = ANY (gone) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (tenant, principal, slice) DO UPDATE SET tasks = x.tasks + excluded.tasks, bytes = x.bytes + excluded.bytes;
  DELETE FROM lull.records WHERE task_id = ANY (gone);
  DELETE FROM lull.tasks WHERE id = ANY (gone);
  DELETE FROM lull.agenda WHERE task_id = ANY (gone);
  DELETE FROM lull.snapshots WHERE task_id = ANY (gone);
  DELETE FROM lull.pushes WHERE task_id = ANY (gone);
  INSERT INTO lull.removed_tasks (id, removed_at, body)
    SELECT id, p_at, body FROM unnest(p_id, p_body) AS u (id, body) WHERE id = ANY (gone) ORDER BY id
    ON CONFLICT (id) DO UPDATE SET removed_at = excluded.removed_at, body = excluded.body;
  RETURN cardinality(gone);
END $function$
;
CREATE OR REPLACE FUNCTION lull.reply_1(p_again boolean, c_tenant text, c_principal text, c_agent text, c_key text, c_task text, c_digest text, c_created double precision, c_reply text, m_tenant text[], m_principal text[], m_context text[], m_at double precision[], m_message text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  answered integer;
BEGIN
  IF c_key IS NOT NULL THEN
    INSERT INTO lull.claims AS c (tenant, principal, agent, key, task_id, digest, created_at, reply)
      VALUES (c_tenant, c_principal, c_agent, c_key, c_task, c_digest, c_created, c_reply)
      ON CONFLICT (tenant, principal, agent, key) DO UPDATE SET reply = excluded.reply
      WHERE c.task_id = excluded.task_id AND c.reply IS NULL;
    GET DIAGNOSTICS answered = ROW_COUNT;
    IF answered = 0 THEN RETURN; END IF;
  END IF;
  PERFORM pg_advisory_xact_lock(hash) FROM (
    SELECT DISTINCT hashtextextended(concat_ws(E'\n', tenant, principal, context), 0) AS hash
    FROM unnest(m_tenant, m_principal, m_context) AS u (tenant, principal, context) ORDER BY 1) AS contexts;
  INSERT INTO lull.context_messages (tenant, principal, context_id, at, message)
    SELECT tenant, principal, context_id, at, message
    FROM unnest(m_tenant, m_principal, m_context, m_at, m_message) WITH ORDINALITY
      AS u (tenant, principal, context_id, at, message, o)
    WHERE NOT p_again OR NOT EXISTS (
      SELECT FROM lull.context_messages m
      WHERE (m.tenant, m.principal, m.context_id, m.at, m.message) = (u.tenant, u.principal, u.context_id, u.at, u.message))
    ORDER BY o;
END $function$
;
CREATE OR REPLACE FUNCTION lull.usage_slice_1()
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$ SELECT pg_backend_pid() % 256 $function$
;

CREATE TRIGGER counted AFTER INSERT OR DELETE ON lull.context_messages FOR EACH ROW EXECUTE FUNCTION lull.count_message_1();
CREATE TRIGGER counted AFTER INSERT OR DELETE ON lull.events FOR EACH ROW EXECUTE FUNCTION lull.count_event_1();
CREATE TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON lull.sessions FOR EACH ROW EXECUTE FUNCTION lull.count_session_1();
CREATE TRIGGER count_added AFTER INSERT ON lull.tasks REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION lull.count_tasks_1();
CREATE TRIGGER count_changed AFTER UPDATE ON lull.tasks REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION lull.count_tasks_1();
CREATE TRIGGER count_removed AFTER DELETE ON lull.tasks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION lull.count_tasks_1();
