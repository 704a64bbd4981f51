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
  waits TEXT,
  -- The number of the task's receipts and the hash of the last one, signed. It shows that the end of a log was cut off.
  anchor TEXT
) STRICT;

-- Lists are read one state at a time and merged, so that a state with few tasks is found among millions of others.
-- The columns after the id are filters: an entry that does not match is skipped without reading its row.
CREATE INDEX tasks_by_principal ON tasks (tenant, principal, state, status_at, id);
CREATE INDEX tasks_by_state ON tasks (state, status_at, id, tenant, agent, held);
-- The id of a context's first task is derived from the context id: one character differs. That task is found by its id. Only
-- later tasks are indexed.
CREATE INDEX tasks_by_context ON tasks (context_id)
WHERE id <> substr(context_id, 1, 14) || '7' || substr(context_id, 16);
CREATE INDEX tasks_by_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_held ON tasks (status_at, id) WHERE held = 1;
CREATE INDEX tasks_held_by_context ON tasks (context_id, id) WHERE held = 1;
-- Tasks that have not ended, by context and id, which never change. A reader that goes page by page therefore misses no task.
CREATE INDEX tasks_open ON tasks (context_id, id, tenant, agent)
WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');
-- A free slot goes to each tenant in turn, so the longest waiting task of each tenant is looked up.
CREATE INDEX tasks_ready ON tasks (agent, tenant, ready_at) WHERE ready_at IS NOT NULL;
CREATE INDEX tasks_owned ON tasks (owner) WHERE owner IS NOT NULL;
CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;

-- The logs, in the order of writing. Appending writes to the end of the table, not to a page per task.
-- A row holds the records of one commit as a JSON array, and `seq` is the number of the last one.
-- The first row of a task's log has the task's number as its position, and no `task`. It is found without an index, and most
-- tasks have few other rows. The unique index is the compare-and-set: a task's version is the number of its last record.
CREATE TABLE records (
  pos INTEGER PRIMARY KEY,
  task INTEGER,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_by_task ON records (task, seq) WHERE task IS NOT NULL;

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

-- Claims are appended. Their keys are random, so an insert in the order of keys would dirty one more page for every new
-- task. `place` is tenant, principal, agent and key, one per line.
CREATE TABLE claims (
  pos INTEGER PRIMARY KEY,
  place TEXT NOT NULL,
  task_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  created_at REAL NOT NULL,
  reply TEXT
) STRICT;

-- The index of claims: runs of 16384 positions. A run is sorted and written once, when the next run has started.
CREATE TABLE claim_places (
  run INTEGER NOT NULL,
  place TEXT NOT NULL,
  pos INTEGER NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

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

-- Budgets and rules.
CREATE TABLE policies (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID, STRICT;

-- What was used of each budget in its latest period.
CREATE TABLE spending (
  budget_id TEXT PRIMARY KEY,
  period REAL NOT NULL,
  amount INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Webhooks of tasks and the progress of their deliveries. `status`: open, failed (given up) or done.
CREATE TABLE pushes (
  task_id TEXT NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pushes_by_status ON pushes (status, task_id, id) WHERE status <> 'done';

-- Conversations of editors. Deleted rows stay, so that their contexts do not reappear as other sessions.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, principal, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_update ON sessions (tenant, principal, updated_at, id) WHERE deleted = 0;

-- Rows of tasks that retention removed. A repeated message is answered with this row. Kept as long as claims are kept.
CREATE TABLE removed_tasks (
  id TEXT PRIMARY KEY,
  removed_at REAL NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX removed_tasks_by_age ON removed_tasks (removed_at);

-- Who did what. Rows are only added, and removed by age.
CREATE TABLE audit (
  pos INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at REAL NOT NULL,
  tenant TEXT NOT NULL,
  principal TEXT,
  task_id TEXT,
  body TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_tenant ON audit (tenant, pos);
CREATE INDEX audit_by_task ON audit (task_id, pos) WHERE task_id IS NOT NULL;
CREATE INDEX audit_by_age ON audit (at);
-- The entries of one principal, of one tenant or of all tenants, are read without those of the others.
CREATE INDEX audit_by_principal ON audit (principal, pos) WHERE principal IS NOT NULL;
CREATE INDEX audit_by_tenant_and_principal ON audit (tenant, principal, pos) WHERE principal IS NOT NULL;

-- Small durable values of the engine by name.
CREATE TABLE key_values (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Always empty: `check` inserts and deletes in one transaction.
CREATE TABLE probe (
  body BLOB NOT NULL
) STRICT;

-- What is stored for each principal. Events belong to no principal; the row of a tenant with an empty principal has them.
-- The program adds what a batch of commits stores to the totals, once per principal (`usage.ts`). Triggers add the
-- rest, so that no way to write or remove a row can forget the totals.
CREATE TABLE usage (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  tasks INTEGER NOT NULL DEFAULT 0,
  open_tasks INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, principal)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
    open_tasks = open_tasks - (OLD.state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

-- The row of a task is written before its log, and removed after it.
CREATE TRIGGER record_removed AFTER DELETE ON records BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB))
  WHERE (tenant, principal) = (SELECT tenant, principal FROM tasks WHERE num = coalesce(OLD.task, OLD.pos));
END;

CREATE TRIGGER message_added AFTER INSERT ON context_messages BEGIN
  INSERT INTO usage (tenant, principal, bytes)
  VALUES (NEW.tenant, NEW.principal, length(CAST(NEW.message AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER message_removed AFTER DELETE ON context_messages BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.message AS BLOB))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

CREATE TRIGGER session_added AFTER INSERT ON sessions BEGIN
  INSERT INTO usage (tenant, principal, bytes)
  VALUES (NEW.tenant, NEW.principal, length(CAST(NEW.body AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER session_changed AFTER UPDATE OF body ON sessions BEGIN
  UPDATE usage SET bytes = bytes + length(CAST(NEW.body AS BLOB)) - length(CAST(OLD.body AS BLOB))
  WHERE tenant = NEW.tenant AND principal = NEW.principal;
END;

CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

CREATE TRIGGER event_added AFTER INSERT ON events BEGIN
  INSERT INTO usage (tenant, principal, bytes) VALUES (NEW.tenant, '', length(CAST(NEW.body AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER event_removed AFTER DELETE ON events BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB)) WHERE tenant = OLD.tenant AND principal = '';
END;
