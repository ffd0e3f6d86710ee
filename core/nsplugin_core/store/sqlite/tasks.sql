-- name: enqueue
INSERT INTO task (
  id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim)
SELECT i.value ->> 'id', p.id, j.name, 'queued', i.value ->> 'payload',
  i.value ->> 'payload_bytes', 0, j.max_attempts, j.timeout_ms, i.value ->> 'due_at',
  max(i.value ->> 'due_at', i.value ->> 'created_at'), i.value ->> 'created_at',
  i.value ->> 'source', i.value ->> 'enqueued_by', i.value ->> 'identity', i.value ->> 'budget', i.value ->> 'key',
  i.value ->> 'schedule_id', i.value ->> 'fire_at', 0
FROM json_each(:tasks) i JOIN plugin p ON p.id = i.value ->> 'plugin' JOIN job j ON j.plugin = p.id AND j.name = i.value ->> 'job'
WHERE true
ON CONFLICT DO NOTHING
RETURNING id;

-- name: enqueue_one
INSERT INTO task (
  id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim)
SELECT :id, plugin, name, 'queued', :payload, :payload_bytes, 0, max_attempts, timeout_ms, :due_at, max(:due_at, :created_at), :created_at, :source,
  :enqueued_by, :identity, :budget, :key, :schedule_id, :fire_at, 0
FROM job WHERE plugin = :plugin AND name = :job
ON CONFLICT DO NOTHING;

SELECT :id WHERE changes() > 0;

-- name: placed
SELECT i.value ->> 'id', p.id IS NOT NULL, j.name IS NOT NULL, coalesce(
  (SELECT task_id FROM run_key k WHERE k.plugin = i.value ->> 'plugin' AND k.job = i.value ->> 'job' AND k.key = i.value ->> 'key'),
  (SELECT t.id FROM task t WHERE t.plugin = i.value ->> 'plugin' AND t.job = i.value ->> 'job' AND t.key = i.value ->> 'key'),
  (SELECT t.id FROM task t WHERE t.schedule_id = i.value ->> 'schedule_id' AND t.fire_at = i.value ->> 'fire_at'))
FROM json_each(:tasks) i LEFT JOIN plugin p ON p.id = i.value ->> 'plugin'
LEFT JOIN job j ON j.plugin = i.value ->> 'plugin' AND j.name = i.value ->> 'job';

-- name: reserve_keys
INSERT INTO run_key (plugin, job, key, task_id)
SELECT value ->> 'plugin', value ->> 'job', value ->> 'key', value ->> 'id' FROM json_each(:tasks) WHERE value ->> 'key' IS NOT NULL
ON CONFLICT DO NOTHING
RETURNING task_id;

-- name: take_room
UPDATE usage SET unfinished = unfinished + :count WHERE plugin = :plugin RETURNING unfinished;

-- name: declared
SELECT name FROM job WHERE plugin = :plugin ORDER BY name;

-- name: horizon
SELECT p.id, p.enabled, (
  SELECT t.run_at FROM task t WHERE t.plugin = p.id AND t.state = 'queued' AND t.run_at >= :since ORDER BY t.run_at, t.id LIMIT 1)
FROM plugin p
UNION ALL
SELECT * FROM (SELECT NULL, false, lease_until FROM task WHERE state = 'running' AND lease_until >= :since ORDER BY lease_until LIMIT 1);

-- name: lost
SELECT t.id, t.claim, t.plugin, p.platform, t.job, t.payload, t.attempt, t.max_attempts, t.timeout_ms, t.source, t.due_at,
  t.created_at, t.enqueued_by, t.identity, t.budget, p.updated_at
FROM task t JOIN plugin p ON p.id = t.plugin
WHERE t.state = 'running' AND t.lease_until <= :now
ORDER BY t.lease_until LIMIT 500;

-- name: claim
UPDATE task SET state = 'running', attempt = attempt + 1, claim = claim + 1, claimer = :claimer, claimed_at = :now,
  lease_until = :now + timeout_ms + :grace
WHERE rowid IN (
  SELECT t.rowid FROM json_each(:plugins) w JOIN plugin p ON p.id = w.value AND p.enabled
  JOIN task t ON t.rowid IN (
    SELECT rowid FROM task WHERE plugin = w.value AND state = 'queued' AND run_at BETWEEN :since AND :now ORDER BY run_at, id LIMIT :slots))
RETURNING id, claim, plugin, (SELECT platform FROM plugin p WHERE p.id = task.plugin), job, payload, attempt, max_attempts, timeout_ms,
  source, due_at, created_at, enqueued_by, identity, budget, (SELECT updated_at FROM plugin p WHERE p.id = task.plugin), run_at;

-- name: claim_one
-- Looked up first and as they become: RETURNING costs as much as the update itself.
SELECT t.id, t.claim + 1, t.plugin, p.platform, t.job, t.payload, t.attempt + 1, t.max_attempts, t.timeout_ms, t.source, t.due_at,
  t.created_at, t.enqueued_by, t.identity, t.budget, p.updated_at, t.run_at
