-- Who did what. Rows are only added, and removed by age.
CREATE TABLE {schema}.audit (
  pos bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  at float8 NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  principal text COLLATE "C",
  task_id text COLLATE "C",
  body text NOT NULL
);

CREATE INDEX audit_by_tenant ON {schema}.audit (tenant, pos);
CREATE INDEX audit_by_task ON {schema}.audit (task_id, pos) WHERE task_id IS NOT NULL;
CREATE INDEX audit_by_age ON {schema}.audit (at);

INSERT INTO {schema}.counters (name, value) VALUES ('audit', 0);

-- Adds entries. The lock on the counter is held to the end of the transaction, so positions are in commit order.
CREATE FUNCTION {schema}.append_audit_1(
  p_id text[], p_at float8[], p_tenant text[], p_principal text[], p_task text[], p_body text[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  base bigint;
BEGIN
  SELECT value INTO base FROM {schema}.counters WHERE name = 'audit' FOR UPDATE;
  INSERT INTO {schema}.audit (pos, id, at, tenant, principal, task_id, body)
    SELECT base + o, id, at, tenant, principal, task_id, body
    FROM unnest(p_id, p_at, p_tenant, p_principal, p_task, p_body)
      WITH ORDINALITY AS u (id, at, tenant, principal, task_id, body, o)
    ON CONFLICT (id) DO NOTHING;
  UPDATE {schema}.counters SET value = base + cardinality(p_id) WHERE name = 'audit';
END $$;
