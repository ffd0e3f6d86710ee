-- name: lock_change
-- The write lock of the transaction is enough.

-- name: plugin
SELECT id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system
FROM plugin WHERE id = :plugin;

-- name: plugins
SELECT id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system
FROM plugin ORDER BY id;

-- name: jobs
SELECT name, max_attempts, timeout_ms FROM job WHERE plugin = :plugin ORDER BY name;

-- name: schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule WHERE plugin = :plugin ORDER BY position, id;

-- name: lock_schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule WHERE plugin = :plugin ORDER BY position, id;

-- name: all_schedules
SELECT id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up
FROM schedule ORDER BY plugin, position, id;

-- name: save_plugin
INSERT INTO plugin (id, platform, version, manifest, digest, enabled, timezone, installed_at, updated_at, folder, internal_system)
VALUES (:id, :platform, :version, :manifest, :digest, :enabled, :timezone, :installed_at,
  :updated_at, :folder, :internal_system)
ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, version = excluded.version, manifest = excluded.manifest,
  digest = excluded.digest, enabled = excluded.enabled, timezone = excluded.timezone, updated_at = excluded.updated_at,
  folder = excluded.folder, internal_system = excluded.internal_system;

-- name: save_jobs
DELETE FROM job WHERE plugin = :plugin AND name NOT IN (SELECT value ->> 'name' FROM json_each(:jobs));

INSERT INTO job (plugin, name, max_attempts, timeout_ms)
SELECT :plugin, value ->> 'name', value ->> 'max_attempts', value ->> 'timeout_ms' FROM json_each(:jobs) WHERE true
ON CONFLICT (plugin, name) DO UPDATE SET max_attempts = excluded.max_attempts, timeout_ms = excluded.timeout_ms;

-- name: save_schedules
DELETE FROM schedule WHERE plugin = :plugin AND id NOT IN (SELECT value ->> 'id' FROM json_each(:schedules));

INSERT INTO schedule (
  id, plugin, position, pointer, expression, timezone, job, payload, next_fire, last_fire, last_task, fires, skipped, caught_up)
SELECT value ->> 'id', :plugin, value ->> 'position', value ->> 'pointer', value ->> 'expression', value ->> 'timezone',
  value ->> 'job', value ->> 'payload', value ->> 'next_fire', value ->> 'last_fire', value ->> 'last_task', value ->> 'fires',
  value ->> 'skipped', value ->> 'caught_up'
FROM json_each(:schedules) WHERE true
ON CONFLICT (id) DO UPDATE SET position = excluded.position, pointer = excluded.pointer, expression = excluded.expression,
  timezone = excluded.timezone, job = excluded.job, payload = excluded.payload, next_fire = excluded.next_fire,
  last_fire = excluded.last_fire, last_task = excluded.last_task, fires = excluded.fires, skipped = excluded.skipped,
  caught_up = excluded.caught_up;

-- name: open_usage
INSERT INTO usage (plugin, unfinished) SELECT :plugin, count(*) FROM task WHERE plugin = :plugin
ON CONFLICT (plugin) DO NOTHING;

-- name: limit_waiting
-- A task that has had as many attempts as the new limit, or more, gets one last attempt;
-- one that runs has them from its next attempt on.
UPDATE task SET max_attempts = max(i.value ->> 'max_attempts', attempt + 1), timeout_ms = i.value ->> 'timeout_ms'
FROM json_each(:jobs) i
WHERE task.plugin = :plugin AND task.job = i.value ->> 'name';

-- name: lock_removal
-- The write lock of the transaction is enough.

-- name: uninstall
-- What runs and what fires ends now; the rest may be much, and is left to the sweeper.
DELETE FROM schedule WHERE plugin = :plugin;

DELETE FROM task WHERE plugin = :plugin AND state = 'running';

DELETE FROM job WHERE plugin = :plugin;

INSERT INTO removed (plugin) SELECT id FROM plugin WHERE id = :plugin ON CONFLICT DO NOTHING;

DELETE FROM plugin WHERE id = :plugin;

-- name: removed
SELECT plugin FROM removed ORDER BY plugin LIMIT 1;

-- name: was_removed
SELECT plugin FROM removed WHERE plugin = :plugin;

-- name: clear_task
-- In batches, and nothing of a plugin that was installed again.
DELETE FROM task WHERE rowid IN (
  SELECT rowid FROM task WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: clear_finished
DELETE FROM finished WHERE rowid IN (
  SELECT rowid FROM finished WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: clear_attempt
DELETE FROM attempt WHERE (task_id, claim) IN (
  SELECT task_id, claim FROM attempt WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: clear_run_key
DELETE FROM run_key WHERE (plugin, job, key) IN (
  SELECT plugin, job, key FROM run_key WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: clear_entry
DELETE FROM entry WHERE rowid IN (
  SELECT rowid FROM entry WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: clear_lock
DELETE FROM lock WHERE (plugin, name) IN (
  SELECT plugin, name FROM lock WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin)
  LIMIT :limit) RETURNING 1;

-- name: forget
-- Not while another process is still about it.
DELETE FROM usage WHERE plugin = :plugin AND EXISTS (SELECT 1 FROM removed WHERE plugin = :plugin);

DELETE FROM removed WHERE plugin = :plugin
  AND NOT EXISTS (SELECT 1 FROM task WHERE plugin = :plugin)
  AND NOT EXISTS (SELECT 1 FROM finished WHERE plugin = :plugin)
  AND NOT EXISTS (SELECT 1 FROM attempt WHERE plugin = :plugin)
  AND NOT EXISTS (SELECT 1 FROM run_key WHERE plugin = :plugin)
  AND NOT EXISTS (SELECT 1 FROM entry WHERE plugin = :plugin)
  AND NOT EXISTS (SELECT 1 FROM lock WHERE plugin = :plugin)
RETURNING plugin;

-- name: due_schedules
SELECT s.id, s.plugin, s.position, s.pointer, s.expression, s.timezone, s.job, s.payload, s.next_fire, s.last_fire, s.last_task,
  s.fires, s.skipped, s.caught_up, p.platform, EXISTS (SELECT 1 FROM task t WHERE t.id = s.last_task)
FROM schedule s JOIN plugin p ON p.id = s.plugin
WHERE s.next_fire <= :now AND p.enabled AND s.id NOT IN (SELECT value FROM json_each(:without))
ORDER BY s.next_fire, s.id LIMIT :limit;

-- name: advance_schedules
UPDATE schedule SET next_fire = i.value ->> 'next_fire', last_fire = coalesce(i.value ->> 'last_fire', last_fire),
  last_task = coalesce(i.value ->> 'last_task', last_task), fires = fires + (i.value ->> 'fires'),
  skipped = skipped + (i.value ->> 'skipped'), caught_up = caught_up + (i.value ->> 'caught_up')
FROM json_each(:fired) i WHERE schedule.id = i.value ->> 'id';

-- name: advance_schedules_one
UPDATE schedule SET next_fire = :next_fire, last_fire = coalesce(:last_fire, last_fire), last_task = coalesce(:last_task, last_task),
  fires = fires + :fires, skipped = skipped + :skipped, caught_up = caught_up + :caught_up
WHERE id = :id;

-- name: next_fire
SELECT s.next_fire FROM schedule s JOIN plugin p ON p.id = s.plugin
WHERE p.enabled AND s.next_fire IS NOT NULL AND s.id NOT IN (SELECT value FROM json_each(:without))
ORDER BY s.next_fire LIMIT 1;
