-- Commits as `commit_2`, and refuses a commit that names an event position which the counter has not reached
-- (`p_event`, null: none). Such an event was lost when another server took over, and its position is given again. The
-- commit is refused as one that was decided before the holds changed: no hold epoch is -1.
CREATE FUNCTION {schema}.commit_3(
  p_again boolean, p_epoch bigint[],
  p_task text[], p_first integer[], p_last integer[], p_body text[], p_snapshot text[],
  r_tenant text[], r_principal text[], r_agent text[], r_context text[], r_parent text[], r_created float8[],
  r_state text[], r_status float8[], r_held boolean[], r_waits text[],
  r_ready float8[], r_due float8[], r_owner text[],
  c_tenant text[], c_principal text[], c_agent text[], c_key text[], c_digest text[], c_created float8[], c_reply text[],
  w_of integer[], w_id text[], w_status text[], w_body text[],
  b_of integer[], b_id text[], b_period float8[], b_amount bigint[], p_anchor text[], p_event bigint[])
RETURNS TABLE (place integer, status text, version integer, detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  unknown integer[];
BEGIN
  SELECT array_agg(o::integer) INTO unknown
  FROM unnest(p_event) WITH ORDINALITY AS u (pos, o) JOIN {schema}.counters c ON c.name = 'events' AND c.value < u.pos;
  IF unknown IS NOT NULL THEN
    SELECT array_agg(CASE WHEN o = ANY (unknown) THEN -1 ELSE p_epoch[o] END ORDER BY o) INTO p_epoch
    FROM generate_series(1, cardinality(p_task)) AS o;
  END IF;
  RETURN QUERY SELECT c.place, c.status, c.version, c.detail FROM {schema}.commit_2(
    p_again, p_epoch, p_task, p_first, p_last, p_body, p_snapshot, r_tenant, r_principal, r_agent, r_context,
    r_parent, r_created, r_state, r_status, r_held, r_waits, r_ready, r_due, r_owner, c_tenant, c_principal,
    c_agent, c_key, c_digest, c_created, c_reply, w_of, w_id, w_status, w_body,
    b_of, b_id, b_period, b_amount, p_anchor) AS c;
END $$;
