-- A task that begins a context names it after itself: one character differs (`engine/contexts.ts`). It is found by its id,
-- and only those that joined a context are in the index.
DROP INDEX tasks_by_context;
CREATE INDEX tasks_by_context ON tasks (context_id)
WHERE id <> substr(context_id, 1, 14) || '7' || substr(context_id, 16);
