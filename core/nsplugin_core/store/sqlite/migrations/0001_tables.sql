CREATE TABLE plugin (
  id TEXT PRIMARY KEY,
  platform TEXT NOT NULL,
  version TEXT,
  manifest TEXT NOT NULL,
  digest TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  timezone TEXT NOT NULL,
  installed_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  plugin TEXT NOT NULL,
  name TEXT NOT NULL,
  max_attempts INTEGER NOT NULL,
  timeout_ms INTEGER NOT NULL,
  PRIMARY KEY (plugin, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  plugin TEXT NOT NULL,
  position INTEGER NOT NULL,
  pointer TEXT NOT NULL,
  expression TEXT NOT NULL,
  timezone TEXT NOT NULL,
  job TEXT NOT NULL,
  payload TEXT,
  next_fire INTEGER,
  last_fire INTEGER,
  last_task TEXT,
  fires INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  caught_up INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_plugin ON schedule (plugin, position);
CREATE INDEX schedule_due ON schedule (next_fire) WHERE next_fire IS NOT NULL;

-- Live tasks only: finished ones move to "finished", so that claims stay fast however much was done.
CREATE TABLE task (
  id TEXT NOT NULL UNIQUE,
  plugin TEXT NOT NULL,
  job TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running')),
  payload TEXT,
  payload_bytes INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  max_attempts INTEGER NOT NULL,
  timeout_ms INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  enqueued_by TEXT,
  identity TEXT,
  budget INTEGER,
  key TEXT,
  schedule_id TEXT,
  fire_at INTEGER,
  claim INTEGER NOT NULL,
  claimer TEXT,
  claimed_at INTEGER,
  lease_until INTEGER,
  last_error TEXT,
  last_error_code TEXT
) STRICT;
CREATE INDEX task_due ON task (plugin, state, run_at, id);
CREATE INDEX task_lease ON task (lease_until) WHERE state = 'running';
CREATE UNIQUE INDEX task_key ON task (plugin, job, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX task_fire ON task (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;

CREATE TABLE finished (
  id TEXT NOT NULL UNIQUE,
  plugin TEXT NOT NULL,
  job TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('succeeded', 'dead')),
  payload TEXT,
  payload_bytes INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  timeout_ms INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  enqueued_by TEXT,
  identity TEXT,
  budget INTEGER,
  key TEXT,
  schedule_id TEXT,
  fire_at INTEGER,
  claim INTEGER NOT NULL,
  claimer TEXT,
  claimed_at INTEGER,
  lease_until INTEGER,
  last_error TEXT,
  last_error_code TEXT,
  finished_at INTEGER NOT NULL,
  keep_until INTEGER NOT NULL
) STRICT;
CREATE INDEX finished_plugin ON finished (plugin, state, finished_at, id);
CREATE INDEX finished_keep ON finished (keep_until);

-- The keys of stored runs, finished ones too (spec/cogover.md E5).
CREATE TABLE run_key (
  plugin TEXT NOT NULL,
  job TEXT NOT NULL,
  key TEXT NOT NULL,
  task_id TEXT NOT NULL UNIQUE,
  PRIMARY KEY (plugin, job, key)
) STRICT, WITHOUT ROWID;

-- A row for each plugin whose unfinished tasks are limited: a count(*) would overshoot under concurrency.
CREATE TABLE usage (
  plugin TEXT PRIMARY KEY,
  unfinished INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
  task_id TEXT NOT NULL,
  claim INTEGER NOT NULL,
  plugin TEXT NOT NULL,
  job TEXT NOT NULL,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  error TEXT,
  error_code TEXT,
  keep_until INTEGER NOT NULL,
  PRIMARY KEY (task_id, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_plugin ON attempt (plugin, ended_at);
CREATE INDEX attempt_keep ON attempt (keep_until);

CREATE TABLE entry (
  plugin TEXT NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  version INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (plugin, namespace, key)
) STRICT;
CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE lock (
  plugin TEXT NOT NULL,
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (plugin, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX lock_expiry ON lock (expires_at);

-- Versions of entries and fencing tokens: one counter that only grows, so that neither is ever used twice.
CREATE TABLE revision (last INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);
