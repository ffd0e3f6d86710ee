-- name: lock_change
-- Serialises changes of one plugin, also while it has no row yet.
SELECT pg_advisory_xact_lock(hashtext(current_schema() || ':change'), hashtext(%(plugin)s));

-- name: plugin
SELECT id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system
FROM plugin WHERE id = %(plugin)s;

-- name: plugins
SELECT id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system
FROM plugin ORDER BY id;

-- name: jobs
SELECT name, max_attempts, timeout_ms FROM job WHERE plugin = %(plugin)s ORDER BY name;

-- name: schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule WHERE plugin = %(plugin)s ORDER BY position, id;

-- name: lock_schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule WHERE plugin = %(plugin)s ORDER BY position, id FOR UPDATE;

-- name: all_schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule ORDER BY plugin, position, id;

-- name: save_plugin
INSERT INTO plugin (id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system)
VALUES (%(id)s, %(platform)s, %(version)s, %(manifest)s, %(digest)s, %(enabled)s, %(timezone)s, %(installed_at)s,
  %(updated_at)s, %(folder)s, %(internal_system)s)
ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, version = excluded.version, manifest = excluded.manifest,
  digest = excluded.digest, enabled = excluded.enabled, timezone = excluded.timezone, updated_at = excluded.updated_at,
  folder = excluded.folder, internal_system = excluded.internal_system;

-- name: save_jobs
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(jobs)s::json) AS i (name text, max_attempts integer, timeout_ms integer)
), gone AS (
  DELETE FROM job WHERE plugin = %(plugin)s AND name NOT IN (SELECT name FROM input)
)
INSERT INTO job (plugin, name, max_attempts, timeout_ms) SELECT %(plugin)s, name, max_attempts, timeout_ms FROM input
ON CONFLICT (plugin, name) DO UPDATE SET max_attempts = excluded.max_attempts, timeout_ms = excluded.timeout_ms;

-- name: save_schedules
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(schedules)s::json) AS i (
    id text, position integer, pointer text, expression text, timezone text, job text, payload text, next_fire bigint, last_fire bigint,
    last_task text, fires bigint, skipped bigint, caught_up bigint)
), gone AS (
  DELETE FROM schedule WHERE plugin = %(plugin)s AND id NOT IN (SELECT id FROM input)
)
INSERT INTO schedule (
  id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up)
SELECT id, %(plugin)s, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM input
ON CONFLICT (id) DO UPDATE SET position = excluded.position, pointer = excluded.pointer, expression = excluded.expression,
  timezone = excluded.timezone, job = excluded.job, payload = excluded.payload, next_fire = excluded.next_fire,
  last_fire = excluded.last_fire, last_task = excluded.last_task, fires = excluded.fires, skipped = excluded.skipped,
  caught_up = excluded.caught_up;

-- name: open_usage
INSERT INTO usage (plugin, unfinished) SELECT %(plugin)s, count(*) FROM task WHERE plugin = %(plugin)s
ON CONFLICT (plugin) DO NOTHING;

-- name: limit_waiting
-- A task that has had as many attempts as the new limit, or more, gets one last attempt;
-- one that runs has them from its next attempt on.
UPDATE task t SET max_attempts = greatest(i.max_attempts, t.attempt + 1), timeout_ms = i.timeout_ms
FROM json_to_recordset(%(jobs)s::json) AS i (name text, max_attempts integer, timeout_ms integer)
WHERE t.plugin = %(plugin)s AND t.job = i.name;

-- name: lock_removal
SELECT id FROM plugin WHERE id = %(plugin)s FOR UPDATE;

-- name: uninstall
-- What runs and what fires ends now; the rest may be much, and is left to the sweeper.
DELETE FROM schedule WHERE plugin = %(plugin)s;

DELETE FROM task WHERE plugin = %(plugin)s AND state = 'running';

DELETE FROM job WHERE plugin = %(plugin)s;

INSERT INTO removed (plugin) SELECT id FROM plugin WHERE id = %(plugin)s ON CONFLICT DO NOTHING;

DELETE FROM plugin WHERE id = %(plugin)s;

