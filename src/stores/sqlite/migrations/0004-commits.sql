-- A row of the log is what one commit wrote: a JSON array of records, and `seq` is the number of the last of them. What is
-- written together costs one row and one entry of the index.
UPDATE records SET body = '[' || body || ']';
