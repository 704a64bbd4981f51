-- Webhooks of tasks and the progress of their deliveries. `status`: open, failed (given up) or done.
CREATE TABLE pushes (
  task_id TEXT NOT NULL,
  id TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (task_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pushes_by_status ON pushes (status, task_id, id) WHERE status <> 'done';
