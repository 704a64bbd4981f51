-- Claims are appended. Their keys are random, so an insert in the order of keys would dirty one more page for every new
-- task. `place` is tenant, principal, agent and key, one per line.
CREATE TABLE appended (
  pos INTEGER PRIMARY KEY,
  place TEXT NOT NULL,
  task_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  created_at REAL NOT NULL,
  reply TEXT
) STRICT;

INSERT INTO appended (place, task_id, digest, created_at, reply)
SELECT tenant || char(10) || principal || char(10) || agent || char(10) || key, task_id, digest, created_at, reply
FROM claims ORDER BY created_at;

DROP TABLE claims;
ALTER TABLE appended RENAME TO claims;

-- The index of claims: runs of 16384 positions. A run is sorted and written once, when the next run has started.
CREATE TABLE claim_places (
  run INTEGER NOT NULL,
  place TEXT NOT NULL,
  pos INTEGER NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

INSERT INTO claim_places (run, place, pos)
SELECT pos / 16384, place, pos FROM claims
WHERE pos / 16384 < (SELECT max(pos) / 16384 FROM claims)
ORDER BY 1, 2;
