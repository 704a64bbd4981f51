-- Rows of tasks that retention removed. A repeated message is answered with this row. Kept as long as claims are kept.
CREATE TABLE removed_tasks (
  id TEXT PRIMARY KEY,
  removed_at REAL NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX removed_tasks_by_age ON removed_tasks (removed_at);
