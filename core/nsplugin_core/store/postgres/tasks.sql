-- name: enqueue
-- The share lock on the plugin makes its removal wait for tasks that are just being accepted.
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(tasks)s::json) AS i (
    id text, plugin text, job text, payload text, payload_bytes integer, due_at bigint, created_at bigint, source text, key text,
    enqueued_by text, identity text, budget integer, schedule_id text, fire_at bigint)
), known AS MATERIALIZED (
  SELECT id FROM plugin WHERE id IN (SELECT plugin FROM input) ORDER BY id FOR KEY SHARE
)
INSERT INTO task (
  id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim)
SELECT i.id, i.plugin, i.job, 'queued', i.payload, i.payload_bytes, 0, j.max_attempts, j.timeout_ms, i.due_at, greatest(i.due_at, i.created_at), i.created_at, i.source, i.enqueued_by, i.identity, i.budget, i.key, i.schedule_id, i.fire_at, 0
FROM input i JOIN known p ON p.id = i.plugin JOIN job j ON j.plugin = i.plugin AND j.name = i.job
ORDER BY i.plugin, i.job, i.key, i.id
ON CONFLICT DO NOTHING
RETURNING id;

-- name: enqueue_one
INSERT INTO task (
  id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim)
SELECT %(id)s::text, p.id, j.name, 'queued', %(payload)s::text, %(payload_bytes)s::integer, 0, j.max_attempts, j.timeout_ms,
  %(due_at)s::bigint, greatest(%(due_at)s::bigint, %(created_at)s::bigint), %(created_at)s::bigint, %(source)s::text, %(enqueued_by)s::text, %(identity)s::text,
  %(budget)s::integer, %(key)s::text, %(schedule_id)s::text, %(fire_at)s::bigint, 0
FROM (SELECT id FROM plugin WHERE id = %(plugin)s FOR KEY SHARE) p JOIN job j ON j.plugin = p.id AND j.name = %(job)s
ON CONFLICT DO NOTHING
RETURNING id;

-- name: placed
SELECT i.id, p.id IS NOT NULL, j.name IS NOT NULL, coalesce(
  (SELECT task_id FROM run_key k WHERE k.plugin = i.plugin AND k.job = i.job AND k.key = i.key),
  (SELECT t.id FROM task t WHERE t.plugin = i.plugin AND t.job = i.job AND t.key = i.key),
  (SELECT t.id FROM task t WHERE t.schedule_id = i.schedule_id AND t.fire_at = i.fire_at))
FROM json_to_recordset(%(tasks)s::json) AS i (id text, plugin text, job text, key text, schedule_id text, fire_at bigint)
LEFT JOIN plugin p ON p.id = i.plugin LEFT JOIN job j ON j.plugin = i.plugin AND j.name = i.job;

-- name: reserve_keys
INSERT INTO run_key (plugin, job, key, task_id)
SELECT i.plugin, i.job, i.key, i.id
FROM json_to_recordset(%(tasks)s::json) AS i (id text, plugin text, job text, key text)
WHERE i.key IS NOT NULL
ORDER BY i.plugin, i.job, i.key, i.id
ON CONFLICT DO NOTHING
RETURNING task_id;

-- name: take_room
UPDATE usage SET unfinished = unfinished + %(count)s WHERE plugin = %(plugin)s RETURNING unfinished;

-- name: declared
SELECT name FROM job WHERE plugin = %(plugin)s ORDER BY name;

-- name: horizon
SELECT p.id, p.enabled, (
  SELECT t.run_at FROM task t WHERE t.plugin = p.id AND t.state = 'queued' AND t.run_at >= %(since)s ORDER BY t.run_at, t.id LIMIT 1)
FROM plugin p
UNION ALL
(SELECT NULL, false, lease_until FROM task WHERE state = 'running' AND lease_until >= %(since)s ORDER BY lease_until LIMIT 1);

-- name: lost
SELECT t.id, t.claim, t.plugin, p.platform, t.job, t.payload, t.attempt, t.max_attempts, t.timeout_ms, t.source, t.due_at,
  t.created_at, t.enqueued_by, t.identity, t.budget, p.updated_at
