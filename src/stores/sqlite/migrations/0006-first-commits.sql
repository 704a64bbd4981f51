-- The first row of a task's log stands at the task's own number, with no `task` of its own: it is found without an index,
-- and most tasks have few rows beside it.
CREATE TABLE appended (
  pos INTEGER PRIMARY KEY,
  task INTEGER,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

INSERT INTO appended (pos, task, seq, body) SELECT pos, task, seq, body FROM records ORDER BY pos;
DROP TABLE records;
ALTER TABLE appended RENAME TO records;
CREATE UNIQUE INDEX records_by_task ON records (task, seq) WHERE task IS NOT NULL;
