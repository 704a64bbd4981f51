-- Names are qualified with the schema, also inside functions, so that nothing depends on the search path of a connection.
-- Keys are compared byte by byte (COLLATE "C"). An index then survives a change of the operating system's collations.
-- Bodies are text, not jsonb: jsonb changes the order of keys and refuses some legal JSON strings.
-- Instants are epoch milliseconds. They are float8, because a deadline may have fractions of a millisecond.
-- There are no foreign keys: their locks are taken in another order than those of the commits. There are no triggers.
--
-- The tenant is the unit (docs/decisions/0037-tenant-first.md, P1 to P4): it is the first column of the key of each table
-- of tenant data, and each statement of a hot call names the tenant of every row. Tables that end with `{of tenant}` can be
-- divided by it. The braces have their storage parameters.

-- The logs: one row per commit. `body` is a JSON array of the records `first` to `last`. The primary key is the
-- compare-and-set: of two commits that follow the same version, one is refused. Rows are only inserted.
CREATE TABLE {schema}.records (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, task_id, first)
) {of tenant: autovacuum_vacuum_insert_scale_factor = 0.05};

-- Columns of a task, derived from its log. `anchor` is the number of the task's receipts and the hash of the last one,
-- signed. It shows that the end of a log was cut off.
CREATE TABLE {schema}.tasks (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  created_at float8 NOT NULL,
  state text COLLATE "C" NOT NULL,
  status_at float8 NOT NULL,
  held boolean NOT NULL,
  waits text[] COLLATE "C" NOT NULL,
  anchor text COLLATE "C",
  PRIMARY KEY (tenant, id)
) {of tenant: fillfactor = 90};

-- Lists are read one state at a time and merged, so that a state with few tasks is found among millions of others.
CREATE INDEX tasks_by_principal ON {schema}.tasks (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON {schema}.tasks (tenant, state, status_at, id);
-- The id of a context's first task is derived from the context id: one character differs. That task is found by its id.
-- Only later tasks are indexed.
CREATE INDEX tasks_by_context ON {schema}.tasks (tenant, context_id, id)
  WHERE id <> substr(context_id, 1, 14) || '7' || substr(context_id, 16);
CREATE INDEX tasks_by_parent ON {schema}.tasks (tenant, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_held ON {schema}.tasks (tenant, status_at, id) WHERE held;

-- Tasks that have not ended, and what there is to do for them. The table is narrow, because its rows change often.
-- `hidden_until` is in no index: reserving a task changes no index entry. A reader that goes by the primary key, page by
-- page, misses no open task.
CREATE TABLE {schema}.agenda (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  ready_at float8,
  due_at float8,
  owner text COLLATE "C",
  hidden_until timestamptz,
  PRIMARY KEY (tenant, task_id)
) {of tenant: fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0};

-- These three are asked by polls of every process, for all tenants of a part (P4).
-- A free slot goes to each tenant in turn, so the longest waiting task of each tenant is looked up.
CREATE INDEX agenda_ready ON {schema}.agenda (agent, tenant, ready_at, task_id) WHERE ready_at IS NOT NULL;
CREATE INDEX agenda_due ON {schema}.agenda (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX agenda_owned ON {schema}.agenda (owner) WHERE owner IS NOT NULL;

-- Which tasks wait for which event. A row is found by its whole key alone; `tasks.waits` has the names of a task.
CREATE TABLE {schema}.waits (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, name, task_id)
) {of tenant};

-- Separate from `tasks`, so that lists do not read snapshots.
CREATE TABLE {schema}.snapshots (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, task_id)
) {of tenant: fillfactor = 80};

-- Old claims are found by a BRIN index, because claims are stored nearly in the order of their age. An insert does not
-- change it.
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
) {of tenant};

CREATE INDEX claims_by_age ON {schema}.claims USING brin (created_at);

-- Webhooks of tasks and the progress of their deliveries. `status`: open, failed (given up) or done.
CREATE TABLE {schema}.pushes (
  tenant text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, task_id, id)
) {of tenant: fillfactor = 80};