FROM task t JOIN plugin p ON p.id = t.plugin
WHERE t.state = 'running' AND t.lease_until <= %(now)s
ORDER BY t.lease_until LIMIT 500
FOR UPDATE OF t SKIP LOCKED;

-- name: claim
-- A materialised CTE: as a sub-select of IN, another plan could run it again and claim more than was asked for.
WITH due AS MATERIALIZED (
  SELECT m.id, p.platform, p.updated_at FROM plugin p CROSS JOIN LATERAL (
    SELECT t.id FROM task t WHERE t.plugin = p.id AND t.state = 'queued' AND t.run_at BETWEEN %(since)s AND %(now)s
    ORDER BY t.run_at, t.id LIMIT %(slots)s FOR UPDATE SKIP LOCKED) m
  WHERE p.enabled AND p.id IN (SELECT json_array_elements_text(%(plugins)s::json))
)
UPDATE task t SET state = 'running', attempt = t.attempt + 1, claim = t.claim + 1, claimer = %(claimer)s, claimed_at = %(now)s,
  lease_until = %(now)s + t.timeout_ms + %(grace)s
FROM due WHERE t.id = due.id
RETURNING t.id, t.claim, t.plugin, due.platform, t.job, t.payload, t.attempt, t.max_attempts, t.timeout_ms, t.source, t.due_at,
  t.created_at, t.enqueued_by, t.identity, t.budget, due.updated_at, t.run_at;

-- name: claim_one
WITH due AS MATERIALIZED (
  SELECT m.id, p.platform, p.updated_at FROM plugin p CROSS JOIN LATERAL (
    SELECT t.id FROM task t WHERE t.plugin = p.id AND t.state = 'queued' AND t.run_at BETWEEN %(since)s AND %(now)s
    ORDER BY t.run_at, t.id LIMIT %(slots)s FOR UPDATE SKIP LOCKED) m
  WHERE p.enabled AND p.id = %(plugin)s
)
UPDATE task t SET state = 'running', attempt = t.attempt + 1, claim = t.claim + 1, claimer = %(claimer)s, claimed_at = %(now)s,
  lease_until = %(now)s + t.timeout_ms + %(grace)s
FROM due WHERE t.id = due.id
RETURNING t.id, t.claim, t.plugin, due.platform, t.job, t.payload, t.attempt, t.max_attempts, t.timeout_ms, t.source, t.due_at,
  t.created_at, t.enqueued_by, t.identity, t.budget, due.updated_at, t.run_at;

-- name: drop
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(endings)s::json) AS i (
    id text, claim bigint, number integer, outcome text, error text, error_code text, ended_at bigint, log_until bigint)
), gone AS (
  DELETE FROM task t USING input i
  WHERE t.id = i.id AND t.claim = i.claim AND t.state = 'running' AND t.lease_until > %(alive)s
  RETURNING t.id, t.claim, t.plugin, t.job, t.claimed_at, i.number, i.outcome, i.error, i.error_code, i.ended_at, i.log_until
), limited AS MATERIALIZED (
  SELECT plugin FROM usage WHERE plugin IN (SELECT plugin FROM gone) ORDER BY plugin FOR UPDATE
), freed AS (
  UPDATE usage u SET unfinished = u.unfinished - done.tasks
  FROM (SELECT g.plugin, count(*) AS tasks FROM gone g JOIN limited USING (plugin) GROUP BY g.plugin) done
  WHERE u.plugin = done.plugin
)
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, number, claimed_at, ended_at, outcome, error, error_code, log_until FROM gone
RETURNING task_id, claim;