-- name: removed
SELECT plugin FROM removed ORDER BY plugin LIMIT 1;

-- name: was_removed
SELECT plugin FROM removed WHERE plugin = %(plugin)s;

-- name: clear_task
-- In batches, and nothing of a plugin that was installed again.
WITH old AS MATERIALIZED (
  SELECT id FROM task WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM task x USING old WHERE x.id = old.id RETURNING 1;

-- name: clear_finished
WITH old AS MATERIALIZED (
  SELECT id FROM finished WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM finished x USING old WHERE x.id = old.id RETURNING 1;

-- name: clear_attempt
WITH old AS MATERIALIZED (
  SELECT task_id, claim FROM attempt WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM attempt x USING old WHERE x.task_id = old.task_id AND x.claim = old.claim RETURNING 1;

-- name: clear_run_key
WITH old AS MATERIALIZED (
  SELECT plugin, job, key FROM run_key WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM run_key x USING old WHERE x.plugin = old.plugin AND x.job = old.job AND x.key = old.key RETURNING 1;

-- name: clear_entry
WITH old AS MATERIALIZED (
  SELECT plugin, namespace, key FROM entry WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM entry x USING old WHERE x.plugin = old.plugin AND x.namespace = old.namespace AND x.key = old.key RETURNING 1;

-- name: clear_lock
WITH old AS MATERIALIZED (
  SELECT plugin, name FROM lock WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s)
  LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM lock x USING old WHERE x.plugin = old.plugin AND x.name = old.name RETURNING 1;

-- name: forget
-- Not while another process is still about it.
DELETE FROM usage WHERE plugin = %(plugin)s AND EXISTS (SELECT 1 FROM removed WHERE plugin = %(plugin)s);

DELETE FROM removed WHERE plugin = %(plugin)s
  AND NOT EXISTS (SELECT 1 FROM task WHERE plugin = %(plugin)s)
  AND NOT EXISTS (SELECT 1 FROM finished WHERE plugin = %(plugin)s)
  AND NOT EXISTS (SELECT 1 FROM attempt WHERE plugin = %(plugin)s)
  AND NOT EXISTS (SELECT 1 FROM run_key WHERE plugin = %(plugin)s)
  AND NOT EXISTS (SELECT 1 FROM entry WHERE plugin = %(plugin)s)
  AND NOT EXISTS (SELECT 1 FROM lock WHERE plugin = %(plugin)s)
RETURNING plugin;

-- name: due_schedules
-- Rows that another process works on, and those of a plugin that is being removed, are left to the next round.
SELECT s.id, s.plugin, s.position, s.pointer, s.expression, s.timezone, s.job, s.payload, s.next_fire, s.last_fire, s.last_task,
  s.fires, s.skipped, s.caught_up, p.platform, EXISTS (SELECT 1 FROM task t WHERE t.id = s.last_task)
FROM schedule s JOIN plugin p ON p.id = s.plugin
WHERE s.next_fire <= %(now)s AND p.enabled AND s.id NOT IN (SELECT json_array_elements_text(%(without)s::json))
ORDER BY s.next_fire, s.id LIMIT %(limit)s
FOR UPDATE OF s SKIP LOCKED FOR KEY SHARE OF p SKIP LOCKED;

-- name: advance_schedules
UPDATE schedule s SET next_fire = i.next_fire, last_fire = coalesce(i.last_fire, s.last_fire),
  last_task = coalesce(i.last_task, s.last_task), fires = s.fires + i.fires, skipped = s.skipped + i.skipped,
  caught_up = s.caught_up + i.caught_up
FROM json_to_recordset(%(fired)s::json) AS i (
  id text, next_fire bigint, last_fire bigint, last_task text, fires bigint, skipped bigint, caught_up bigint)
WHERE s.id = i.id;

-- name: next_fire
SELECT s.next_fire FROM schedule s JOIN plugin p ON p.id = s.plugin
WHERE p.enabled AND s.next_fire IS NOT NULL AND s.id NOT IN (SELECT json_array_elements_text(%(without)s::json))
ORDER BY s.next_fire LIMIT 1;
