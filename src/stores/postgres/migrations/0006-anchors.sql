-- The number of a task's receipts and the hash of the last one, signed. It shows that the end of a log was cut off.
ALTER TABLE {schema}.tasks ADD COLUMN anchor text COLLATE "C";

-- Commits as `commit_1`, counts what the written commits used of budgets, and replaces anchors (null: it stays as it is).
-- The rows of budgets are locked last and in order, so two calls never wait for each other.
CREATE FUNCTION {schema}.commit_2(
  p_again boolean, p_epoch bigint[],
  p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[],
  r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created float8[],
  r_state text[], r_status float8[], r_held boolean[], r_waits text[],
  r_ready float8[], r_due float8[], r_owner text[],
  c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created float8[], c_reply text[],
  w_of integer[], w_id text[], w_status text[], w_body text[],
  b_of integer[], b_id text[], b_period float8[], b_amount bigint[], p_anchor text[])
RETURNS TABLE (place integer, status text, version integer, detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  refused integer[] := '{}';
BEGIN
  FOR place, status, version, detail IN SELECT c.place, c.status, c.version, c.detail FROM {schema}.commit_1(
    p_again, p_epoch, p_task, p_first, p_last, p_body, p_snapshot, r_tenant, r_principal, r_agent, r_context,
    r_parent, r_created, r_state, r_status, r_held, r_waits, r_ready, r_due, r_owner, c_tenant, c_principal,
    c_agent, c_key, c_digest, c_created, c_reply, w_of, w_id, w_status, w_body) AS c
  LOOP
    refused := refused || place; RETURN NEXT;
  END LOOP;
  UPDATE {schema}.tasks t SET anchor = u.anchor
    FROM unnest(p_task, p_anchor) WITH ORDINALITY AS u (id, anchor, o)
    WHERE t.id = u.id AND u.anchor IS NOT NULL AND u.o <> ALL (refused);
  INSERT INTO {schema}.spending AS s (budget_id, period, amount)
    SELECT u.id, u.period, least(9007199254740991, sum(u.amount))
    FROM unnest(b_of, b_id, b_period, b_amount) AS u (o, id, period, amount)
    WHERE u.o <> ALL (refused)
      AND u.period = (SELECT max(v.period) FROM unnest(b_of, b_id, b_period) AS v (o, id, period)
        WHERE v.id = u.id AND v.o <> ALL (refused))
    GROUP BY 1, 2 ORDER BY 1
    ON CONFLICT (budget_id) DO UPDATE SET period = excluded.period,
      amount = least(9007199254740991, excluded.amount + CASE WHEN s.period = excluded.period THEN s.amount ELSE 0 END)
    WHERE s.period <= excluded.period;
END $$;
