-- The number of a task's receipts and the hash of the last one, signed. It shows that the end of a log was cut off.
ALTER TABLE tasks ADD COLUMN anchor TEXT;