FROM plugin p CROSS JOIN task t ON t.plugin = p.id
WHERE p.id = :plugin AND p.enabled AND t.state = 'queued' AND t.run_at BETWEEN :since AND :now ORDER BY t.run_at, t.id LIMIT :slots;

UPDATE task SET state = 'running', attempt = attempt + 1, claim = claim + 1, claimer = :claimer, claimed_at = :now,
  lease_until = :now + timeout_ms + :grace
WHERE rowid IN (
  SELECT rowid FROM task WHERE plugin = :plugin AND state = 'queued' AND run_at BETWEEN :since AND :now ORDER BY run_at, id LIMIT :slots)
  AND EXISTS (SELECT 1 FROM plugin WHERE id = :plugin AND enabled);

-- name: drop
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT t.id, t.claim, t.plugin, t.job, i.value ->> 'number', t.claimed_at, i.value ->> 'ended_at', i.value ->> 'outcome',
  i.value ->> 'error', i.value ->> 'error_code', i.value ->> 'log_until'
FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive
RETURNING task_id, claim;

UPDATE usage SET unfinished = unfinished - (
  SELECT count(*) FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
  WHERE t.plugin = usage.plugin AND t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive)
WHERE plugin IN (SELECT value ->> 'plugin' FROM json_each(:endings));

DELETE FROM task WHERE rowid IN (
  SELECT t.rowid FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
  WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive);

-- name: drop_one
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, :number, claimed_at, :ended_at, :outcome, :error, :error_code, :log_until
FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

DELETE FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

UPDATE usage SET unfinished = unfinished - changes() WHERE plugin = :plugin;

-- name: finish
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT t.id, t.claim, t.plugin, t.job, i.value ->> 'number', t.claimed_at, i.value ->> 'ended_at', i.value ->> 'outcome',
  i.value ->> 'error', i.value ->> 'error_code', max(i.value ->> 'log_until', i.value ->> 'keep_until')
FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive
RETURNING task_id, claim;

INSERT INTO finished
SELECT t.id, t.plugin, t.job, i.value ->> 'state', t.payload, t.payload_bytes, i.value ->> 'attempt', t.max_attempts, t.timeout_ms,
  t.due_at, t.run_at, t.created_at, t.source, t.enqueued_by, t.identity, t.budget, t.key, t.schedule_id, t.fire_at, t.claim,
  t.claimer, t.claimed_at, t.lease_until, CASE WHEN i.value ->> 'sets_error' THEN i.value ->> 'error' ELSE t.last_error END,
  CASE WHEN i.value ->> 'sets_error' THEN i.value ->> 'error_code' ELSE t.last_error_code END,
  i.value ->> 'ended_at', i.value ->> 'keep_until'
FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive;

UPDATE attempt SET keep_until = max(attempt.keep_until, i.value ->> 'keep_until')
FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
WHERE attempt.task_id = t.id AND t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive AND t.claim > 1;

UPDATE usage SET unfinished = unfinished - (
  SELECT count(*) FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
  WHERE t.plugin = usage.plugin AND t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive)
WHERE plugin IN (SELECT value ->> 'plugin' FROM json_each(:endings));

DELETE FROM task WHERE rowid IN (
  SELECT t.rowid FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
  WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive);

-- name: finish_one
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, :number, claimed_at, :ended_at, :outcome, :error, :error_code, max(:log_until, :keep_until)
FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

INSERT INTO finished
SELECT id, plugin, job, :state, payload, payload_bytes, :attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until,
  CASE WHEN :sets_error THEN :error ELSE last_error END, CASE WHEN :sets_error THEN :error_code ELSE last_error_code END,
  :ended_at, :keep_until
FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

UPDATE attempt SET keep_until = max(keep_until, :keep_until)
WHERE :claim > 1 AND task_id = (SELECT id FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive);

DELETE FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

UPDATE usage SET unfinished = unfinished - changes() WHERE plugin = :plugin;

-- name: requeue
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT t.id, t.claim, t.plugin, t.job, i.value ->> 'number', t.claimed_at, i.value ->> 'ended_at', i.value ->> 'outcome',
  i.value ->> 'error', i.value ->> 'error_code', i.value ->> 'log_until'
FROM json_each(:endings) i JOIN task t ON t.id = i.value ->> 'id'
WHERE t.claim = i.value ->> 'claim' AND t.state = 'running' AND t.lease_until > :alive
RETURNING task_id, claim;

UPDATE task SET state = 'queued', attempt = i.value ->> 'attempt',
  run_at = i.value ->> 'run_at',
  last_error = CASE WHEN i.value ->> 'sets_error' THEN i.value ->> 'error' ELSE last_error END,
  last_error_code = CASE WHEN i.value ->> 'sets_error' THEN i.value ->> 'error_code' ELSE last_error_code END
FROM json_each(:endings) i
WHERE task.id = i.value ->> 'id' AND task.claim = i.value ->> 'claim' AND task.state = 'running' AND task.lease_until > :alive;

-- name: requeue_one
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, :number, claimed_at, :ended_at, :outcome, :error, :error_code, :log_until
FROM task WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