-- name: finish
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(endings)s::json) AS i (
    id text, claim bigint, number integer, outcome text, state text, attempt integer, run_at bigint, sets_error boolean, error text,
    error_code text, ended_at bigint, keep_until bigint, log_until bigint)
), gone AS (
  DELETE FROM task t USING input i
  WHERE t.id = i.id AND t.claim = i.claim AND t.state = 'running' AND t.lease_until > %(alive)s
  RETURNING t.*, i.number, i.outcome, i.state AS final, i.attempt AS counted, i.sets_error, i.error, i.error_code, i.ended_at,
    i.keep_until, i.log_until
), kept AS (
  INSERT INTO finished
  SELECT id, plugin, job, final, payload, payload_bytes, counted, max_attempts, timeout_ms, due_at, run_at, created_at, source,
    enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until,
    CASE WHEN sets_error THEN error ELSE last_error END, CASE WHEN sets_error THEN error_code ELSE last_error_code END,
    ended_at, keep_until
  FROM gone
), before AS (
  UPDATE attempt a SET keep_until = gone.keep_until
  FROM gone WHERE gone.claim > 1 AND a.task_id = gone.id AND a.keep_until < gone.keep_until
), limited AS MATERIALIZED (
  SELECT plugin FROM usage WHERE plugin IN (SELECT plugin FROM gone) ORDER BY plugin FOR UPDATE
), freed AS (
  UPDATE usage u SET unfinished = u.unfinished - done.tasks
  FROM (SELECT g.plugin, count(*) AS tasks FROM gone g JOIN limited USING (plugin) GROUP BY g.plugin) done
  WHERE u.plugin = done.plugin
)
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, number, claimed_at, ended_at, outcome, error, error_code, greatest(log_until, keep_until) FROM gone
RETURNING task_id, claim;

-- name: requeue
WITH input AS MATERIALIZED (
  SELECT * FROM json_to_recordset(%(endings)s::json) AS i (
    id text, claim bigint, number integer, outcome text, attempt integer, run_at bigint, sets_error boolean, error text,
    error_code text, ended_at bigint, log_until bigint)
), back AS (
  UPDATE task t SET state = 'queued', attempt = i.attempt, run_at = i.run_at,
    last_error = CASE WHEN i.sets_error THEN i.error ELSE t.last_error END,
    last_error_code = CASE WHEN i.sets_error THEN i.error_code ELSE t.last_error_code END
  FROM input i
  WHERE t.id = i.id AND t.claim = i.claim AND t.state = 'running' AND t.lease_until > %(alive)s
  RETURNING t.id, t.claim, t.plugin, t.job, t.claimed_at, i.number, i.ended_at, i.outcome, i.error, i.error_code, i.log_until
)
INSERT INTO attempt (task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code, keep_until)
SELECT id, claim, plugin, job, number, claimed_at, ended_at, outcome, error, error_code, log_until FROM back
RETURNING task_id, claim;

-- name: task
SELECT id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL::bigint, NULL::bigint
FROM task WHERE id = %(id)s AND plugin IN (SELECT id FROM plugin)
UNION ALL
SELECT id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished WHERE id = %(id)s AND plugin IN (SELECT id FROM plugin);

-- name: page_unfinished
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL::bigint, NULL::bigint
FROM task
WHERE plugin = %(plugin)s AND state = %(state)s AND (run_at, id) > (%(after)s, %(after_id)s)
ORDER BY run_at, id LIMIT %(limit)s;

-- name: page_unfinished_job
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  NULL::bigint, NULL::bigint
FROM task
WHERE plugin = %(plugin)s AND state = %(state)s AND (run_at, id) > (%(after)s, %(after_id)s)
  AND job = %(job)s
ORDER BY run_at, id LIMIT %(limit)s;

-- name: page_finished
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished
WHERE plugin = %(plugin)s AND state = %(state)s AND (finished_at, id) < (%(after)s, %(after_id)s)
ORDER BY finished_at DESC, id DESC LIMIT %(limit)s;

-- name: page_finished_job
SELECT id, plugin, job, state, NULL, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
  enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code,
  finished_at, keep_until
FROM finished
WHERE plugin = %(plugin)s AND state = %(state)s AND (finished_at, id) < (%(after)s, %(after_id)s)
  AND job = %(job)s
ORDER BY finished_at DESC, id DESC LIMIT %(limit)s;

-- name: attempts
SELECT task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code
FROM attempt WHERE task_id = %(id)s ORDER BY claim;

-- name: recent
SELECT task_id, claim, plugin, job, number, started_at, ended_at, outcome, error, error_code
FROM attempt WHERE plugin = %(plugin)s ORDER BY ended_at DESC, task_id DESC, claim DESC LIMIT %(limit)s;

-- name: lock_plugin
SELECT id FROM plugin WHERE id = %(plugin)s FOR KEY SHARE;

