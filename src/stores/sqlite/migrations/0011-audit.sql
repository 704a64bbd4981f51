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
