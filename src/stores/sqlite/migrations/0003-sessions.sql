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
