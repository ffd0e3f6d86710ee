CREATE TABLE plugin (
  id text COLLATE "C" PRIMARY KEY,
  platform text NOT NULL,
  version text,
  manifest text NOT NULL,
  digest text NOT NULL,
  enabled boolean NOT NULL,
  timezone text NOT NULL,
  installed_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE job (
  plugin text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  max_attempts integer NOT NULL,
  timeout_ms integer NOT NULL,
  PRIMARY KEY (plugin, name)
);

CREATE TABLE schedule (
  id text COLLATE "C" PRIMARY KEY,
  plugin text COLLATE "C" NOT NULL,
  position integer NOT NULL,
  pointer text NOT NULL,
  expression text NOT NULL,
  timezone text NOT NULL,
  job text COLLATE "C" NOT NULL,
  payload text,
  next_fire bigint,
  last_fire bigint,
  last_task text COLLATE "C",
  fires bigint NOT NULL,
  skipped bigint NOT NULL,
  caught_up bigint NOT NULL
);
CREATE INDEX schedule_plugin ON schedule (plugin, position);
CREATE INDEX schedule_due ON schedule (next_fire) WHERE next_fire IS NOT NULL;

-- Live tasks only: finished ones move to "finished", so that claims stay fast however much was done.
CREATE TABLE task (
  id text COLLATE "C" PRIMARY KEY,
  plugin text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running')),
  payload text,
  payload_bytes integer NOT NULL,
  attempt integer NOT NULL CHECK (attempt >= 0),
  max_attempts integer NOT NULL,
  timeout_ms integer NOT NULL,
  due_at bigint NOT NULL,
  run_at bigint NOT NULL,
  created_at bigint NOT NULL,
  source text NOT NULL,
  enqueued_by text,
  identity text,
  budget integer,
  key text COLLATE "C",
  schedule_id text COLLATE "C",
  fire_at bigint,
  claim bigint NOT NULL,
  claimer text,
  claimed_at bigint,
  lease_until bigint,
  last_error text,
  last_error_code text
) WITH (
  -- Rows come and go all the time: leave room for new versions, and clean up after thousands of rows, not after a share of them.
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
CREATE INDEX task_due ON task (plugin, state, run_at, id);
CREATE INDEX task_lease ON task (lease_until) WHERE state = 'running';
CREATE UNIQUE INDEX task_key ON task (plugin, job, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX task_fire ON task (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;

CREATE TABLE finished (
  id text COLLATE "C" PRIMARY KEY,
  plugin text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('succeeded', 'dead')),
  payload text,
  payload_bytes integer NOT NULL,
  attempt integer NOT NULL,
  max_attempts integer NOT NULL,
  timeout_ms integer NOT NULL,
  due_at bigint NOT NULL,
  run_at bigint NOT NULL,
  created_at bigint NOT NULL,
  source text NOT NULL,
  enqueued_by text,
  identity text,
  budget integer,
  key text COLLATE "C",
  schedule_id text COLLATE "C",
  fire_at bigint,
  claim bigint NOT NULL,
  claimer text,
  claimed_at bigint,
  lease_until bigint,
  last_error text,
  last_error_code text,
  finished_at bigint NOT NULL,
  keep_until bigint NOT NULL
);
CREATE INDEX finished_plugin ON finished (plugin, state, finished_at, id);
CREATE INDEX finished_keep ON finished (keep_until);

-- The keys of stored runs, finished ones too (spec/cogover.md E5).
CREATE TABLE run_key (
  plugin text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL UNIQUE,
  PRIMARY KEY (plugin, job, key)
);

-- A row for each plugin whose unfinished tasks are limited: a count(*) would overshoot under concurrency.
CREATE TABLE usage (
  plugin text COLLATE "C" PRIMARY KEY,
  unfinished bigint NOT NULL
) WITH (fillfactor = 30);

CREATE TABLE attempt (
  task_id text COLLATE "C" NOT NULL,
  claim bigint NOT NULL,
  plugin text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  outcome text NOT NULL,
  error text,
  error_code text,
  keep_until bigint NOT NULL,
  PRIMARY KEY (task_id, claim)
);
CREATE INDEX attempt_plugin ON attempt (plugin, ended_at);
CREATE INDEX attempt_keep ON attempt (keep_until);

CREATE TABLE entry (
  plugin text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  version bigint NOT NULL,
  expires_at bigint,
  PRIMARY KEY (plugin, namespace, key)
);
CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE lock (
  plugin text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  owner text NOT NULL,
  token bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (plugin, name)
);
CREATE INDEX lock_expiry ON lock (expires_at);

-- Versions of entries and fencing tokens: one counter that only grows, so that neither is ever used twice.
CREATE SEQUENCE revision;
