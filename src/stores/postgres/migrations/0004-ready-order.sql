-- Tasks that become ready together have the same time. With the id in the index, a claim reads as many as it takes and
-- sorts none.
DROP INDEX {schema}.agenda_ready;
CREATE INDEX agenda_ready ON {schema}.agenda (agent, tenant, ready_at, task_id) WHERE ready_at IS NOT NULL;
