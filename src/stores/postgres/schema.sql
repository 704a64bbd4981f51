CREATE TABLE lull.agenda (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ready_at double precision,
  due_at double precision,
  owner text COLLATE "C",
  hidden_until timestamp with time zone
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE TABLE lull.audit (
  tenant text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  id text COLLATE "C" NOT NULL,
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
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
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
CREATE TABLE lull.event_positions (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL
) WITH (fillfactor=10);
CREATE TABLE lull.events (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
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
CREATE TABLE lull.pushes (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  body text NOT NULL
) WITH (fillfactor=80);
CREATE TABLE lull.records (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  body text NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor=0.05);
CREATE TABLE lull.removed_tasks (
  tenant text COLLATE "C" NOT NULL,
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
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  body text NOT NULL
) WITH (fillfactor=80);
CREATE TABLE lull.spending (
  tenant text COLLATE "C" NOT NULL,
  budget_id text COLLATE "C" NOT NULL,
  period double precision NOT NULL,
  amount bigint NOT NULL
);
CREATE TABLE lull.tasks (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
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
CREATE TABLE lull.undispatched_events (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  hidden_until timestamp with time zone NOT NULL
);
CREATE TABLE lull.usage (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  slice integer NOT NULL,
  bytes bigint NOT NULL,
  submitted bigint NOT NULL,
  working bigint NOT NULL,
  input_required bigint NOT NULL,
  auth_required bigint NOT NULL,
  user_consent_required bigint NOT NULL,
  paused_by_client bigint NOT NULL,
  paused_by_agent bigint NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  canceled bigint NOT NULL,
  rejected bigint NOT NULL
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

ALTER TABLE lull.agenda ADD CONSTRAINT agenda_pkey PRIMARY KEY (tenant, task_id);
ALTER TABLE lull.audit ADD CONSTRAINT audit_pkey PRIMARY KEY (tenant, at, id);
ALTER TABLE lull.claims ADD CONSTRAINT claims_pkey PRIMARY KEY (tenant, principal, agent, key);
ALTER TABLE lull.context_messages ADD CONSTRAINT context_messages_pkey PRIMARY KEY (tenant, principal, context_id, pos);
ALTER TABLE lull.counters ADD CONSTRAINT counters_pkey PRIMARY KEY (name);
ALTER TABLE lull.duties ADD CONSTRAINT duties_pkey PRIMARY KEY (name);
ALTER TABLE lull.event_positions ADD CONSTRAINT event_positions_pkey PRIMARY KEY (tenant);
ALTER TABLE lull.events ADD CONSTRAINT events_pkey PRIMARY KEY (tenant, pos);
ALTER TABLE lull.events ADD CONSTRAINT events_tenant_source_event_id_key UNIQUE (tenant, source, event_id);
ALTER TABLE lull.holds ADD CONSTRAINT holds_id_key UNIQUE (id);
ALTER TABLE lull.holds ADD CONSTRAINT holds_pkey PRIMARY KEY (pos);
ALTER TABLE lull.key_values ADD CONSTRAINT key_values_pkey PRIMARY KEY (name);
ALTER TABLE lull.policies ADD CONSTRAINT policies_pkey PRIMARY KEY (id);
ALTER TABLE lull.pushes ADD CONSTRAINT pushes_pkey PRIMARY KEY (tenant, task_id, id);
ALTER TABLE lull.records ADD CONSTRAINT records_pkey PRIMARY KEY (tenant, task_id, first);
ALTER TABLE lull.removed_tasks ADD CONSTRAINT removed_tasks_pkey PRIMARY KEY (tenant, id);
ALTER TABLE lull.sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (tenant, principal, id);
ALTER TABLE lull.snapshots ADD CONSTRAINT snapshots_pkey PRIMARY KEY (tenant, task_id);
ALTER TABLE lull.spending ADD CONSTRAINT spending_pkey PRIMARY KEY (tenant, budget_id);
ALTER TABLE lull.tasks ADD CONSTRAINT tasks_pkey PRIMARY KEY (tenant, id);
ALTER TABLE lull.undispatched_events ADD CONSTRAINT undispatched_events_pkey PRIMARY KEY (tenant, pos);
ALTER TABLE lull.usage ADD CONSTRAINT usage_pkey PRIMARY KEY (tenant, principal, agent, slice);
ALTER TABLE lull.waits ADD CONSTRAINT waits_pkey PRIMARY KEY (tenant, name, task_id);
ALTER TABLE lull.workers ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX agenda_due ON lull.agenda USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX agenda_owned ON lull.agenda USING btree (owner) WHERE (owner IS NOT NULL);
CREATE INDEX agenda_ready ON lull.agenda USING btree (agent, tenant, ready_at, task_id) WHERE (ready_at IS NOT NULL);
CREATE INDEX audit_by_principal ON lull.audit USING btree (tenant, principal, at, id) WHERE (principal IS NOT NULL);
CREATE INDEX audit_by_task ON lull.audit USING btree (tenant, task_id, at, id) WHERE (task_id IS NOT NULL);
CREATE INDEX claims_by_age ON lull.claims USING brin (created_at);
CREATE INDEX events_by_age ON lull.events USING brin (received_at);
CREATE INDEX events_by_name ON lull.events USING btree (tenant, name, pos) WHERE (name IS NOT NULL);
CREATE INDEX events_by_type ON lull.events USING btree (tenant, type, pos);
CREATE INDEX pushes_by_status ON lull.pushes USING btree (status, tenant, task_id, id) WHERE (status <> 'done'::text);
CREATE INDEX removed_tasks_by_age ON lull.removed_tasks USING brin (removed_at);
CREATE INDEX sessions_by_update ON lull.sessions USING btree (tenant, principal, updated_at, id) WHERE (NOT deleted);
CREATE INDEX tasks_by_context ON lull.tasks USING btree (tenant, context_id, id) WHERE (id <> ((substr(context_id, 1, 14) || '7'::text) || substr(context_id, 16)));
CREATE INDEX tasks_by_parent ON lull.tasks USING btree (tenant, parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX tasks_by_principal ON lull.tasks USING btree (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON lull.tasks USING btree (tenant, state, status_at, id);
CREATE INDEX tasks_held ON lull.tasks USING btree (tenant, status_at, id) WHERE held;

CREATE OR REPLACE FUNCTION lull.append_events_1(p_tenant text, p_at double precision[], p_again boolean, p_reserved_ms integer, p_source text[], p_id text[], p_type text[], p_name text[], p_body text[])
 RETURNS TABLE(pos bigint, fresh boolean)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  base bigint;
  hidden timestamptz := lull.clock_1() + p_reserved_ms * interval '1 ms';
BEGIN
  SELECT p.pos INTO base FROM lull.event_positions p WHERE p.tenant = p_tenant FOR UPDATE;
  IF base IS NULL THEN
    INSERT INTO lull.event_positions (tenant, pos) VALUES (p_tenant, 0) ON CONFLICT (tenant) DO NOTHING;
    SELECT p.pos INTO base FROM lull.event_positions p WHERE p.tenant = p_tenant FOR UPDATE;
  END IF;
  RETURN QUERY
  WITH given AS (
    SELECT *, row_number() OVER (PARTITION BY source, event_id ORDER BY o) AS k
    FROM unnest(p_at, p_source, p_id, p_type, p_name, p_body) WITH ORDINALITY
      AS u (received_at, source, event_id, type, name, body, o)),
  old AS (
    SELECT g.source, g.event_id, e.pos, p_again AND e.received_at = g.received_at AND e.body = g.body AS ours
    FROM given g JOIN lull.events e ON (e.tenant, e.source, e.event_id) = (p_tenant, g.source, g.event_id)
    WHERE g.k = 1),
  new AS (
    SELECT g.*, base + row_number() OVER (ORDER BY o) AS pos FROM given g
    WHERE k = 1 AND NOT EXISTS (SELECT FROM old WHERE (old.source, old.event_id) = (g.source, g.event_id))),
  inserted AS (
    INSERT INTO lull.events (tenant, pos, source, event_id, type, name, received_at, body)
    SELECT p_tenant, pos, source, event_id, type, name, received_at, body FROM new),
  undispatched AS (
    INSERT INTO lull.undispatched_events (tenant, pos, hidden_until) SELECT p_tenant, pos, hidden FROM new),
  moved AS (
    UPDATE lull.event_positions p SET pos = base + (SELECT count(*) FROM new)
    WHERE p.tenant = p_tenant AND EXISTS (SELECT FROM new)),
  counted AS MATERIALIZED (
    SELECT lull.count_1(ARRAY[p_tenant], ARRAY[''], ARRAY[''], ARRAY[sum(octet_length(body))::bigint], ARRAY[NULL], ARRAY[NULL])
    FROM new HAVING count(*) > 0)
  SELECT coalesce(new.pos, old.pos), g.k = 1 AND coalesce(old.ours, true)
  FROM given g LEFT JOIN new USING (source, event_id) LEFT JOIN old USING (source, event_id)
    LEFT JOIN (SELECT count(*) AS n FROM counted) AS c ON true
  WHERE c.n >= 0 ORDER BY g.o;
END $function$
;
CREATE OR REPLACE FUNCTION lull.beat_1(p_id text, p_lease_ms double precision, p_note text)
 RETURNS TABLE(now double precision, hold_epoch bigint)
 LANGUAGE plpgsql
AS $function$
DECLARE
  until timestamptz;
  at timestamptz;
BEGIN
  SELECT lease_until INTO until FROM lull.workers WHERE id = p_id FOR UPDATE;
  at := lull.clock_1();
  IF until IS NULL OR until <= at THEN RETURN; END IF;
  UPDATE lull.workers SET lease_until = at + p_lease_ms * interval '1 ms', note = p_note WHERE id = p_id;
  RETURN QUERY SELECT extract(epoch FROM lull.clock_1())::float8 * 1000, value FROM lull.counters WHERE name = 'holds';
END $function$
;
CREATE OR REPLACE FUNCTION lull.clock_1()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ SELECT clock_timestamp() $function$
;
CREATE OR REPLACE FUNCTION lull.commit_1(p_tenant text[], p_again boolean, p_task text[], p_first integer[], p_last integer[], p_body text[], p_epoch bigint[], p_event bigint[], p_snapshot text[], p_anchor text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created double precision[], r_state text[], r_status double precision[], r_held boolean[], r_waits text[], r_ready double precision[], r_due double precision[], r_owner text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created double precision[], c_reply text[], w_of integer[], w_id text[], w_status text[], w_body text[], b_of integer[], b_id text[], b_period double precision[], b_amount bigint[])
 RETURNS TABLE(place integer, status text, version integer, detail text)
 LANGUAGE plpgsql
AS $function$
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
    PERFORM pg_advisory_xact_lock_shared(lull.holds_lock_1(''));
    PERFORM pg_advisory_xact_lock_shared(hash) FROM (
      SELECT DISTINCT lull.holds_lock_1(u.tenant) AS hash
      FROM unnest(p_tenant, p_epoch) AS u (tenant, epoch) WHERE u.epoch IS NOT NULL ORDER BY 1) AS locks;
    SELECT coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_epoch) WITH ORDINALITY AS u (epoch, o) JOIN lull.counters c ON c.name = 'holds' AND c.value <> u.epoch;
  END IF;

  -- An event at a position that the tenant has not reached was lost when another server took over. Its position is given again.
  IF cardinality(p_event) > 0 THEN
    SELECT stale || coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_tenant, p_event) WITH ORDINALITY AS u (tenant, event, o)
    WHERE u.event > coalesce((SELECT e.pos FROM lull.event_positions e WHERE e.tenant = u.tenant), 0);
  END IF;

  IF cardinality(c_key) > 0 THEN
    WITH given AS (
      SELECT u.tenant AS tenant, u.principal, u.agent, u.key, u.task_id, u.digest, u.created_at, u.reply, u.o
      FROM unnest(p_tenant, c_principal, c_agent, c_key, p_task, c_digest, c_created, c_reply) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, digest, created_at, reply, o) WHERE u.key IS NOT NULL),
    taken AS (
      INSERT INTO lull.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
      SELECT tenant, principal, agent, key, task_id, digest, created_at, reply FROM given
      ORDER BY tenant, principal, agent, key
      ON CONFLICT DO NOTHING RETURNING tenant, principal, agent, key)
    SELECT coalesce(array_agg(o::integer), '{}') INTO new_claims FROM given JOIN taken USING (tenant, principal, agent, key);
    -- A key that was claimed for the task that is created is not in the way, nor is one of our own earlier attempt.
    FOR place, detail IN
      SELECT u.o::integer, row_to_json(c)::text
      FROM unnest(p_tenant, c_principal, c_agent, c_key, p_task, p_first, p_body) WITH ORDINALITY
        AS u (tenant, principal, agent, key, task_id, first, body, o)
      JOIN lull.claims c ON c.tenant = u.tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key)
      WHERE u.o <> ALL (new_claims) AND (c.task_id <> u.task_id OR u.first > 1)
        AND NOT (p_again AND EXISTS (
          SELECT FROM lull.records r
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
    INSERT INTO lull.records (tenant, task_id, first, last, body)
    SELECT tenant, task_id, first, last, body FROM given
    WHERE o <> ALL (stale) AND (first = 1 OR first - 1 = (
      SELECT r.last FROM lull.records r
      WHERE r.tenant = given.tenant AND r.task_id = given.task_id AND r.first < given.first ORDER BY r.first DESC LIMIT 1))
    ORDER BY tenant, task_id
    ON CONFLICT DO NOTHING RETURNING tenant, task_id)
  SELECT coalesce(array_agg(o::integer), '{}') INTO lost FROM given
  WHERE NOT EXISTS (SELECT FROM written WHERE (written.tenant, written.task_id) = (given.tenant, given.task_id));

  IF cardinality(lost) > 0 THEN
    RETURN QUERY SELECT u.o::integer, CASE WHEN u.o = ANY (stale) AND v.last = u.first - 1 THEN 'outdated' ELSE 'conflict' END,
      v.last, (SELECT r.body FROM lull.records r WHERE r.tenant = u.tenant AND r.task_id = u.task_id AND r.first = u.first)
      FROM unnest(p_tenant, p_task, p_first) WITH ORDINALITY AS u (tenant, task_id, first, o)
      CROSS JOIN LATERAL (SELECT coalesce((
        SELECT r.last FROM lull.records r
        WHERE r.tenant = u.tenant AND r.task_id = u.task_id ORDER BY r.first DESC LIMIT 1), 0) AS last) v
      WHERE u.o = ANY (lost);
    DELETE FROM lull.claims c USING unnest(p_tenant, c_principal, c_agent, c_key) WITH ORDINALITY
        AS u (tenant, principal, agent, key, o)
      WHERE u.o = ANY (lost) AND u.o = ANY (new_claims)
        AND c.tenant = u.tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key);
    skip := skip || lost;
    IF cardinality(skip) = cardinality(p_task) THEN RETURN; END IF;
  END IF;

  SELECT array_agg(t.principal ORDER BY u.o), array_agg(t.agent ORDER BY u.o), array_agg(t.state ORDER BY u.o)
  INTO k_principal, k_agent, k_state
  FROM unnest(p_tenant, p_task, p_first) WITH ORDINALITY AS u (tenant, task_id, first, o)
  LEFT JOIN lull.tasks t ON t.tenant = u.tenant AND t.id = u.task_id AND u.first > 1;

  IF cardinality(r_state) > 0 THEN
    -- MATERIALIZED keeps the planner from looking for rows by task id alone, which scans all waits of the tenant.
    WITH gone AS MATERIALIZED (
      SELECT u.tenant AS tenant, old.name, u.task_id
      FROM unnest(p_tenant, p_task, p_first, r_waits) WITH ORDINALITY AS u (tenant, task_id, first, waits, o)
      JOIN lull.tasks t ON t.tenant = u.tenant AND t.id = u.task_id CROSS JOIN unnest(t.waits) AS old (name)
      WHERE u.waits IS NOT NULL AND u.first > 1 AND u.o <> ALL (skip) AND old.name <> ALL (u.waits::text[]))
    DELETE FROM lull.waits w USING gone WHERE (w.tenant, w.name, w.task_id) = (gone.tenant, gone.name, gone.task_id);
    INSERT INTO lull.waits (tenant, name, task_id)
      SELECT u.tenant, name, u.task_id
      FROM unnest(p_tenant, p_task, r_waits) WITH ORDINALITY AS u (tenant, task_id, waits, o)
      CROSS JOIN unnest(u.waits::text[]) AS name
      WHERE u.waits <> '{}' AND u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING;
    INSERT INTO lull.tasks (tenant, id, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor)
      SELECT u.tenant, u.task_id, u.principal, u.agent, u.context_id, u.parent_id, u.created_at, u.state, u.status_at, u.held,
        u.waits::text[], u.anchor
      FROM unnest(p_tenant, p_task, p_first, r_principal, r_agent, r_context, r_parent, r_created, r_state, r_status, r_held,
        r_waits, p_anchor) WITH ORDINALITY
        AS u (tenant, task_id, first, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor, o)
      WHERE u.first = 1 AND u.o <> ALL (skip) ORDER BY 1, 2;
    UPDATE lull.tasks t SET state = u.state, status_at = u.status_at, held = u.held, waits = u.waits::text[],
        anchor = coalesce(u.anchor, t.anchor)
      FROM unnest(p_tenant, p_task, p_first, r_state, r_status, r_held, r_waits, p_anchor) WITH ORDINALITY
        AS u (tenant, task_id, first, state, status_at, held, waits, anchor, o)
      WHERE t.tenant = u.tenant AND t.id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip);
    -- An ended task has a row here only if it has something to do.
    DELETE FROM lull.agenda a
      USING unnest(p_tenant, p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (tenant, task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = u.tenant AND a.task_id = u.task_id AND u.first > 1 AND u.o <> ALL (skip)
        AND u.state IN ('completed', 'failed', 'canceled', 'rejected') AND coalesce(u.ready_at, u.due_at) IS NULL AND u.owner IS NULL;
    UPDATE lull.agenda a SET ready_at = u.ready_at, due_at = u.due_at, owner = u.owner, hidden_until = NULL
      FROM unnest(p_tenant, p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (tenant, task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = u.tenant AND a.task_id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip)
        AND (a.hidden_until IS NOT NULL OR (a.ready_at, a.due_at, a.owner) IS DISTINCT FROM (u.ready_at, u.due_at, u.owner));
    INSERT INTO lull.agenda (tenant, task_id, agent, ready_at, due_at, owner)
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
    UPDATE lull.tasks t SET anchor = u.anchor
      FROM unnest(p_tenant, p_task, p_anchor, r_state) WITH ORDINALITY AS u (tenant, task_id, anchor, state, o)
      WHERE t.tenant = u.tenant AND t.id = u.task_id AND u.anchor IS NOT NULL AND u.state IS NULL AND u.o <> ALL (skip);
  END IF;

  IF cardinality(p_snapshot) > 0 THEN
    INSERT INTO lull.snapshots (tenant, task_id, seq, body)
      SELECT u.tenant, u.task_id, u.seq, u.body
      FROM unnest(p_tenant, p_task, p_last, p_snapshot) WITH ORDINALITY AS u (tenant, task_id, seq, body, o)
      WHERE u.body IS NOT NULL AND u.o <> ALL (skip) ORDER BY 1, 2
      ON CONFLICT (tenant, task_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  END IF;

  IF cardinality(w_of) > 0 THEN
    INSERT INTO lull.pushes (tenant, task_id, id, status, body)
      SELECT u.tenant, u.task_id, w.id, w.status, w.body
      FROM unnest(p_tenant, p_task) WITH ORDINALITY AS u (tenant, task_id, o)
      JOIN unnest(w_of, w_id, w_status, w_body) AS w (o, id, status, body) ON w.o = u.o
      WHERE u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT (tenant, task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body;
  END IF;

  PERFORM lull.count_1(array_agg(u.tenant), array_agg(coalesce(u.principal, u.new_principal)),
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
    INSERT INTO lull.spending AS s (tenant, budget_id, period, amount)
      SELECT tenant, id, period, least(9007199254740991, sum(amount)) FROM given
      WHERE period = (SELECT max(g.period) FROM given g WHERE (g.tenant, g.id) = (given.tenant, given.id))
      GROUP BY 1, 2, 3 ORDER BY 1, 2
      ON CONFLICT (tenant, budget_id) DO UPDATE SET period = excluded.period,
        amount = least(9007199254740991, excluded.amount + CASE WHEN s.period = excluded.period THEN s.amount ELSE 0 END)
      WHERE s.period <= excluded.period;
  END IF;
END $function$
;
CREATE OR REPLACE FUNCTION lull.commit_of_tenant_1(p_tenant text, p_again boolean, p_task text[], p_first integer[], p_last integer[], p_body text[], p_epoch bigint[], p_event bigint[], p_snapshot text[], p_anchor text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created double precision[], r_state text[], r_status double precision[], r_held boolean[], r_waits text[], r_ready double precision[], r_due double precision[], r_owner text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created double precision[], c_reply text[], w_of integer[], w_id text[], w_status text[], w_body text[], b_of integer[], b_id text[], b_period double precision[], b_amount bigint[])
 RETURNS TABLE(place integer, status text, version integer, detail text)
 LANGUAGE plpgsql
AS $function$
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
    PERFORM pg_advisory_xact_lock_shared(lull.holds_lock_1(''));
    PERFORM pg_advisory_xact_lock_shared(hash) FROM (
      SELECT DISTINCT lull.holds_lock_1(p_tenant) AS hash
      FROM unnest(p_epoch) AS u (epoch) WHERE u.epoch IS NOT NULL ORDER BY 1) AS locks;
    SELECT coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_epoch) WITH ORDINALITY AS u (epoch, o) JOIN lull.counters c ON c.name = 'holds' AND c.value <> u.epoch;
  END IF;

  -- An event at a position that the tenant has not reached was lost when another server took over. Its position is given again.
  IF cardinality(p_event) > 0 THEN
    SELECT stale || coalesce(array_agg(u.o::integer), '{}') INTO stale
    FROM unnest(p_event) WITH ORDINALITY AS u (event, o)
    WHERE u.event > coalesce((SELECT e.pos FROM lull.event_positions e WHERE e.tenant = p_tenant), 0);
  END IF;

  IF cardinality(c_key) > 0 THEN
    WITH given AS (
      SELECT p_tenant AS tenant, u.principal, u.agent, u.key, u.task_id, u.digest, u.created_at, u.reply, u.o
      FROM unnest(c_principal, c_agent, c_key, p_task, c_digest, c_created, c_reply) WITH ORDINALITY
        AS u (principal, agent, key, task_id, digest, created_at, reply, o) WHERE u.key IS NOT NULL),
    taken AS (
      INSERT INTO lull.claims (tenant, principal, agent, key, task_id, digest, created_at, reply)
      SELECT tenant, principal, agent, key, task_id, digest, created_at, reply FROM given
      ORDER BY tenant, principal, agent, key
      ON CONFLICT DO NOTHING RETURNING tenant, principal, agent, key)
    SELECT coalesce(array_agg(o::integer), '{}') INTO new_claims FROM given JOIN taken USING (tenant, principal, agent, key);
    -- A key that was claimed for the task that is created is not in the way, nor is one of our own earlier attempt.
    FOR place, detail IN
      SELECT u.o::integer, row_to_json(c)::text
      FROM unnest(c_principal, c_agent, c_key, p_task, p_first, p_body) WITH ORDINALITY
        AS u (principal, agent, key, task_id, first, body, o)
      JOIN lull.claims c ON c.tenant = p_tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key)
      WHERE u.o <> ALL (new_claims) AND (c.task_id <> u.task_id OR u.first > 1)
        AND NOT (p_again AND EXISTS (
          SELECT FROM lull.records r
          WHERE r.tenant = p_tenant AND r.task_id = u.task_id AND r.first = u.first AND r.body = u.body))
    LOOP
      skip := skip || place; status := 'claimed'; version := 0; RETURN NEXT;
    END LOOP;
  END IF;

  -- The row before must end at `first - 1`. This refuses gaps, for example after a failover that lost commits.
  WITH given AS (
    SELECT p_tenant AS tenant, u.task_id, u.first, u.last, u.body, u.o
    FROM unnest(p_task, p_first, p_last, p_body) WITH ORDINALITY AS u (task_id, first, last, body, o)
    WHERE u.o <> ALL (skip)),
  written AS (
    INSERT INTO lull.records (tenant, task_id, first, last, body)
    SELECT tenant, task_id, first, last, body FROM given
    WHERE o <> ALL (stale) AND (first = 1 OR first - 1 = (
      SELECT r.last FROM lull.records r
      WHERE r.tenant = given.tenant AND r.task_id = given.task_id AND r.first < given.first ORDER BY r.first DESC LIMIT 1))
    ORDER BY tenant, task_id
    ON CONFLICT DO NOTHING RETURNING tenant, task_id)
  SELECT coalesce(array_agg(o::integer), '{}') INTO lost FROM given
  WHERE NOT EXISTS (SELECT FROM written WHERE (written.tenant, written.task_id) = (given.tenant, given.task_id));

  IF cardinality(lost) > 0 THEN
    RETURN QUERY SELECT u.o::integer, CASE WHEN u.o = ANY (stale) AND v.last = u.first - 1 THEN 'outdated' ELSE 'conflict' END,
      v.last, (SELECT r.body FROM lull.records r WHERE r.tenant = p_tenant AND r.task_id = u.task_id AND r.first = u.first)
      FROM unnest(p_task, p_first) WITH ORDINALITY AS u (task_id, first, o)
      CROSS JOIN LATERAL (SELECT coalesce((
        SELECT r.last FROM lull.records r
        WHERE r.tenant = p_tenant AND r.task_id = u.task_id ORDER BY r.first DESC LIMIT 1), 0) AS last) v
      WHERE u.o = ANY (lost);
    DELETE FROM lull.claims c USING unnest(c_principal, c_agent, c_key) WITH ORDINALITY
        AS u (principal, agent, key, o)
      WHERE u.o = ANY (lost) AND u.o = ANY (new_claims)
        AND c.tenant = p_tenant AND (c.principal, c.agent, c.key) = (u.principal, u.agent, u.key);
    skip := skip || lost;
    IF cardinality(skip) = cardinality(p_task) THEN RETURN; END IF;
  END IF;

  SELECT array_agg(t.principal ORDER BY u.o), array_agg(t.agent ORDER BY u.o), array_agg(t.state ORDER BY u.o)
  INTO k_principal, k_agent, k_state
  FROM unnest(p_task, p_first) WITH ORDINALITY AS u (task_id, first, o)
  LEFT JOIN lull.tasks t ON t.tenant = p_tenant AND t.id = u.task_id AND u.first > 1;

  IF cardinality(r_state) > 0 THEN
    -- MATERIALIZED keeps the planner from looking for rows by task id alone, which scans all waits of the tenant.
    WITH gone AS MATERIALIZED (
      SELECT p_tenant AS tenant, old.name, u.task_id
      FROM unnest(p_task, p_first, r_waits) WITH ORDINALITY AS u (task_id, first, waits, o)
      JOIN lull.tasks t ON t.tenant = p_tenant AND t.id = u.task_id CROSS JOIN unnest(t.waits) AS old (name)
      WHERE u.waits IS NOT NULL AND u.first > 1 AND u.o <> ALL (skip) AND old.name <> ALL (u.waits::text[]))
    DELETE FROM lull.waits w USING gone WHERE (w.tenant, w.name, w.task_id) = (gone.tenant, gone.name, gone.task_id);
    INSERT INTO lull.waits (tenant, name, task_id)
      SELECT p_tenant, name, u.task_id
      FROM unnest(p_task, r_waits) WITH ORDINALITY AS u (task_id, waits, o)
      CROSS JOIN unnest(u.waits::text[]) AS name
      WHERE u.waits <> '{}' AND u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT DO NOTHING;
    INSERT INTO lull.tasks (tenant, id, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor)
      SELECT p_tenant, u.task_id, u.principal, u.agent, u.context_id, u.parent_id, u.created_at, u.state, u.status_at, u.held,
        u.waits::text[], u.anchor
      FROM unnest(p_task, p_first, r_principal, r_agent, r_context, r_parent, r_created, r_state, r_status, r_held,
        r_waits, p_anchor) WITH ORDINALITY
        AS u (task_id, first, principal, agent, context_id, parent_id, created_at, state, status_at, held, waits, anchor, o)
      WHERE u.first = 1 AND u.o <> ALL (skip) ORDER BY 1, 2;
    UPDATE lull.tasks t SET state = u.state, status_at = u.status_at, held = u.held, waits = u.waits::text[],
        anchor = coalesce(u.anchor, t.anchor)
      FROM unnest(p_task, p_first, r_state, r_status, r_held, r_waits, p_anchor) WITH ORDINALITY
        AS u (task_id, first, state, status_at, held, waits, anchor, o)
      WHERE t.tenant = p_tenant AND t.id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip);
    -- An ended task has a row here only if it has something to do.
    DELETE FROM lull.agenda a
      USING unnest(p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = p_tenant AND a.task_id = u.task_id AND u.first > 1 AND u.o <> ALL (skip)
        AND u.state IN ('completed', 'failed', 'canceled', 'rejected') AND coalesce(u.ready_at, u.due_at) IS NULL AND u.owner IS NULL;
    UPDATE lull.agenda a SET ready_at = u.ready_at, due_at = u.due_at, owner = u.owner, hidden_until = NULL
      FROM unnest(p_task, p_first, r_state, r_ready, r_due, r_owner) WITH ORDINALITY
        AS u (task_id, first, state, ready_at, due_at, owner, o)
      WHERE a.tenant = p_tenant AND a.task_id = u.task_id AND u.first > 1 AND u.state IS NOT NULL AND u.o <> ALL (skip)
        AND (a.hidden_until IS NOT NULL OR (a.ready_at, a.due_at, a.owner) IS DISTINCT FROM (u.ready_at, u.due_at, u.owner));
    INSERT INTO lull.agenda (tenant, task_id, agent, ready_at, due_at, owner)
      SELECT p_tenant, u.task_id, u.agent, u.ready_at, u.due_at, u.owner
      FROM unnest(p_task, p_first, r_agent, r_state, r_ready, r_due, r_owner, k_state) WITH ORDINALITY
        AS u (task_id, first, agent, state, ready_at, due_at, owner, old, o)
      WHERE u.o <> ALL (skip) AND (u.state NOT IN ('completed', 'failed', 'canceled', 'rejected')
          OR coalesce(u.ready_at, u.due_at) IS NOT NULL OR u.owner IS NOT NULL)
        AND (u.first = 1 OR u.old IN ('completed', 'failed', 'canceled', 'rejected'))
      ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(p_anchor) > 0 THEN
    UPDATE lull.tasks t SET anchor = u.anchor
      FROM unnest(p_task, p_anchor, r_state) WITH ORDINALITY AS u (task_id, anchor, state, o)
      WHERE t.tenant = p_tenant AND t.id = u.task_id AND u.anchor IS NOT NULL AND u.state IS NULL AND u.o <> ALL (skip);
  END IF;

  IF cardinality(p_snapshot) > 0 THEN
    INSERT INTO lull.snapshots (tenant, task_id, seq, body)
      SELECT p_tenant, u.task_id, u.seq, u.body
      FROM unnest(p_task, p_last, p_snapshot) WITH ORDINALITY AS u (task_id, seq, body, o)
      WHERE u.body IS NOT NULL AND u.o <> ALL (skip) ORDER BY 1, 2
      ON CONFLICT (tenant, task_id) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  END IF;

  IF cardinality(w_of) > 0 THEN
    INSERT INTO lull.pushes (tenant, task_id, id, status, body)
      SELECT p_tenant, u.task_id, w.id, w.status, w.body
      FROM unnest(p_task) WITH ORDINALITY AS u (task_id, o)
      JOIN unnest(w_of, w_id, w_status, w_body) AS w (o, id, status, body) ON w.o = u.o
      WHERE u.o <> ALL (skip) ORDER BY 1, 2, 3
      ON CONFLICT (tenant, task_id, id) DO UPDATE SET status = excluded.status, body = excluded.body;
  END IF;

  PERFORM lull.count_1(array_agg(p_tenant), array_agg(coalesce(u.principal, u.new_principal)),
      array_agg(coalesce(u.agent, u.new_agent)), array_agg(octet_length(u.body)::bigint),
      array_agg(CASE WHEN u.new_state IS NOT NULL THEN u.state END), array_agg(u.new_state))
    FROM unnest(p_body, k_principal, k_agent, k_state, r_principal, r_agent, r_state) WITH ORDINALITY
      AS u (body, principal, agent, state, new_principal, new_agent, new_state, o)
    WHERE u.o <> ALL (skip) AND coalesce(u.principal, u.new_principal) IS NOT NULL
    HAVING count(*) > 0;

  IF cardinality(b_of) > 0 THEN
    WITH given AS (
      SELECT p_tenant AS tenant, b.id, b.period, b.amount
      FROM unnest(p_task) WITH ORDINALITY AS u (task_id, o)
      JOIN unnest(b_of, b_id, b_period, b_amount) AS b (o, id, period, amount) ON b.o = u.o
      WHERE u.o <> ALL (skip))
    INSERT INTO lull.spending AS s (tenant, budget_id, period, amount)
      SELECT tenant, id, period, least(9007199254740991, sum(amount)) FROM given
      WHERE period = (SELECT max(g.period) FROM given g WHERE (g.tenant, g.id) = (given.tenant, given.id))
      GROUP BY 1, 2, 3 ORDER BY 1, 2
      ON CONFLICT (tenant, budget_id) DO UPDATE SET period = excluded.period,
        amount = least(9007199254740991, excluded.amount + CASE WHEN s.period = excluded.period THEN s.amount ELSE 0 END)
      WHERE s.period <= excluded.period;
  END IF;
END $function$
;
CREATE OR REPLACE FUNCTION lull.count_1(p_tenant text[], p_principal text[], p_agent text[], p_bytes bigint[], p_from text[], p_to text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO lull.usage AS x (tenant, principal, agent, slice, bytes, submitted, working, input_required, auth_required,
    user_consent_required, paused_by_client, paused_by_agent, completed, failed, canceled, rejected)
  SELECT tenant, principal, agent, lull.usage_slice_1(), sum(bytes),
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
$function$
;
CREATE OR REPLACE FUNCTION lull.holds_lock_1(p_tenant text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT hashtextextended('lull holds of lull ' || p_tenant, 0)
$function$
;
CREATE OR REPLACE FUNCTION lull.is_open_1(p_tenant text, p_principal text, p_context text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT EXISTS (
    SELECT FROM lull.tasks WHERE tenant = p_tenant AND context_id = p_context AND principal = p_principal
      AND id <> substr(context_id, 1, 14) || '7' || substr(context_id, 16)
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
  OR EXISTS (
    SELECT FROM lull.tasks WHERE tenant = p_tenant AND id = substr(p_context, 1, 14) || '7' || substr(p_context, 16)
      AND context_id = p_context AND principal = p_principal
      AND state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
$function$
;
CREATE OR REPLACE FUNCTION lull.put_hold_1(p_tenant text, p_id text, p_created double precision, p_lifted double precision, p_body text, p_epoch bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(lull.holds_lock_1(p_tenant));
  UPDATE lull.counters SET value = value + 1 WHERE name = 'holds' AND (p_epoch IS NULL OR value = p_epoch);
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO lull.holds (id, created_at, lifted_at, body) VALUES (p_id, p_created, p_lifted, p_body)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, lifted_at = excluded.lifted_at, body = excluded.body;
  RETURN true;
END $function$
;
CREATE OR REPLACE FUNCTION lull.register_1(p_id text, p_agents text[], p_lease_ms double precision)
 RETURNS TABLE(now double precision, hold_epoch bigint)
 LANGUAGE plpgsql
AS $function$
DECLARE
  at timestamptz := lull.clock_1();
BEGIN
  INSERT INTO lull.workers (id, agents, lease_until, note)
    VALUES (p_id, p_agents, at + p_lease_ms * interval '1 ms', 'null')
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until;
  RETURN QUERY SELECT extract(epoch FROM lull.clock_1())::float8 * 1000, value FROM lull.counters WHERE name = 'holds';
END $function$
;
CREATE OR REPLACE FUNCTION lull.remove_tasks_1(p_tenant text, p_id text[], p_body text[], p_at double precision)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  gone text[];
BEGIN
  SELECT coalesce(array_agg(id ORDER BY id), '{}') INTO gone FROM (
    SELECT id FROM lull.tasks WHERE tenant = p_tenant AND id = ANY (p_id)
      AND state IN ('completed', 'failed', 'canceled', 'rejected')
      AND NOT lull.is_open_1(tenant, principal, context_id)
      AND NOT EXISTS (
        SELECT FROM lull.pushes p WHERE p.tenant = p_tenant AND p.task_id = tasks.id AND p.status <> 'done')
    ORDER BY id FOR UPDATE) AS unneeded;
  IF gone = '{}' THEN RETURN 0; END IF;
  WITH ended AS MATERIALIZED (
    SELECT old.name, t.id FROM lull.tasks t CROSS JOIN unnest(t.waits) AS old (name)
    WHERE t.tenant = p_tenant AND t.id = ANY (gone))
  DELETE FROM lull.waits w USING ended WHERE (w.tenant, w.name, w.task_id) = (p_tenant, ended.name, ended.id);
  PERFORM lull.count_1(array_agg(p_tenant), array_agg(t.principal), array_agg(t.agent),
    array_agg(-(SELECT sum(octet_length(r.body)) FROM lull.records r WHERE r.tenant = p_tenant AND r.task_id = t.id)),
    array_agg(t.state), array_agg(NULL::text))
  FROM lull.tasks t WHERE t.tenant = p_tenant AND t.id = ANY (gone);
  DELETE FROM lull.records WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM lull.tasks WHERE tenant = p_tenant AND id = ANY (gone);
  DELETE FROM lull.agenda WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM lull.snapshots WHERE tenant = p_tenant AND task_id = ANY (gone);
  DELETE FROM lull.pushes WHERE tenant = p_tenant AND task_id = ANY (gone);
  INSERT INTO lull.removed_tasks (tenant, id, removed_at, body)
    SELECT p_tenant, id, p_at, body FROM unnest(p_id, p_body) AS u (id, body) WHERE id = ANY (gone) ORDER BY id
    ON CONFLICT (tenant, id) DO UPDATE SET removed_at = excluded.removed_at, body = excluded.body;
  RETURN cardinality(gone);
END $function$
;
CREATE OR REPLACE FUNCTION lull.reply_1(p_again boolean, c_tenant text, c_principal text, c_agent text, c_key text, c_task text, c_digest text, c_created double precision, c_reply text, m_tenant text[], m_principal text[], m_context text[], m_at double precision[], m_message text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  answered integer;
  micros bigint := (extract(epoch FROM lull.clock_1()) * 1000000)::bigint;
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
  WITH given AS (
    SELECT u.*, greatest(micros, coalesce((
        SELECT m.pos FROM lull.context_messages m
        WHERE (m.tenant, m.principal, m.context_id) = (u.tenant, u.principal, u.context_id) ORDER BY m.pos DESC LIMIT 1), 0)) + u.o AS pos
    FROM unnest(m_tenant, m_principal, m_context, m_at, m_message) WITH ORDINALITY
      AS u (tenant, principal, context_id, at, message, o)
    WHERE NOT p_again OR NOT EXISTS (
      SELECT FROM lull.context_messages m
      WHERE (m.tenant, m.principal, m.context_id, m.at, m.message) = (u.tenant, u.principal, u.context_id, u.at, u.message))),
  added AS (
    INSERT INTO lull.context_messages (tenant, principal, context_id, pos, at, message)
    SELECT tenant, principal, context_id, pos, at, message FROM given
    RETURNING tenant, principal, octet_length(message) AS bytes)
  SELECT 1 INTO answered FROM (
    SELECT lull.count_1(array_agg(tenant), array_agg(principal), array_agg(''::text), array_agg(bytes::bigint),
      array_agg(NULL::text), array_agg(NULL::text)) FROM added HAVING count(*) > 0) AS counted;
END $function$
;
CREATE OR REPLACE FUNCTION lull.usage_slice_1()
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$ SELECT pg_backend_pid() % 32 $function$
;
CREATE OR REPLACE FUNCTION lull.write_session_1(p_tenant text, p_principal text, p_id text, p_updated double precision, p_deleted boolean, p_body text, p_compares boolean, p_before text, p_again boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
  stored text;
BEGIN
  LOOP
    SELECT x.body INTO stored FROM lull.sessions x
      WHERE (x.tenant, x.principal, x.id) = (p_tenant, p_principal, p_id) FOR UPDATE;
    IF p_compares AND p_again AND stored = p_body THEN RETURN true; END IF;
    IF p_compares AND stored IS DISTINCT FROM p_before THEN RETURN false; END IF;
    IF stored IS NULL THEN
      INSERT INTO lull.sessions (tenant, principal, id, updated_at, deleted, body)
        VALUES (p_tenant, p_principal, p_id, p_updated, p_deleted, p_body) ON CONFLICT DO NOTHING;
      -- Another call has just stored one.
      IF NOT FOUND THEN CONTINUE; END IF;
    ELSE
      UPDATE lull.sessions x SET updated_at = p_updated, deleted = p_deleted, body = p_body
        WHERE (x.tenant, x.principal, x.id) = (p_tenant, p_principal, p_id);
    END IF;
    PERFORM lull.count_1(ARRAY[p_tenant], ARRAY[p_principal], ARRAY[''],
      ARRAY[(octet_length(p_body) - coalesce(octet_length(stored), 0))::bigint], ARRAY[NULL], ARRAY[NULL]);
    RETURN true;
  END LOOP;
END $function$
;