-- name: lock_dead
SELECT id FROM finished
WHERE plugin = %(plugin)s AND state = 'dead' AND id IN (SELECT json_array_elements_text(%(ids)s::json))
ORDER BY key, id FOR UPDATE;

-- name: revive
WITH back AS (
  INSERT INTO task (
    id, plugin, job, state, payload, payload_bytes, attempt, max_attempts, timeout_ms, due_at, run_at, created_at, source,
    enqueued_by, identity, budget, key, schedule_id, fire_at, claim, claimer, claimed_at, lease_until, last_error, last_error_code)
  SELECT f.id, f.plugin, f.job, 'queued', f.payload, f.payload_bytes, 0,
    coalesce(j.max_attempts, f.max_attempts), coalesce(j.timeout_ms, f.timeout_ms), f.due_at, %(now)s, f.created_at, f.source,
    f.enqueued_by, f.identity, f.budget, f.key, f.schedule_id, f.fire_at, f.claim, f.claimer, f.claimed_at, f.lease_until,
    f.last_error, f.last_error_code
  FROM finished f LEFT JOIN job j ON j.plugin = f.plugin AND j.name = f.job
  WHERE f.plugin = %(plugin)s AND f.state = 'dead' AND f.id IN (SELECT json_array_elements_text(%(ids)s::json))
  ORDER BY f.key, f.id
  ON CONFLICT DO NOTHING
  RETURNING id, plugin
), counted AS (
  UPDATE usage u SET unfinished = u.unfinished + more.tasks
  FROM (SELECT plugin, count(*) AS tasks FROM back GROUP BY plugin) more WHERE u.plugin = more.plugin
)
SELECT id FROM back;

-- name: drop_dead
WITH dropped AS (
  DELETE FROM finished
  WHERE plugin = %(plugin)s AND state = 'dead' AND id IN (SELECT json_array_elements_text(%(ids)s::json)) RETURNING id
), keys AS (
  DELETE FROM run_key WHERE task_id IN (SELECT id FROM dropped) AND task_id NOT IN (SELECT json_array_elements_text(%(revived)s::json))
), tries AS (
  DELETE FROM attempt WHERE task_id IN (SELECT id FROM dropped) AND task_id NOT IN (SELECT json_array_elements_text(%(revived)s::json))
)
SELECT id FROM dropped;

-- name: depths
SELECT plugin, job, state, count(*) FROM task WHERE plugin IN (SELECT id FROM plugin) GROUP BY plugin, job, state
UNION ALL SELECT plugin, job, state, count(*) FROM finished WHERE plugin IN (SELECT id FROM plugin) GROUP BY plugin, job, state
ORDER BY 1, 2, 3;

-- name: depths_of
SELECT plugin, job, state, count(*) FROM task WHERE plugin = %(plugin)s GROUP BY plugin, job, state
UNION ALL SELECT plugin, job, state, count(*) FROM finished WHERE plugin = %(plugin)s GROUP BY plugin, job, state
ORDER BY 1, 2, 3;

-- name: sweep_finished
WITH old AS MATERIALIZED (
  SELECT id FROM finished WHERE keep_until <= %(now)s ORDER BY keep_until LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), keys AS (DELETE FROM run_key WHERE task_id IN (SELECT id FROM old))
DELETE FROM finished USING old WHERE finished.id = old.id RETURNING 1;

-- name: sweep_attempts
WITH old AS MATERIALIZED (
  SELECT task_id, claim FROM attempt WHERE keep_until <= %(now)s ORDER BY keep_until LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM attempt a USING old WHERE a.task_id = old.task_id AND a.claim = old.claim RETURNING 1;

-- name: sweep_entries
WITH old AS MATERIALIZED (
  SELECT plugin, namespace, key FROM entry WHERE expires_at <= %(now)s ORDER BY expires_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM entry e USING old WHERE e.plugin = old.plugin AND e.namespace = old.namespace AND e.key = old.key RETURNING 1;

-- name: sweep_locks
WITH old AS MATERIALIZED (
  SELECT plugin, name FROM lock WHERE expires_at <= %(now)s ORDER BY expires_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
DELETE FROM lock l USING old WHERE l.plugin = old.plugin AND l.name = old.name RETURNING 1;