UPDATE task SET state = 'queued', attempt = :attempt, run_at = :run_at,
  last_error = CASE WHEN :sets_error THEN :error ELSE last_error END,
  last_error_code = CASE WHEN :sets_error THEN :error_code ELSE last_error_code END
WHERE id = :id AND claim = :claim AND state = 'running' AND lease_until > :alive;

-- name: task
SELECT id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL, NULL
FROM task WHERE id = :id AND plugin IN (SELECT id FROM plugin)
UNION ALL
SELECT id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished WHERE id = :id AND plugin IN (SELECT id FROM plugin);

-- name: page_unfinished
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL, NULL
FROM task
WHERE plugin = :plugin AND state = :state AND (run_at, id) > (:after, :after_id)
ORDER BY run_at, id LIMIT :limit;

-- name: page_unfinished_job
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL, NULL
FROM task
WHERE plugin = :plugin AND state = :state AND (run_at, id) > (:after, :after_id) AND job = :job
ORDER BY run_at, id LIMIT :limit;

-- name: page_finished
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished
WHERE plugin = :plugin AND state = :state AND (finished_at, id) < (:after, :after_id)
ORDER BY finished_at DESC, id DESC LIMIT :limit;

-- name: page_finished_job
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished
WHERE plugin = :plugin AND state = :state AND (finished_at, id) < (:after, :after_id) AND job = :job
ORDER BY finished_at DESC, id DESC LIMIT :limit;

-- name: attempts
SELECT task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code
FROM attempt WHERE task_id = :id ORDER BY claim;

-- name: recent
SELECT task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code
FROM attempt WHERE plugin = :plugin ORDER BY ended_at DESC, task_id DESC, claim DESC LIMIT :limit;

-- name: lock_plugin
-- The write lock of the transaction is enough.
SELECT id FROM plugin WHERE id = :plugin;

-- name: lock_dead
SELECT id FROM finished WHERE plugin = :plugin AND state = 'dead' AND id IN (SELECT value FROM json_each(:ids)) ORDER BY key, id;

-- name: revive
INSERT INTO task (
  id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code)
SELECT f.id, f.plugin, f.job, 'queued', f.payload, f.payload_bytes, 0,
  coalesce(j.max_attempts, f.max_attempts), coalesce(j.timeout_ms, f.timeout_ms), f.due_at, :now, f.created_at, f.source,
  f.enqueued_by, f.identity, f.budget, f.key, f.schedule_id, f.fire_at, f.claim, f.claimer, f.claimed_at, f.lease_until,
  f.last_error, f.last_error_code
FROM finished f LEFT JOIN job j ON j.plugin = f.plugin AND j.name = f.job
WHERE f.plugin = :plugin AND f.state = 'dead' AND f.id IN (SELECT value FROM json_each(:ids))
ORDER BY f.key, f.id
ON CONFLICT DO NOTHING
RETURNING id;

UPDATE usage SET unfinished = unfinished + changes() WHERE plugin = :plugin;

-- name: drop_dead
DELETE FROM run_key WHERE task_id IN (
  SELECT id FROM finished WHERE plugin = :plugin AND state = 'dead' AND id IN (SELECT value FROM json_each(:ids))
    AND id NOT IN (SELECT value FROM json_each(:revived)));

DELETE FROM attempt WHERE task_id IN (
  SELECT id FROM finished WHERE plugin = :plugin AND state = 'dead' AND id IN (SELECT value FROM json_each(:ids))
    AND id NOT IN (SELECT value FROM json_each(:revived)));

DELETE FROM finished WHERE plugin = :plugin AND state = 'dead' AND id IN (SELECT value FROM json_each(:ids)) RETURNING id;

-- name: depths
SELECT plugin, job, state, count(*) FROM task WHERE plugin IN (SELECT id FROM plugin) GROUP BY plugin, job, state
UNION ALL SELECT plugin, job, state, count(*) FROM finished WHERE plugin IN (SELECT id FROM plugin) GROUP BY plugin, job, state
ORDER BY 1, 2, 3;

-- name: depths_of
SELECT plugin, job, state, count(*) FROM task WHERE plugin = :plugin GROUP BY plugin, job, state
UNION ALL SELECT plugin, job, state, count(*) FROM finished WHERE plugin = :plugin GROUP BY plugin, job, state
ORDER BY 1, 2, 3;

-- name: sweep_finished
DELETE FROM run_key WHERE task_id IN (SELECT id FROM finished WHERE keep_until <= :now ORDER BY keep_until, id LIMIT :limit);

DELETE FROM finished WHERE rowid IN (SELECT rowid FROM finished WHERE keep_until <= :now ORDER BY keep_until, id LIMIT :limit)
RETURNING 1;

-- name: sweep_attempts
DELETE FROM attempt WHERE (task_id, claim) IN (
  SELECT task_id, claim FROM attempt WHERE keep_until <= :now ORDER BY keep_until LIMIT :limit)
RETURNING 1;

-- name: sweep_entries
DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) RETURNING 1;

-- name: sweep_locks
DELETE FROM lock WHERE (plugin, name) IN (SELECT plugin, name FROM lock WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)
RETURNING 1;
