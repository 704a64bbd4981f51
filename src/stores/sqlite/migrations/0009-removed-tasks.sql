-- What retention removed, as the row it had: a repeat of its message is answered with it. Kept as long as claims are.
CREATE TABLE removed_tasks (
  id TEXT PRIMARY KEY,
  removed_at REAL NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX removed_tasks_by_age ON removed_tasks (removed_at);
