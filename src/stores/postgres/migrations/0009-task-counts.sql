-- How many tasks there are, so that a count reads a few rows, however many tasks there are. Triggers keep it, so it holds
-- for programs that do not know it. A statement that writes tasks only adds rows to `task_moves`, and waits for no other.
-- Now and then such a statement adds them up (`fold_task_moves_1`). A count is the sum of both.
CREATE TABLE {schema}.task_moves (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE {schema}.tenant_tasks (
  tenant text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL,
  PRIMARY KEY (tenant, agent, state)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE {schema}.principal_tasks (
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  tasks bigint NOT NULL,
  PRIMARY KEY (tenant, principal, agent, state)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One transaction does this at a time. The others leave their rows for the next one.
CREATE FUNCTION {schema}.fold_task_moves_1() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  m_tenant text[];
  m_principal text[];
  m_agent text[];
  m_state text[];
  m_tasks bigint[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('lull task counts of {schema}', 0)) THEN RETURN; END IF;
  WITH gone AS (DELETE FROM {schema}.task_moves RETURNING *)
  SELECT array_agg(tenant), array_agg(principal), array_agg(agent), array_agg(state), array_agg(tasks)
  INTO m_tenant, m_principal, m_agent, m_state, m_tasks
  FROM (SELECT tenant, principal, agent, state, sum(tasks) AS tasks FROM gone GROUP BY 1, 2, 3, 4) AS moved
  WHERE tasks <> 0;
  INSERT INTO {schema}.tenant_tasks AS c (tenant, agent, state, tasks)
    SELECT tenant, agent, state, sum(tasks)
    FROM unnest(m_tenant, m_agent, m_state, m_tasks) AS u (tenant, agent, state, tasks) GROUP BY 1, 2, 3
    ON CONFLICT (tenant, agent, state) DO UPDATE SET tasks = c.tasks + excluded.tasks;
  INSERT INTO {schema}.principal_tasks AS c (tenant, principal, agent, state, tasks)
    SELECT * FROM unnest(m_tenant, m_principal, m_agent, m_state, m_tasks)
    ON CONFLICT (tenant, principal, agent, state) DO UPDATE SET tasks = c.tasks + excluded.tasks;
  DELETE FROM {schema}.principal_tasks c
    USING unnest(m_tenant, m_principal, m_agent, m_state) AS u (tenant, principal, agent, state)
    WHERE (c.tenant, c.principal, c.agent, c.state) = (u.tenant, u.principal, u.agent, u.state) AND c.tasks = 0;
END $$;

CREATE FUNCTION {schema}.count_tasks_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO {schema}.task_moves SELECT tenant, principal, agent, state, count(*) FROM added GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO {schema}.task_moves SELECT tenant, principal, agent, state, -count(*) FROM gone GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO {schema}.task_moves
      SELECT tenant, principal, agent, state, sum(n) FROM (
        SELECT tenant, principal, agent, state, 1 AS n FROM added
        UNION ALL SELECT tenant, principal, agent, state, -1 FROM gone) AS both_tables
      GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0;
  END IF;
  IF random() < 0.02 THEN PERFORM {schema}.fold_task_moves_1(); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER count_added AFTER INSERT ON {schema}.tasks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.count_tasks_1();
CREATE TRIGGER count_removed AFTER DELETE ON {schema}.tasks REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.count_tasks_1();
CREATE TRIGGER count_changed AFTER UPDATE ON {schema}.tasks REFERENCING OLD TABLE AS gone NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION {schema}.count_tasks_1();

-- The triggers hold up other writers until this transaction ends, so none of their tasks is missed.
INSERT INTO {schema}.task_moves SELECT tenant, principal, agent, state, count(*) FROM {schema}.tasks GROUP BY 1, 2, 3, 4;
SELECT {schema}.fold_task_moves_1();
