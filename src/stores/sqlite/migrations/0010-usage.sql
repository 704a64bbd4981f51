-- What is stored for each principal. Triggers keep the totals, so that no way to write or remove a row can forget them.
-- Events belong to no principal; the row of a tenant with an empty principal has them.
CREATE TABLE usage (
  tenant TEXT NOT NULL,
  principal TEXT NOT NULL,
  tasks INTEGER NOT NULL DEFAULT 0,
  open_tasks INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, principal)
) STRICT, WITHOUT ROWID;

INSERT INTO usage (tenant, principal, tasks, open_tasks, bytes)
SELECT tenant, principal, sum(tasks), sum(open_tasks), sum(bytes) FROM (
  SELECT tenant, principal, 1 AS tasks, state NOT IN ('completed', 'failed', 'canceled', 'rejected') AS open_tasks,
    coalesce((SELECT length(CAST(body AS BLOB)) FROM records WHERE pos = num AND task IS NULL), 0)
    + coalesce((SELECT sum(length(CAST(body AS BLOB))) FROM records WHERE task = num), 0) AS bytes
  FROM tasks
  UNION ALL SELECT tenant, principal, 0, 0, length(CAST(message AS BLOB)) FROM context_messages
  UNION ALL SELECT tenant, principal, 0, 0, length(CAST(body AS BLOB)) FROM sessions
  UNION ALL SELECT tenant, '', 0, 0, length(CAST(body AS BLOB)) FROM events
) GROUP BY tenant, principal;

CREATE TRIGGER task_created AFTER INSERT ON tasks BEGIN
  INSERT INTO usage (tenant, principal, tasks, open_tasks)
  VALUES (NEW.tenant, NEW.principal, 1, NEW.state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
  ON CONFLICT DO UPDATE SET tasks = tasks + 1, open_tasks = open_tasks + excluded.open_tasks;
END;

CREATE TRIGGER task_ended AFTER UPDATE OF state ON tasks
WHEN NEW.state IN ('completed', 'failed', 'canceled', 'rejected')
  AND OLD.state NOT IN ('completed', 'failed', 'canceled', 'rejected')
BEGIN
  UPDATE usage SET open_tasks = open_tasks - 1 WHERE tenant = NEW.tenant AND principal = NEW.principal;
END;

CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
  UPDATE usage SET tasks = tasks - 1,
    open_tasks = open_tasks - (OLD.state NOT IN ('completed', 'failed', 'canceled', 'rejected'))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

-- The row of a task is written before its log, and removed after it.
CREATE TRIGGER record_added AFTER INSERT ON records BEGIN
  UPDATE usage SET bytes = bytes + length(CAST(NEW.body AS BLOB))
  WHERE (tenant, principal) = (SELECT tenant, principal FROM tasks WHERE num = coalesce(NEW.task, NEW.pos));
END;

CREATE TRIGGER record_removed AFTER DELETE ON records BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB))
  WHERE (tenant, principal) = (SELECT tenant, principal FROM tasks WHERE num = coalesce(OLD.task, OLD.pos));
END;

CREATE TRIGGER message_added AFTER INSERT ON context_messages BEGIN
  INSERT INTO usage (tenant, principal, bytes)
  VALUES (NEW.tenant, NEW.principal, length(CAST(NEW.message AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER message_removed AFTER DELETE ON context_messages BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.message AS BLOB))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

CREATE TRIGGER session_added AFTER INSERT ON sessions BEGIN
  INSERT INTO usage (tenant, principal, bytes)
  VALUES (NEW.tenant, NEW.principal, length(CAST(NEW.body AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER session_changed AFTER UPDATE OF body ON sessions BEGIN
  UPDATE usage SET bytes = bytes + length(CAST(NEW.body AS BLOB)) - length(CAST(OLD.body AS BLOB))
  WHERE tenant = NEW.tenant AND principal = NEW.principal;
END;

CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB))
  WHERE tenant = OLD.tenant AND principal = OLD.principal;
END;

CREATE TRIGGER event_added AFTER INSERT ON events BEGIN
  INSERT INTO usage (tenant, principal, bytes) VALUES (NEW.tenant, '', length(CAST(NEW.body AS BLOB)))
  ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER event_removed AFTER DELETE ON events BEGIN
  UPDATE usage SET bytes = bytes - length(CAST(OLD.body AS BLOB)) WHERE tenant = OLD.tenant AND principal = '';
END;
