-- Every commit creates or changes tasks and adds records, so triggers for these run several times in each. The program adds
-- what a batch of commits stores to the totals instead, once per principal (`count-usage.ts`).
DROP TRIGGER task_created;
DROP TRIGGER task_ended;
DROP TRIGGER record_added;
