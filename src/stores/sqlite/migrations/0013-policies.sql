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
