-- Names are qualified with the schema, also inside functions, so that nothing depends on the search path of a connection.
-- Keys are compared byte by byte (COLLATE "C"). An index then survives a change of the operating system's collations.
-- Bodies are text, not jsonb: jsonb changes the order of keys and refuses some legal JSON strings.
-- Instants are epoch milliseconds. They are float8, because a deadline may have fractions of a millisecond.
-- There are no foreign keys: their locks are taken in another order than those of the commits.

-- The logs: one row per commit. `body` is a JSON array of the records `first` to `last`. The primary key is the
-- compare-and-set: of two commits that follow the same version, one is refused. Rows are only inserted.
CREATE TABLE {schema}.records (
  task_id text COLLATE "C" NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (task_id, first)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Columns of a task, derived from its log.
CREATE TABLE {schema}.tasks (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  created_at float8 NOT NULL,
  state text COLLATE "C" NOT NULL,
  status_at float8 NOT NULL,
  held boolean NOT NULL,
  waits text[] COLLATE "C" NOT NULL
) WITH (fillfactor = 90);

-- Lists are read one state at a time and merged, so that a state with few tasks is found among millions of others.
CREATE INDEX tasks_by_principal ON {schema}.tasks (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON {schema}.tasks (state, status_at, id);
CREATE INDEX tasks_by_context ON {schema}.tasks (context_id);
CREATE INDEX tasks_by_parent ON {schema}.tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_held ON {schema}.tasks (status_at, id) WHERE held;
-- Tasks that have not ended, by context and id, which never change. A reader that goes page by page misses no task.
CREATE INDEX tasks_open ON {schema}.tasks (context_id, id)
  WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');
CREATE INDEX tasks_held_by_context ON {schema}.tasks (context_id, id) WHERE held;

-- Tasks with something to do. The others have no row here. The table is narrow, because its rows change often.
-- `hidden_until` is in no index: reserving a task changes no index entry.
CREATE TABLE {schema}.agenda (
  task_id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ready_at float8,
  due_at float8,
  owner text COLLATE "C",
  hidden_until timestamptz
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- A free slot goes to each tenant in turn, so the longest waiting task of each tenant is looked up.
CREATE INDEX agenda_ready ON {schema}.agenda (agent, tenant, ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX agenda_due ON {schema}.agenda (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX agenda_owned ON {schema}.agenda (owner) WHERE owner IS NOT NULL;

-- Which tasks wait for which event. A row is found by its whole key alone; `tasks.waits` has the names of a task.
CREATE TABLE {schema}.waits (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, name, task_id)
);

-- Separate from `tasks`, so that lists do not read snapshots.
CREATE TABLE {schema}.snapshots (
  task_id text COLLATE "C" PRIMARY KEY,
  seq integer NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE {schema}.claims (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  created_at float8 NOT NULL,
  reply text,
  PRIMARY KEY (tenant, principal, agent, key)
);

CREATE INDEX claims_by_age ON {schema}.claims (created_at);

-- Webhooks of tasks and the progress of their deliveries. `status`: open, failed (given up) or done.
CREATE TABLE {schema}.pushes (
  task_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (task_id, id)
) WITH (fillfactor = 80);

CREATE INDEX pushes_by_status ON {schema}.pushes (status, task_id, id) WHERE status <> 'done';

-- Rows of tasks that retention removed. A repeated message is answered with this row.
CREATE TABLE {schema}.removed_tasks (
  id text COLLATE "C" PRIMARY KEY,
  removed_at float8 NOT NULL,
  body text NOT NULL
);

CREATE INDEX removed_tasks_by_age ON {schema}.removed_tasks (removed_at);

-- `check`: written to see whether the store can write. `holds`: how often holds have changed. `events`: the highest position ever given to an event. A sequence would give positions before the commit, and a reader
-- that remembers the highest position it saw would skip events that commit later with a lower one.
CREATE TABLE {schema}.counters (
  name text COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO {schema}.counters (name, value) VALUES ('events', 0), ('holds', 0), ('check', 0);

CREATE TABLE {schema}.events (
  pos bigint PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  -- `type:subject`; NULL without a subject.
  name text COLLATE "C",
  received_at float8 NOT NULL,
  body text NOT NULL,
  UNIQUE (tenant, source, event_id)
);

CREATE INDEX events_by_tenant ON {schema}.events (tenant, pos);
CREATE INDEX events_by_type ON {schema}.events (tenant, type, pos);
CREATE INDEX events_by_name ON {schema}.events (tenant, name, pos) WHERE name IS NOT NULL;
CREATE INDEX events_by_age ON {schema}.events (received_at);

-- Events that were not told to the tasks that wait for them. The process that stored them has time to do it; then any other.
CREATE TABLE {schema}.undispatched_events (
  pos bigint PRIMARY KEY,
  hidden_until timestamptz NOT NULL
);

CREATE TABLE {schema}.context_messages (
  pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  at float8 NOT NULL,
  message text NOT NULL
);

CREATE INDEX context_messages_by_context ON {schema}.context_messages (tenant, principal, context_id, pos);

CREATE TABLE {schema}.holds (
  pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  created_at float8 NOT NULL,
  lifted_at float8,
  body text NOT NULL
);

-- Conversations of editors. Deleted rows stay, so that their contexts do not reappear as other sessions.
CREATE TABLE {schema}.sessions (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  updated_at float8 NOT NULL,
  deleted boolean NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, principal, id)
);

CREATE INDEX sessions_by_update ON {schema}.sessions (tenant, principal, updated_at, id) WHERE NOT deleted;

-- What is stored for each principal. A transaction adds to the slice of its connection, so that transactions of one principal
-- do not wait for each other. Events belong to no principal; an empty principal has them.
CREATE TABLE {schema}.usage (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  slice integer NOT NULL,
  tasks bigint NOT NULL,
  open_tasks bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (tenant, principal, slice)
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE {schema}.key_values (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

-- One row per process. A process whose lease ran out never gets it back.
CREATE TABLE {schema}.workers (
  id text COLLATE "C" PRIMARY KEY,
  agents text[] NOT NULL,
  lease_until timestamptz NOT NULL,
  note text NOT NULL
) WITH (fillfactor = 10);

-- Work that one process does for all.
CREATE TABLE {schema}.duties (
  name text COLLATE "C" PRIMARY KEY,
  worker_id text COLLATE "C" NOT NULL,
  until timestamptz NOT NULL
) WITH (fillfactor = 10);
