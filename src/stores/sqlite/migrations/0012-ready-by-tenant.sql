-- A free slot goes to each tenant in turn, so the longest waiting task of each tenant is looked up.
DROP INDEX tasks_ready;
CREATE INDEX tasks_ready ON tasks (agent, tenant, ready_at) WHERE ready_at IS NOT NULL;
