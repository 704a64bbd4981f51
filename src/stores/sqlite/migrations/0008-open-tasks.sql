-- Tasks that have not ended, in an order that never changes: context and id of a task are fixed. Who reads them page by
-- page misses none, however they move meanwhile. What follows the id only narrows.
CREATE INDEX tasks_open ON tasks (context_id, id, tenant, agent)
WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected');

CREATE INDEX tasks_held_by_context ON tasks (context_id, id) WHERE held = 1;
