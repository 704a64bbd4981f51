-- The leading columns of indexes change rarely. A step of a running task writes to `records` alone.
-- Instants are epoch milliseconds. They are REAL, because a deadline may have fractions of a millisecond.

-- The row of a task, derived from its log. Other tables refer to a task by `num`.
CREATE TABLE tasks (
  num INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  agent TEXT NOT NULL,
  context_id TEXT NOT NULL,
  parent_id TEXT,
  state TEXT NOT NULL,
  created_at REAL NOT NULL,
  status_at REAL NOT NULL,
  ready_at REAL,
  owner TEXT,
  due_at REAL,
  held INTEGER NOT NULL,
  -- A JSON array, the same names as in `waits`; NULL for none.
  waits TEXT
) STRICT;

-- Lists are read one state at a time and merged, so that a state with few tasks is found among millions of others.
-- The columns after the id are filters: an entry that does not match is skipped without reading its row.
CREATE INDEX tasks_by_principal ON tasks (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON tasks (state, status_at, id, tenant, agent, held);
CREATE INDEX tasks_by_context ON tasks (context_id);
CREATE INDEX tasks_by_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_held ON tasks (status_at, id) WHERE held = 1;
CREATE INDEX tasks_ready ON tasks (agent, ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX tasks_owned ON tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;

-- The logs, in the order of writing. Appending writes to the end of the table, not to a page per task.
-- The unique index is the compare-and-set. A task's version is the number of its last record and is not stored elsewhere.
CREATE TABLE records (
  pos INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (task, seq)
) STRICT;

-- Separate from `tasks`, so that lists do not read snapshots.
CREATE TABLE snapshots (
  task INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE waits (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  task_id TEXT NOT NULL,
  PRIMARY KEY (tenant, name, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  agent TEXT NOT NULL,
  key TEXT NOT NULL,
  task_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  created_at REAL NOT NULL,
  reply TEXT,
  PRIMARY KEY (tenant, principal, agent, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_age ON claims (created_at);

-- AUTOINCREMENT never reuses a position, also after the newest event was removed.
CREATE TABLE events (
  pos INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  source TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  -- `type:subject`; NULL without a subject.
  name TEXT,
  received_at REAL NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (tenant, source, event_id)
) STRICT;

CREATE INDEX events_by_tenant ON events (tenant, pos);
CREATE INDEX events_by_type ON events (tenant, type, pos);
CREATE INDEX events_by_name ON events (tenant, name, pos) WHERE name IS NOT NULL;
CREATE INDEX events_by_age ON events (received_at);

CREATE TABLE context_messages (
  pos INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  context_id TEXT NOT NULL,
  at REAL NOT NULL,
  message TEXT NOT NULL
) STRICT;

CREATE INDEX context_messages_by_context ON context_messages (tenant, principal, context_id, pos);

CREATE TABLE holds (
  pos INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created_at REAL NOT NULL,
  lifted_at REAL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE facts (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Always empty: `check` inserts and deletes in one transaction.
CREATE TABLE probe (
  body BLOB NOT NULL
) STRICT;
