-- Tasks that have not ended, by context and id, which never change. A reader that goes page by page therefore misses no task.
-- The columns after the id are filters.
CREATE INDEX tasks_open ON tasks (context_id, id, tenant, agent)
WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');

CREATE INDEX tasks_held_by_context ON tasks (context_id, id) WHERE held = 1;
