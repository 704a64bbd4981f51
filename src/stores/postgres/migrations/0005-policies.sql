-- Budgets and rules.
CREATE TABLE {schema}.policies (
  id text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  body text NOT NULL
);

-- What was used of each budget in its latest period.
CREATE TABLE {schema}.spending (
  budget_id text COLLATE "C" PRIMARY KEY,
  period float8 NOT NULL,
  amount bigint NOT NULL
);
