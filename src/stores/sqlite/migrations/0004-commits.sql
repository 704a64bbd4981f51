-- A row of the log holds the records of one commit as a JSON array. `seq` is the number of the last record. A commit then
-- costs one row and one entry of the index.
UPDATE records SET body = '[' || body || ']';