CREATE INDEX pushes_by_status ON {schema}.pushes (status, tenant, task_id, id) WHERE status <> 'done';

-- Rows of tasks that retention removed. A repeated message is answered with this row.
CREATE TABLE {schema}.removed_tasks (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  removed_at float8 NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, id)
) {of tenant};

CREATE INDEX removed_tasks_by_age ON {schema}.removed_tasks USING brin (removed_at);

-- The highest position ever given to an event of the tenant. A sequence would give positions before the commit, and a
-- reader that remembers the highest position it saw would skip events that commit later with a lower one.
CREATE TABLE {schema}.event_positions (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  PRIMARY KEY (tenant)
) {of tenant: fillfactor = 10};

CREATE TABLE {schema}.events (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  source text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  -- `type:subject`; NULL without a subject.
  name text COLLATE "C",
  received_at float8 NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, pos),
  UNIQUE (tenant, source, event_id)
) {of tenant};

CREATE INDEX events_by_type ON {schema}.events (tenant, type, pos);
CREATE INDEX events_by_name ON {schema}.events (tenant, name, pos) WHERE name IS NOT NULL;
CREATE INDEX events_by_age ON {schema}.events USING brin (received_at);

-- Events that were not told to the tasks that wait for them. The process that stored them has time to do it; then any other.
CREATE TABLE {schema}.undispatched_events (
  tenant text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  hidden_until timestamptz NOT NULL,
  PRIMARY KEY (tenant, pos)
) {of tenant};

-- `pos` is the server's clock in microseconds when the message was stored, and greater than that of the message before.
CREATE TABLE {schema}.context_messages (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  at float8 NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (tenant, principal, context_id, pos)
) {of tenant};

-- Conversations of editors. Deleted rows stay, so that their contexts do not reappear as other sessions.
CREATE TABLE {schema}.sessions (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  updated_at float8 NOT NULL,
  deleted boolean NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (tenant, principal, id)
) {of tenant};

CREATE INDEX sessions_by_update ON {schema}.sessions (tenant, principal, updated_at, id) WHERE NOT deleted;

-- What is stored: bytes, and tasks by state. A transaction adds to the slice of its connection, so that transactions of one
-- principal do not wait for each other. Events belong to no principal and no agent, messages and sessions to no agent: those
-- columns are then empty. Each tenant that has anything has a row here, and its name is found by it.
CREATE TABLE {schema}.usage (
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
  rejected bigint NOT NULL,
  PRIMARY KEY (tenant, principal, agent, slice)
) {of tenant: fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0};

-- What was used of each budget in its latest period, by the tenant that used it.
CREATE TABLE {schema}.spending (
  tenant text COLLATE "C" NOT NULL,
  budget_id text COLLATE "C" NOT NULL,
  period float8 NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (tenant, budget_id)
) {of tenant};

-- Who did what. Rows are only added, and removed by age.
CREATE TABLE {schema}.audit (
  tenant text COLLATE "C" NOT NULL,
  at float8 NOT NULL,
  id text COLLATE "C" NOT NULL,
  principal text COLLATE "C",
  task_id text COLLATE "C",
  body text NOT NULL,
  PRIMARY KEY (tenant, at, id)
) {of tenant};

CREATE INDEX audit_by_task ON {schema}.audit (tenant, task_id, at, id) WHERE task_id IS NOT NULL;
-- The entries of one principal are read without those of the others.
CREATE INDEX audit_by_principal ON {schema}.audit (tenant, principal, at, id) WHERE principal IS NOT NULL;

-- The tables from here on are of the whole installation. No hot call writes them.

-- `check`: written to see whether the store can write. `holds`: how often holds have changed.
CREATE TABLE {schema}.counters (
  name text COLLATE "C" PRIMARY KEY,
  value bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO {schema}.counters (name, value) VALUES ('holds', 0), ('check', 0);

CREATE TABLE {schema}.holds (
  pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  created_at float8 NOT NULL,
  lifted_at float8,
  body text NOT NULL
);

-- Budgets and rules.
CREATE TABLE {schema}.policies (
  id text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  body text NOT NULL
);

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
