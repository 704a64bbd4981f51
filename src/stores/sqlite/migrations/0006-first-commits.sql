-- The first row of a task's log has the task's number as its position, and no `task`. It is found without an index. Most
-- tasks have few other rows.
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
